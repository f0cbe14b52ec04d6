import type { Tinypool } from "tinypool";
import { AppError, serviceUnavailable } from "../../runtime/errors.ts";
import { FairLimit } from "../../runtime/fair-limit.ts";
import { programFile } from "../../runtime/process.ts";
import { withTimeLimit } from "../../runtime/promises.ts";

/** What a hash is for. While both kinds wait, each has a thread of its own, so that neither delays the other. */
export type Urgency = "log_in" | "other";

/** A hash takes a core for a third of a second, so more threads would only compete for the cores. */
const THREADS_MAX = 2;
/** Two threads make six hashes a second. With more waiting, callers would give up before their answer. */
const WAITING_MAX = 256;
/** By then, many of those that wait now have been answered. */
const BUSY_RETRY_SECONDS = 10;
/** Time limit of one task, in case a thread doesn't answer. The most expensive task takes a few seconds. */
const TASK_MS_MAX = 60_000;
/** A thread takes some 10 MB, and 50 ms to start. */
const IDLE_MS = 5 * 60_000;

export type HashingTask =
  | { readonly kind: "estimate"; readonly text: string; readonly words: readonly string[] }
  | { readonly kind: "hash"; readonly text: string; readonly cost: number }
  | {
      readonly kind: "compare";
      readonly text: string;
      readonly hash: string;
      /** Costs of hashes that are made only to take time. */
      readonly burntCosts: readonly number[];
    };

/** Makes and compares bcrypt hashes and rates passwords. @throws AppError `service_unavailable` when too many wait */
export interface Hasher {
  run(task: HashingTask, urgency: Urgency): Promise<unknown>;
}

const slots = new FairLimit({
  capacity: THREADS_MAX,
  perOwner: THREADS_MAX,
  waitingMax: 2 * WAITING_MAX,
});

let pool: Promise<Tinypool> | undefined;

async function openPool(): Promise<Tinypool> {
  const { Tinypool } = await import("tinypool");
  const opened = new Tinypool({
    filename: programFile(import.meta.url, "password-worker").href,
    name: "answerTo",
    minThreads: 0,
    maxThreads: THREADS_MAX,
    idleTimeout: IDLE_MS,
    // The threads need neither the secrets of the environment nor the flags of the main thread.
    env: {},
    execArgv: [],
  });
  // A thread could not start, or ended while idle. Tasks that wait for it fail, and the next task opens a new pool.
  opened.on("error", () => {
    pool = undefined;
    void opened.destroy().catch(() => undefined);
  });
  return opened;
}

async function runInThread(task: HashingTask): Promise<unknown> {
  try {
    const threads = await (pool ??= openPool());
    return await withTimeLimit(TASK_MS_MAX, threads.run(task), () => {
      throw new Error("a hashing thread did not answer");
    });
  } catch (error) {
    throw serviceUnavailable(error);
  }
}

/** The threads of the process, which keep its event loop free. Shared, because each takes memory and a core. */
export const hashingThreads: Hasher = {
  async run(task, urgency) {
    const ended = await slots.run(urgency, 1, () => runInThread(task));
    if (ended !== undefined) return ended.result;
    throw new AppError("service_unavailable", "Too many passwords are being checked. Try again.", {
      retryAfterSeconds: BUSY_RETRY_SECONDS,
    });
  },
};
