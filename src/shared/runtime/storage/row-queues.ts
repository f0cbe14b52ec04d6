/** Serializes work on the same row within this process, so that it competes with other processes alone. */
export class RowQueues {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs the work after all earlier work on the row. */
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
