/** Enough for the busiest minute of a process. */
const ROWS_MAX = 20_000;

/** Which rows of one partition were written of late. */
export interface RowMemory {
  has(rowKey: string): boolean;
  add(rowKey: string): void;
}

/**
 * Rows that this process saw stored of late, the oldest forgotten first. A caller's belief that such a row is absent is
 * not worth a try.
 */
export class RecentRows {
  readonly #keys = new Set<string>();

  within(partitionKey: string): RowMemory {
    const keyOf = (rowKey: string) => `${partitionKey}\n${rowKey}`;
    return {
      has: (rowKey) => this.#keys.has(keyOf(rowKey)),
      add: (rowKey) => this.#add(keyOf(rowKey)),
    };
  }

  #add(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > ROWS_MAX && oldest !== undefined) this.#keys.delete(oldest);
  }
}
