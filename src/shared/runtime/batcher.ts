import { withTimeLimit } from "./promises.ts";

/** An item that waits for its batch, with the functions that answer the callers who added it. */
export interface BatchEntry<Item, Result> {
  readonly item: Item;
  readonly promise: Promise<Result>;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Batching<Item, Result> {
  /** Handles a batch and settles each of its entries. If it throws, the entries that are not settled get the error. */
  readonly run: (batch: readonly BatchEntry<Item, Result>[]) => Promise<void>;
  /** Maximum total weight of a batch. Without it, a batch takes all waiting items. */
  readonly max?: number;
  /** Returns the weight of an item. By default each weighs 1. */
  readonly weigh?: (item: Item) => number;
  /** Time after which the next batch starts even if the last one has not ended. */
  readonly stallMs?: number;
  /** Whether the first batch waits for all items of the same tick. By default it starts with the first item alone. */
  readonly gathers?: boolean;
  readonly onIdle?: () => void;
}

/**
 * Handles items in batches, one batch at a time. Items that arrive during a batch share the next one, so that each item
 * is handled after it was added. The group commit doesn't use this class, because its operations depend on each other's
 * outcomes.
 */
export class Batcher<Item, Result> {
  readonly #batching: Batching<Item, Result>;
  readonly #waiting = new Map<unknown, BatchEntry<Item, Result>>();
  #isRunning = false;

  constructor(batching: Batching<Item, Result>) {
    this.#batching = batching;
  }

  /** Adds an item and returns its outcome. Waiting items with the same key are handled as one. */
  add(item: Item, key: unknown = item): Promise<Result> {
    const known = this.#waiting.get(key);
    if (known !== undefined) return known.promise;
    const entry = { item, ...Promise.withResolvers<Result>() };
    this.#waiting.set(key, entry);
    if (!this.#isRunning) void this.#runAll();
    return entry.promise;
  }

  async #runAll(): Promise<void> {
    const { gathers = false, stallMs, onIdle } = this.#batching;
    this.#isRunning = true;
    if (gathers) await Promise.resolve();
    while (this.#waiting.size > 0) {
      const running = this.#run(this.#take());
      await (stallMs === undefined ? running : withTimeLimit(stallMs, running, () => undefined));
    }
    this.#isRunning = false;
    onIdle?.();
  }

  #take(): BatchEntry<Item, Result>[] {
    const { max = Infinity, weigh = () => 1 } = this.#batching;
    const batch: BatchEntry<Item, Result>[] = [];
    let weight = 0;
    for (const [key, entry] of this.#waiting) {
      weight += weigh(entry.item);
      if (weight > max && batch.length > 0) break;
      this.#waiting.delete(key);
      batch.push(entry);
    }
    return batch;
  }

  async #run(batch: readonly BatchEntry<Item, Result>[]): Promise<void> {
    try {
      await this.#batching.run(batch);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
