import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { IMAGE_SOURCE_BYTES_MAX } from "../networks/contract/media.ts";
import { programFile } from "../runtime/process.ts";
import { frameHead, FrameReader, type Frame } from "./frames.ts";
import { BEGUN, fileAnswerShape, type FileAnswer, type FileJob } from "./file-job.ts";

/** What a process has used so far. */
export interface ProcessUsage {
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/** Linux counts a process's time in hundredths of a second on every kind of machine (`USER_HZ`). */
const TICK_MS = 10;
/** Behind the name, which is in brackets and may hold anything: user and system time. */
const USER_TIME = 11;
const SYSTEM_TIME = 12;
const RESIDENT = "VmRSS:";

/**
 * Returns the CPU time and resident memory of a process of ours, or undefined when it has ended or the system does not
 * tell: only Linux, where the service runs, keeps them as files.
 */
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

/** What one job may use. */
export interface ReadingLimits {
  /** Of the process's own computing; it never waits for anything but its input. */
  readonly cpuMs: number;
  readonly residentBytes: number;
  /** Longest answer in bytes. */
  readonly answerBytes: number;
}

/**
 * What became of a job. `died`: the process ended by itself, before it had begun where the file can't be why.
 * `unavailable`: it could not be started or asked.
 */
export type Reading =
  | { readonly kind: "answered"; readonly answer: FileAnswer; readonly bytes: Buffer | null }
  | { readonly kind: "stopped"; readonly reason: "memory" | "time" }
  | { readonly kind: "died"; readonly signal: string | null; readonly hasBegun: boolean }
  | { readonly kind: "unavailable" };

/** Of JavaScript objects in the process: the tables of hours of video fit into it. */
const HEAP_MEGABYTES = 192;
/** How often a process at work is looked at: it can fill some 50 MB between two looks. */
const LOOK_MS = 25;
/** Real time beyond what the limit of computing allows: a machine that is busy is no fault of the file. */
const PATIENCE = 6;
const PATIENCE_MS = 10_000;
/** A process that has computed this long, over all its jobs, is not used again. */
const RETIRE_CPU_MS = 30_000;
/** What a process keeps after a large job would count against the next. */
const RETIRE_RESIDENT_BYTES = 160 * 1024 * 1024;
/** By the kernel, for a process whose parent was killed and can't watch it any more. */
const ORPHAN_CPU_SECONDS = 90;
const SHELL = "/bin/sh";
/** Where the machine has no memory left, Linux ends this process and not the service. */
const FIRST_TO_GO = "echo 1000 2>/dev/null >/proc/self/oom_score_adj";
const ANSWER_MAX = { messageMax: 64 * 1024, bytesMax: IMAGE_SOURCE_BYTES_MAX };

function open(): ChildProcess {
  const reader = fileURLToPath(programFile(import.meta.url, "reading-child"));
  const node = [process.execPath, `--max-old-space-size=${HEAP_MEGABYTES}`, reader];
  const limited = `${FIRST_TO_GO}; ulimit -t ${ORPHAN_CPU_SECONDS}; exec "$@"`;
  const [program = "", ...args] = existsSync(SHELL) ? [SHELL, "-c", limited, "sh", ...node] : node;
  // None of the service's settings, its secrets among them, is any use to it.
  const child = spawn(program, args, { env: {}, stdio: ["pipe", "pipe", "ignore"] });
  // Told as an event, too, which ends this process where nobody listens.
  child.on("error", () => undefined);
  if (child.pid === undefined) throw new Error("a reading process could not be started");
  return child;
}

interface Work {
  readonly limits: ReadingLimits;
  readonly startedAt: number;
  /** Computing before the job has begun: to start and to load is no file's doing. */
  usedBefore: number;
  readonly end: (reading: Reading) => void;
  hasBegun: boolean;
}

/**
 * A process that reads files, one at a time: what a file does to whoever reads it, it does there. It is stopped when it
 * uses more than a job may, and ends when its parent does.
 */
export class ReadingProcess {
  readonly #child = open();
  readonly #stdin: Writable;
  readonly #frames = new FrameReader(ANSWER_MAX);
  #work: Work | undefined;
  #stopped: "memory" | "time" | "late" | undefined;
  #isUsable = true;
  #last: ProcessUsage | undefined;

  /** Throws where the machine has no process or file descriptor left. */
  constructor() {
    const { stdin, stdout } = this.#child;
    if (stdin === null || stdout === null) throw new Error("a reading process has no pipes");
    this.#stdin = stdin;
    stdin.on("error", () => undefined);
    stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#child.on("error", () => this.#ended({ kind: "unavailable" }));
    this.#child.on("exit", (_code, signal) => this.#ended(this.#meaningOf(signal)));
    this.#hold(false);
  }

  /** Whether it can take another job. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Works on one file; never rejects. Not to be called while another is worked on. */
  run(job: FileJob, input: readonly Uint8Array[], limits: ReadingLimits): Promise<Reading> {
    return new Promise((resolve) => {
      if (!this.#isUsable) return resolve({ kind: "unavailable" });
      const watch = setInterval(() => this.#look(), LOOK_MS);
      const end = (reading: Reading) => {
        clearInterval(watch);
        this.#work = undefined;
        this.#retireIfSpent();
        this.#hold(false);
        resolve(reading);
      };
      const usedBefore = this.#usage()?.cpuMs ?? 0;
      this.#work = {
        limits,
        startedAt: performance.now(),
        usedBefore,
        end,
        hasBegun: false,
      };
      this.#hold(true);
      const length = input.reduce((sum, bytes) => sum + bytes.length, 0);
      this.#stdin.write(frameHead(job, length));
      for (const bytes of input) this.#stdin.write(bytes);
    });
  }

  /** Ends the process, whatever it does. */
  stop(): void {
    this.#isUsable = false;
    this.#child.kill("SIGKILL");
  }

  /** An idle process keeps nobody's event loop alive. */
  #hold(isBusy: boolean): void {
    const { stdin, stdout } = this.#child;
    // Safe: pipes of a child process are sockets, whose types lack it only here.
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

  #look(): void {
    const work = this.#work;
    if (work === undefined) return;
    const { limits, startedAt, usedBefore, hasBegun } = work;
    const usage = this.#usage();
    const passedMs = performance.now() - startedAt;
    if (usage !== undefined && usage.residentBytes > limits.residentBytes) this.#end("memory");
    else if (hasBegun && usage !== undefined && usage.cpuMs - usedBefore > limits.cpuMs)
      this.#end("time");
    else if (passedMs > limits.cpuMs * PATIENCE + PATIENCE_MS)
      // Where its computing is known, what is late has waited for a busy machine: the file may be a good one.
      this.#end(usage === undefined ? "time" : "late");
  }

  #end(reason: "memory" | "time" | "late"): void {
    this.#stopped ??= reason;
    this.stop();
  }

  /** V8 aborts when its heap is full, and the kernel ends what computes beyond its limit. */
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

  /** What comes may be whatever a file has made of the process: what is not an answer to what was asked ends it. */
  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#answered(frame);
    } catch {
      this.stop();
    }
  }

  #answered({ message, bytes }: Frame): void {
    const work = this.#work;
    if (work === undefined) throw new Error("an answer that nobody asked for");
    if (message === BEGUN) {
      work.usedBefore = this.#usage()?.cpuMs ?? work.usedBefore;
      work.hasBegun = true;
      return;
    }
    const answer = fileAnswerShape().parse(message);
    const told = answer.kind === "fitted" ? answer.bytes : null;
    if (bytes.length !== (told ?? 0) || bytes.length > work.limits.answerBytes)
      throw new Error("not the bytes that were told");
    work.end({ kind: "answered", answer, bytes: told === null ? null : bytes });
  }

  #retireIfSpent(): void {
    const usage = this.#isUsable ? this.#usage() : undefined;
    const { cpuMs, residentBytes } = usage ?? this.#last ?? { cpuMs: 0, residentBytes: 0 };
    if (cpuMs > RETIRE_CPU_MS || residentBytes > RETIRE_RESIDENT_BYTES) this.stop();
  }
}
