import { Batcher } from "../batcher.ts";

/** Later calls don't wait for a read that takes longer. */
const STALL_MS = 100;

type Read = () => Promise<unknown>;

/**
 * Shares reads between calls for the same thing. A call only gets the answer of a read that began after it, so the
 * answer has everything that was written before the call. Calls that arrive during a read share the next one.
 */
export class SharedReads {
  readonly #byKey = new Map<string, Batcher<Read, unknown>>();

  /** Reads, or shares the next read. Calls with the same key get the same answer, which they must not change. */
  read<T>(key: string, read: () => Promise<T>): Promise<T> {
    const reads = this.#byKey.get(key) ?? this.#open(key);
    // Safe: one key means one read, and so one type.
    return reads.add(read, key) as Promise<T>;
  }

  #open(key: string): Batcher<Read, unknown> {
    const reads = new Batcher<Read, unknown>({
      run: async ([next]) => next?.resolve(await next.item()),
      stallMs: STALL_MS,
      onIdle: () => this.#byKey.delete(key),
    });
    this.#byKey.set(key, reads);
    return reads;
  }
}
