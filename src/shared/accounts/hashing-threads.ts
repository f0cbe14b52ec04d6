import { Worker } from "node:worker_threads";
import { serviceUnavailable } from "../errors.ts";

/** Hashing occupies a core for a third of a second; more threads would only take turns. */
const THREADS_MAX = 2;
/** What waits longer than this many others would get its answer after the caller has gone. */
const WAITING_MAX = 256;

export type HashingTask =
  | { readonly kind: "hash"; readonly text: string; readonly cost: number }
  | { readonly kind: "compare"; readonly text: string; readonly hash: string };

interface Job {
  readonly task: HashingTask;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Beside this file in the sources; in a build, beside the bundle, of which this is in a part, a folder below. */
function threadFile(): URL {
  const { url } = import.meta;
  if (url.endsWith(".ts")) return new URL("./password-worker.ts", url);
  return new URL(
    /\/parts\/[^/]+$/.test(url) ? "../password-worker.js" : "./password-worker.js",
    url,
  );
}

/** Threads that hash, so that the event loop goes on meanwhile. They start when first needed and never keep a process alive. */
class HashingThreads {
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Job>();
  readonly #waiting: Job[] = [];

  run(task: HashingTask): Promise<unknown> {
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(serviceUnavailable());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop() ?? this.#open();
      if (thread === undefined) return;
      const job = this.#waiting.shift();
      if (job === undefined) return;
      this.#busy.set(thread, job);
      thread.ref();
      thread.postMessage(job.task);
    }
  }

  #open(): Worker | undefined {
    if (this.#busy.size >= THREADS_MAX) return undefined;
    // Neither the secrets of the environment nor the flags of the main thread are any use to it.
    const thread = new Worker(threadFile(), { env: {}, execArgv: [] });
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
const threads = new HashingThreads();

/** A bcrypt hash, made outside the event loop. @throws AppError `service_unavailable` when too many wait */
export async function bcryptHash(text: string, cost: number): Promise<string> {
  return String(await threads.run({ kind: "hash", text, cost }));
}

/** Whether the text has the bcrypt hash, found outside the event loop. @throws AppError `service_unavailable` when too many wait */
export async function bcryptMatches(text: string, hash: string): Promise<boolean> {
  return (await threads.run({ kind: "compare", text, hash })) === true;
}
