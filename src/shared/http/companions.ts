/** The work on hints that came along with others, of a process: the host, which counts messages, knows nothing of it. */
export class Companions {
  static readonly #MAX = 64;
  #running = 0;

  /** Runs the work, unless too much is under way. Returns whether it ran it. */
  async run(work: () => Promise<void>): Promise<boolean> {
    if (this.#running >= Companions.#MAX) return false;
    this.#running += 1;
    try {
      await work();
    } finally {
      this.#running -= 1;
    }
    return true;
  }
}
