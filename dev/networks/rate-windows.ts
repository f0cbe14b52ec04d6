export interface RateUse {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since the epoch. */
  readonly resetAt: number;
  readonly windowMs: number;
  readonly allowed: boolean;
}

const WINDOWS_MAX = 10_000;

/** Fixed windows by key. Always counted, so that the headers are true; refused only when the sandbox is told to enforce. */
export class RateWindows {
  readonly #now: () => number;
  readonly #enforce: boolean;
  readonly #windows = new Map<string, { used: number; resetAt: number }>();

  constructor(now: () => number, enforce: boolean) {
    this.#now = now;
    this.#enforce = enforce;
  }

  get enforced(): boolean {
    return this.#enforce;
  }

  take(key: string, limit: number, windowMs: number, points = 1): RateUse {
    const now = this.#now();
    let window = this.#windows.get(key);
    if (window === undefined || window.resetAt <= now) {
      if (this.#windows.size >= WINDOWS_MAX) this.#windows.clear();
      window = { used: 0, resetAt: now + windowMs };
      this.#windows.set(key, window);
    }
    const allowed = !this.#enforce || window.used + points <= limit;
    if (allowed) window.used += points;
    return {
      limit,
      remaining: Math.max(0, limit - window.used),
      resetAt: window.resetAt,
      windowMs,
      allowed,
    };
  }

  clear(): void {
    this.#windows.clear();
  }
}
