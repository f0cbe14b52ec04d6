/**
 * Runs the same work for a key one at a time. A call that finds it running returns at once, and the run that is under
 * way does the work once more, so that nothing which was there before the call is missed.
 */
export class Rerun {
  readonly #wanted = new Map<string, boolean>();

  async run(key: string, work: () => Promise<void>): Promise<void> {
    if (this.#wanted.has(key)) {
      this.#wanted.set(key, true);
      return;
    }
    try {
      do {
        this.#wanted.set(key, false);
        await work();
      } while (this.#wanted.get(key) === true);
    } finally {
      this.#wanted.delete(key);
    }
  }
}
