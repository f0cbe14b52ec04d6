import { Worker } from "node:worker_threads";
import { AppError, serviceUnavailable } from "../../runtime/errors.ts";
import { programFile } from "../../runtime/process.ts";

/** What a hash is for: signing in, which goes first, or anything else. */
export type Urgency = "log_in" | "other";

/** Two threads make six hashes a second. Behind more than these, callers would be gone before their answer. */
const WAITING_MAX: Readonly<Record<Urgency, number>> = { log_in: 256, other: 128 };
/** Log-ins go before the others, which might otherwise wait for ever. */
const WAIT_MS_MAX = 60_000;

interface Waiting<Job> {
  readonly job: Job;
  readonly since: number;
}

/** The jobs that wait for a thread: log-ins first, and otherwise in the order in which they came. */
export class HashingQueue<Job> {
  readonly #waiting: Readonly<Record<Urgency, Waiting<Job>[]>> = { log_in: [], other: [] };

  /** Adds a job. Returns false when too many of its kind wait already. */
  add(job: Job, urgency: Urgency, now: number): boolean {
    const waiting = this.#waiting[urgency];
    if (waiting.length >= WAITING_MAX[urgency]) return false;
    waiting.push({ job, since: now });
    return true;
  }

  take(): Job | undefined {
    return (this.#waiting.log_in.shift() ?? this.#waiting.other.shift())?.job;
  }

  /** Takes the jobs that have waited too long; the oldest are in front. */
  takeOverdue(now: number): Job[] {
    const overdue: Job[] = [];
    for (const waiting of Object.values(this.#waiting)) {
      const kept = waiting.findIndex(({ since }) => now - since < WAIT_MS_MAX);
      const gone = waiting.splice(0, kept === -1 ? waiting.length : kept);
      overdue.push(...gone.map(({ job }) => job));
    }
    return overdue;
  }
}

/** A hash takes a core for a third of a second, so more threads would only compete for the cores. */
const THREADS_MAX = 2;
/** By then, many of those that wait now have been answered. */
const BUSY_RETRY_SECONDS = 10;

export type HashingTask =
  | { readonly kind: "hash"; readonly text: string; readonly cost: number }
  | {
      readonly kind: "compare";
      readonly text: string;
      readonly hash: string;
      /** The costs of hashes to make only for the time that they take. */
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

/** Hashes in threads, to keep the event loop free. They start when first needed and never keep a process alive. */
class HashingThreads implements Hasher {
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Job>();
  readonly #waiting = new HashingQueue<Job>();

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
    // The thread needs neither the secrets of the environment nor the flags of the main thread.
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

  /** Forgets a thread that ended. Its job fails, and the caller may try again; other jobs get a new thread. */
  #drop(thread: Worker, error: unknown): void {
    const job = this.#busy.get(thread);
    this.#busy.delete(thread);
    const index = this.#idle.indexOf(thread);
    if (index >= 0) this.#idle.splice(index, 1);
    job?.reject(serviceUnavailable(error));
    this.#next();
  }
}

/** The threads of the process. There is one set of them, because each takes memory and a core. */
export const hashingThreads: Hasher = new HashingThreads();
