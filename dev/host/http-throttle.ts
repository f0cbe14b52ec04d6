/**
 * The host's two limits on HTTP requests: so many run at a time, the others wait, and when too many run or wait the next
 * is refused (429).
 */
export class HttpThrottle {
  readonly #concurrentMax: number;
  readonly #outstandingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(concurrentMax: number, outstandingMax: number) {
    this.#concurrentMax = concurrentMax;
    this.#outstandingMax = outstandingMax;
  }

  /** Undefined, without running anything, when there is no room. */
  async run<Value>(task: () => Promise<Value>): Promise<Value | undefined> {
    if (this.#running + this.#waiting.length >= this.#outstandingMax) return undefined;
    if (this.#running >= this.#concurrentMax)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    else this.#running += 1;
    try {
      return await task();
    } finally {
      // The place goes to the next in line, so that nobody can slip in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
