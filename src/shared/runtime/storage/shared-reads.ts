import { Batcher } from "../batcher.ts";

/** Later calls stop waiting for a read that takes longer than this. */
const STALL_MS = 100;

type Read = () => Promise<unknown>;

/**
 * Shares reads between calls for the same thing. A call only gets the answer of a read that began after the call, so
 * the answer includes everything that was written before it. Calls that arrive during a read share the next one.
 */
export class SharedReads {
  readonly #byKey = new Map<string, Batcher<Read, unknown>>();

  /** Reads, or shares the next read. Calls with the same key get the same answer and must not change it. */
  read<T>(key: string, read: () => Promise<T>): Promise<T> {
    const reads = this.#byKey.get(key) ?? this.#open(key);
    // Safe: all calls with one key make the same read and expect the same type.
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
