type Callback = () => Promise<void>;

/** The end of the process, as far as it is told of it beforehand. */
export class Stop {
  readonly #callbacks = new Set<Callback>();
  #isAnnounced = false;

  /** Has the callback called when the process is told to stop, at once where it was. Returns the function that takes it back. */
  before(callback: Callback): () => void {
    this.#callbacks.add(callback);
    // A host hands out work for a while after that.
    if (this.#isAnnounced) void Promise.allSettled([callback()]);
    return () => void this.#callbacks.delete(callback);
  }

  /** The process is about to stop: whoever has something to write down does it now. */
  async announce(): Promise<void> {
    this.#isAnnounced = true;
    await Promise.allSettled([...this.#callbacks].map((callback) => callback()));
  }
}
