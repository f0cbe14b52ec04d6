import { setTimeout as wait } from "node:timers/promises";

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 5_000;
/**
 * About five minutes. By then every request that was under way has ended, and every cached row was read again, so
 * nothing is left that the raise would stop.
 */
const TRIES_MAX = 65;

/** Repeats raises of the access version that failed, until each has been made. */
export class OwedRaises {
  readonly #raise: (platformId: string) => Promise<unknown>;
  /** How often a raise was owed to a platform since its repeats began. */
  readonly #owed = new Map<string, number>();

  constructor(raise: (platformId: string) => Promise<unknown>) {
    this.#raise = raise;
  }

  /** Repeats the raise in the background. Repeats that are under way go on until they are newer than this call. */
  owe(platformId: string): void {
    const before = this.#owed.get(platformId);
    this.#owed.set(platformId, (before ?? 0) + 1);
    if (before === undefined) void this.#repeat(platformId);
  }

  async #repeat(platformId: string): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const ms = Math.min(PAUSE_MS_MIN * 2 ** tries, PAUSE_MS_MAX);
      await wait(ms, undefined, { ref: false });
      const owed = this.#owed.get(platformId);
      const isDone = await this.#raise(platformId).then(
        () => true,
        () => false,
      );
      if (isDone && this.#owed.get(platformId) === owed) break;
    }
    this.#owed.delete(platformId);
  }
}
