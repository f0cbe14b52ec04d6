import { Worker } from "node:worker_threads";
import { AppError, serviceUnavailable } from "../../runtime/errors.ts";
import { programFile } from "../../runtime/program-file.ts";
import { HashingLanes, type Urgency } from "./hashing-lanes.ts";

/** Hashing occupies a core for a third of a second; more threads would only take turns. */
const THREADS_MAX = 2;
/** By then a good part of those that wait now are through. */
const BUSY_RETRY_SECONDS = 10;

export type HashingTask =
  | { readonly kind: "hash"; readonly text: string; readonly cost: number }
  | {
      readonly kind: "compare";
      readonly text: string;
      readonly hash: string;
      /** Costs of hashes to make and throw away, for the time that they take. */
      readonly burntCosts: readonly number[];
    };

/** Makes and compares bcrypt hashes. @throws AppError `service_unavailable` when too many wait */
export interface Hasher {
  run(task: HashingTask, urgency: Urgency): Promise<unknown>;
}

function tooBusy(): AppError {
  return new AppError("service_unavailable", "Too many passwords are being checked. Try again.", {
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });
}

interface Job {
  readonly task: HashingTask;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Threads that hash, so that the event loop goes on meanwhile. They start when first needed and never keep a process alive. */
class HashingThreads implements Hasher {
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Job>();
  readonly #waiting = new HashingLanes<Job>();

  run(task: HashingTask, urgency: Urgency): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const added = this.#waiting.add({ task, resolve, reject }, urgency, performance.now());
      if (!added) reject(tooBusy());
      this.#next();
    });
  }

  #next(): void {
    for (const { reject } of this.#waiting.takeOverdue(performance.now())) reject(tooBusy());
    while (this.#busy.size < THREADS_MAX) {
      const job = this.#waiting.take();
      if (job === undefined) return;
      const thread = this.#idle.pop() ?? this.#open();
      this.#busy.set(thread, job);
      thread.ref();
      thread.postMessage(job.task);
    }
  }

  #open(): Worker {
    // Neither the secrets of the environment nor the flags of the main thread are any use to it.
    const thread = new Worker(programFile(import.meta.url, "password-worker"), {
      env: {},
      execArgv: [],
    });
    thread.on("message", (answer: unknown) => {
      const job = this.#busy.get(thread);
      this.#busy.delete(thread);
      this.#idle.push(thread);
      thread.unref();
      job?.resolve(answer);
      this.#next();
    });
    thread.on("error", (error) => this.#drop(thread, error));
    thread.on("exit", (code) => this.#drop(thread, new Error(`a hashing thread ended (${code})`)));
    return thread;
  }

  /** What it was working on is lost, and may be asked for again; others go on with a new thread. */
  #drop(thread: Worker, error: unknown): void {
    const job = this.#busy.get(thread);
    this.#busy.delete(thread);
    const index = this.#idle.indexOf(thread);
    if (index >= 0) this.#idle.splice(index, 1);
    job?.reject(serviceUnavailable(error));
    this.#next();
  }
}

/** One set for the process, however many `Services` it has: each thread costs memory and a core. */
export const hashingThreads: Hasher = new HashingThreads();
