/** The host's `maxConcurrentRequests`: so many run at a time, the others wait in line. */
export class HttpThrottle {
  readonly #concurrentMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(concurrentMax: number) {
    this.#concurrentMax = concurrentMax;
  }

  async run(task: () => Promise<void>): Promise<void> {
    if (this.#running < this.#concurrentMax) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await task();
    } finally {
      // The slot goes to the next in line, so that no later request can take it first.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
