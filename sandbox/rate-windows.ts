export interface RateUse {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since the epoch. */
  readonly resetAt: number;
  readonly windowMs: number;
}

const WINDOWS_MAX = 10_000;

/** Fixed windows by key, for headers that say what is left. Nothing is refused: `[fail:rate_limited]` plays that. */
export class RateWindows {
  readonly #now: () => number;
  readonly #windows = new Map<string, { used: number; resetAt: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  take(key: string, limit: number, windowMs: number, points = 1): RateUse {
    const now = this.#now();
    let window = this.#windows.get(key);
    if (window === undefined || window.resetAt <= now) {
      if (this.#windows.size >= WINDOWS_MAX) this.#windows.clear();
      window = { used: 0, resetAt: now + windowMs };
      this.#windows.set(key, window);
    }
    window.used += points;
    const { used, resetAt } = window;
    return { limit, remaining: Math.max(0, limit - used), resetAt, windowMs };
  }

  clear(): void {
    this.#windows.clear();
  }
}
