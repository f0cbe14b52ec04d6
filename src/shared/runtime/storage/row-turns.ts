/** Lets work on the same row go one at a time within this process, so that only other processes can be in its way. */
export class RowTurns {
  readonly #last = new Map<string, Promise<void>>();

  isTaken(row: string): boolean {
    return this.#last.has(row);
  }

  /** In the order in which they came. */
  async run<T>(row: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(row);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#last.set(row, ended);
    try {
      await before;
      return await work();
    } finally {
      end();
      if (this.#last.get(row) === ended) this.#last.delete(row);
    }
  }
}
