import type { Tinypool } from "tinypool";
import { serviceUnavailable } from "../../runtime/errors.ts";
import { programFile } from "../../runtime/process.ts";
import type { Weakness } from "./password-strength.ts";

/** As many as there is costly work at a time (`limits/costly-work.ts`). */
const THREADS_MAX = 2;
/** Time limit of one task, after which its thread is ended. The most expensive task takes a second of a core. */
const TASK_MS_MAX = 20_000;
/** A thread takes some 10 MB, and 50 ms to start. */
const IDLE_MS = 5 * 60_000;

/** A password to rate, cut to the characters that count, and words that a guesser would try first. */
interface RatedPassword {
  readonly password: string;
  readonly words: readonly string[];
}

export type HashingTask =
  | {
      readonly kind: "hash";
      readonly text: string;
      readonly cost: number;
      /** Makes no hash of a password that is easy to guess. */
      readonly unlessWeak?: RatedPassword;
    }
  | {
      readonly kind: "compare";
      readonly text: string;
      readonly hash: string;
      /** Costs of hashes that are made only to take time. */
      readonly burntCosts: readonly number[];
    };

export type HashingAnswer =
  { readonly hash: string } | { readonly weakness: Weakness } | { readonly isRight: boolean };

/** Rates passwords, and makes and compares bcrypt hashes. @throws AppError `service_unavailable` when a thread fails */
export interface Hasher {
  run(task: HashingTask): Promise<HashingAnswer>;
}

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

/** The threads of the process, which keep its event loop free. Shared, because each takes memory and a core. */
export const hashingThreads: Hasher = {
  async run(task) {
    try {
      const threads = await (pool ??= openPool());
      // The signal ends the thread, so a task that takes too long doesn't go on without its caller.
      const signal = AbortSignal.timeout(TASK_MS_MAX);
      // Safe: the worker gives this answer to this task.
      return (await threads.run(task, { signal })) as HashingAnswer;
    } catch (error) {
      throw serviceUnavailable(error);
    }
  },
};
