import { withTimeLimit } from "../promises.ts";

/** Later calls don't wait for a read that takes longer. */
const STALL_MS = 100;

interface Reading {
  readonly ended: Promise<unknown>;
}

/**
 * Shares reads between calls for the same thing. A call only gets the answer of a read that began after it, so the
 * answer has everything that was written before the call. Calls that arrive during a read share the next one.
 */
export class SharedReads {
  readonly #running = new Map<string, Reading>();
  readonly #next = new Map<string, Promise<unknown>>();

  /** Reads, or shares a read that is under way. Calls with the same key get the same answer, which they must not change. */
  read<T>(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running === undefined) return this.#start(key, read);
    const waiting = this.#next.get(key);
    // Safe: one key means one read, and so one type.
    if (waiting !== undefined) return waiting as Promise<T>;
    const next = endOf(running).then(() => {
      this.#next.delete(key);
      return this.#start(key, read);
    });
    this.#next.set(key, next);
    return next;
  }

  #start<T>(key: string, read: () => Promise<T>): Promise<T> {
    const answer = read();
    const reading: Reading = {
      ended: answer.then(
        () => this.#finish(key, reading),
        () => this.#finish(key, reading),
      ),
    };
    this.#running.set(key, reading);
    return answer;
  }

  /** Removes the entry of a read, unless a later read has replaced it because this one stalled. */
  #finish(key: string, reading: Reading): void {
    if (this.#running.get(key) === reading) this.#running.delete(key);
  }
}

/** Waits until the read is over, or has stalled. */
function endOf({ ended }: Reading): Promise<unknown> {
  return withTimeLimit(STALL_MS, ended, () => undefined);
}
