import { withTimeLimit } from "../time-limit.ts";

/** A read that takes longer holds up nobody who came after it. */
const STALL_MS = 100;

interface Reading {
  readonly ended: Promise<unknown>;
}

/**
 * Lets calls for the same thing share reads without weakening what they see: an answer is only given to calls that came
 * before its read began, so that everything written before a call is in its answer. While one read is under way, the
 * calls that arrive share the next one.
 */
export class SharedReads {
  readonly #running = new Map<string, Reading>();
  readonly #next = new Map<string, Promise<unknown>>();

  /** `key` names what is read: calls with the same key get the same (shared, never to be changed) answer. */
  read<T>(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running === undefined) return this.#start(key, read);
    const waiting = this.#next.get(key);
    // Safe: one key stands for one read, and so for one type.
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

  /** A read that stalled may have been overtaken: then the entry is another's. */
  #finish(key: string, reading: Reading): void {
    if (this.#running.get(key) === reading) this.#running.delete(key);
  }
}

/** Waits until the read is over, or has stalled. */
function endOf({ ended }: Reading): Promise<unknown> {
  return withTimeLimit(STALL_MS, ended, () => undefined);
}
