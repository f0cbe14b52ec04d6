interface Limits {
  readonly maxConcurrentRequests: number;
  readonly maxOutstandingRequests: number;
}

/**
 * The host's `maxConcurrentRequests`, which run at a time while the others wait in line, and `maxOutstandingRequests`,
 * which limits both together.
 */
export class HttpThrottle {
  readonly #limits: Limits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Runs the task once there is a slot. Returns false, without running it, where the line is full. */
  async run(task: () => Promise<void>): Promise<boolean> {
    const { maxConcurrentRequests, maxOutstandingRequests } = this.#limits;
    if (this.#running + this.#waiting.length >= maxOutstandingRequests) return false;
    if (this.#running < maxConcurrentRequests) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await task();
      return true;
    } finally {
      // The slot goes to the next in line, so that no later request can take it first.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
