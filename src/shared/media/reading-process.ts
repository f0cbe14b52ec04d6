import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { IMAGE_SOURCE_BYTES_MAX } from "../networks/contract/media.ts";
import { programFile } from "../runtime/process.ts";
import { frameHead, FrameReader, type Frame } from "./frames.ts";
import { BEGUN, fileAnswerShape, type FileAnswer, type FileJob } from "./file-job.ts";

export interface ProcessUsage {
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/** Linux counts CPU time in hundredths of a second on every architecture (`USER_HZ`). */
const TICK_MS = 10;
/** Position of the user time after the name, which is in parentheses and may contain anything. System time is next. */
const USER_TIME = 11;
const SYSTEM_TIME = 12;
const RESIDENT = "VmRSS:";

/** Reads the CPU time and resident memory of a child process. Undefined when it has ended or this isn't Linux. */
export function usageOf(pid: number): ProcessUsage | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const kilobytes = Number.parseInt(status.slice(status.indexOf(RESIDENT) + RESIDENT.length), 10);
    if (Number.isNaN(kilobytes)) return undefined;
    return { cpuMs: ticks * TICK_MS, residentBytes: kilobytes * 1024 };
  } catch {
    return undefined;
  }
}

export interface ReadingLimits {
  /** CPU time of the process. It waits for nothing but its input. */
  readonly cpuMs: number;
  readonly residentBytes: number;
  /** Maximum size of the answer in bytes. */
  readonly answerBytes: number;
}

/**
 * The result of a job. `died`: the process ended by itself. Only if `hasBegun` is set can the file be the cause.
 * `unavailable`: the process could not be started or used.
 */
export type Reading =
  | {
      readonly kind: "answered";
      readonly answer: FileAnswer;
      readonly bytes: Buffer | null;
      /** CPU time of the job. When the system doesn't report it, the elapsed time. */
      readonly usedMs: number;
    }
  | { readonly kind: "stopped"; readonly reason: "memory" | "time" }
  | { readonly kind: "died"; readonly signal: string | null; readonly hasBegun: boolean }
  | { readonly kind: "unavailable" };

/** Size of the JavaScript heap: enough for the tables of hours of video. */
const HEAP_MEGABYTES = 192;
/** The decoder of HEIC returns its memory when it is collected. */
const OPTIONS = [`--max-old-space-size=${HEAP_MEGABYTES}`, "--expose-gc"];
/** How often a busy process is measured. It can fill some 50 MB in between. */
const MEASURE_MS = 25;
/** How much longer than its CPU time a job may take in real time, since the machine may be busy. */
const PATIENCE = 6;
const PATIENCE_MS = 10_000;
/** A process that has used this much CPU time over all its jobs is not used again. */
const RETIRE_CPU_MS = 30_000;
/** A process that still holds this much memory is not used again, because it would count against the next job. */
const RETIRE_RESIDENT_BYTES = 160 * 1024 * 1024;
/** The kernel's limit, for a process whose parent was killed. */
const ORPHAN_CPU_SECONDS = 90;
const SHELL = "/bin/sh";
/** When the machine runs out of memory, Linux kills this process before the service. */
const FIRST_TO_GO = "echo 1000 2>/dev/null >/proc/self/oom_score_adj";
const ANSWER_MAX = { messageMax: 64 * 1024, bytesMax: IMAGE_SOURCE_BYTES_MAX };

function spawnReader(): ChildProcess {
  const reader = fileURLToPath(programFile(import.meta.url, "reading-child"));
  const node = [process.execPath, ...OPTIONS, reader];
  const limited = `${FIRST_TO_GO}; ulimit -t ${ORPHAN_CPU_SECONDS}; exec "$@"`;
  const [program = "", ...args] = existsSync(SHELL) ? [SHELL, "-c", limited, "sh", ...node] : node;
  // The child gets none of the service's settings, which contain secrets.
  const child = spawn(program, args, { env: {}, stdio: ["pipe", "pipe", "ignore"] });
  // Without a listener, the error event would end this process.
  child.on("error", () => undefined);
  if (child.pid === undefined) throw new Error("a reading process could not be started");
  return child;
}

interface ReadingWork {
  readonly limits: ReadingLimits;
  readonly startedAt: number;
  /** CPU time before the job began, which the file did not cause. */
  usedBefore: number;
  readonly end: (reading: Reading) => void;
  hasBegun: boolean;
}

/**
 * A child process that reads files, one at a time, so that a hostile file can't harm anything else. It is stopped when
 * it exceeds a job's limits, and it ends with its parent.
 */
export class ReadingProcess {
  readonly #child = spawnReader();
  readonly #stdin: Writable;
  readonly #frames = new FrameReader(ANSWER_MAX);
  #work: ReadingWork | undefined;
  #stopped: "memory" | "time" | "late" | undefined;
  #isUsable = true;
  #last: ProcessUsage | undefined;

  /** @throws Error when the machine has no process or file descriptor left */
  constructor() {
    const { stdin, stdout } = this.#child;
    if (stdin === null || stdout === null) throw new Error("a reading process has no pipes");
    this.#stdin = stdin;
    stdin.on("error", () => undefined);
    stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#child.on("error", () => this.#ended({ kind: "unavailable" }));
    this.#child.on("exit", (_code, signal) => this.#ended(this.#meaningOf(signal)));
    this.#keepAlive(false);
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Runs a job. It never rejects, and must not be called while another job is running. */
  run(job: FileJob, input: readonly Uint8Array[], limits: ReadingLimits): Promise<Reading> {
    return new Promise((resolve) => {
      if (!this.#isUsable) return resolve({ kind: "unavailable" });
      const watch = setInterval(() => this.#measure(), MEASURE_MS);
      const end = (reading: Reading) => {
        clearInterval(watch);
        this.#work = undefined;
        const usage = this.#isUsable ? this.#usage() : undefined;
        const { cpuMs, residentBytes } = usage ?? this.#last ?? { cpuMs: 0, residentBytes: 0 };
        if (cpuMs > RETIRE_CPU_MS || residentBytes > RETIRE_RESIDENT_BYTES) this.stop();
        this.#keepAlive(false);
        resolve(reading);
      };
      const usedBefore = this.#usage()?.cpuMs ?? 0;
      this.#work = { limits, startedAt: performance.now(), usedBefore, end, hasBegun: false };
      this.#keepAlive(true);
      const length = input.reduce((sum, bytes) => sum + bytes.length, 0);
      this.#stdin.write(frameHead(job, length));
      for (const bytes of input) this.#stdin.write(bytes);
    });
  }

  /** Ends the process, whatever it is doing. */
  stop(): void {
    this.#isUsable = false;
    this.#child.kill("SIGKILL");
  }

  /** Keeps the parent's event loop alive while the process is busy, but not while it is idle. */
  #keepAlive(isBusy: boolean): void {
    const { stdin, stdout } = this.#child;
    // Safe: the pipes of a child process are sockets. Only these types lack it.
    const held = [this.#child, stdin, stdout] as readonly (
      (Pick<ChildProcess, "ref" | "unref"> & (Readable | Writable | object)) | null | undefined
    )[];
    for (const one of held) {
      if (isBusy) one?.ref();
      else one?.unref();
    }
  }

  #usage(): ProcessUsage | undefined {
    const { pid } = this.#child;
    const usage = pid === undefined ? undefined : usageOf(pid);
    if (usage !== undefined) this.#last = usage;
    return usage;
  }

  #measure(): void {
    const work = this.#work;
    if (work === undefined) return;
    const { limits, startedAt, usedBefore, hasBegun } = work;
    const usage = this.#usage();
    const passedMs = performance.now() - startedAt;
    if (usage !== undefined && usage.residentBytes > limits.residentBytes) this.#end("memory");
    else if (hasBegun && usage !== undefined && usage.cpuMs - usedBefore > limits.cpuMs)
      this.#end("time");
    else if (passedMs > limits.cpuMs * PATIENCE + PATIENCE_MS)
      // The CPU time is known to be low, so the machine is busy and the file may be good.
      this.#end(usage === undefined ? "time" : "late");
  }

  #end(reason: "memory" | "time" | "late"): void {
    this.#stopped ??= reason;
    this.stop();
  }

  /** Tells why the process ended. V8 aborts when its heap is full, and the kernel enforces the CPU limit. */
  #meaningOf(signal: NodeJS.Signals | null): Reading {
    const hasBegun = this.#work?.hasBegun ?? false;
    if (this.#stopped === "late") return { kind: "unavailable" };
    if (!hasBegun) return { kind: "died", signal, hasBegun };
    if (this.#stopped !== undefined) return { kind: "stopped", reason: this.#stopped };
    if (signal === "SIGABRT") return { kind: "stopped", reason: "memory" };
    if (signal === "SIGXCPU") return { kind: "stopped", reason: "time" };
    return { kind: "died", signal, hasBegun };
  }

  #ended(reading: Reading): void {
    this.#isUsable = false;
    this.#work?.end(reading);
  }

  /** Reads answers. A file may have taken over the process, so anything but a valid answer ends it. */
  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#answered(frame);
    } catch {
      this.stop();
    }
  }

  #answered({ message, bytes }: Frame): void {
    const work = this.#work;
    if (work === undefined) throw new Error("an answer without a job");
    if (message === BEGUN) {
      work.usedBefore = this.#usage()?.cpuMs ?? work.usedBefore;
      work.hasBegun = true;
      return;
    }
    const answer = fileAnswerShape().parse(message);
    const stated = answer.kind === "fitted" ? answer.bytes : null;
    if (bytes.length !== (stated ?? 0) || bytes.length > work.limits.answerBytes)
      throw new Error("not the stated number of bytes");
    const usedMs = this.#usedBy(work);
    work.end({ kind: "answered", answer, bytes: stated === null ? null : bytes, usedMs });
  }

  #usedBy({ usedBefore, startedAt }: ReadingWork): number {
    const usage = this.#usage();
    return usage === undefined ? performance.now() - startedAt : usage.cpuMs - usedBefore;
  }
}
