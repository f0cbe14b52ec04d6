const MINIMUM_MS = 100;
const JITTER = 0.2;

/**
 * The delay between two polls of a queue that had nothing: 100 ms, then about 200, 300, 500, 900 … up to the maximum; 100
 * ms again after a poll that found something.
 */
export class QueueBackoff {
  readonly #maximumMs: number;
  readonly #random: () => number;
  #exponent = 0;

  constructor(maximumMs: number, random: () => number = Math.random) {
    this.#maximumMs = maximumMs;
    this.#random = random;
  }

  reset(): void {
    this.#exponent = 0;
  }

  nextMs(): number {
    const grown =
      this.#exponent === 0
        ? 0
        : (1 - JITTER + 2 * JITTER * this.#random()) * 2 ** (this.#exponent - 1) * MINIMUM_MS;
    if (MINIMUM_MS + grown >= this.#maximumMs) return this.#maximumMs;
    this.#exponent += 1;
    return MINIMUM_MS + grown;
  }
}
