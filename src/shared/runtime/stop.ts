type Callback = () => Promise<void>;

/** The end of the process, as far as it is told of it beforehand. */
export class Stop {
  readonly #callbacks = new Set<Callback>();

  /** Has the callback called when the process is told to stop. Returns the function that takes it back. */
  before(callback: Callback): () => void {
    this.#callbacks.add(callback);
    return () => void this.#callbacks.delete(callback);
  }

  /** The process is about to stop: whoever has something to write down does it now. */
  async announce(): Promise<void> {
    await Promise.allSettled([...this.#callbacks].map((callback) => callback()));
  }
}
