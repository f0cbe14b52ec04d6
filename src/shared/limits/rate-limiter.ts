import type { Log } from "../runtime/log.ts";
import type { RateWindowRows } from "./rate-window-store.ts";
import { RecentMap } from "../runtime/recent-map.ts";
import { admitTogether, SharedWindow, type Admission } from "./shared-window.ts";
import { AppError } from "../runtime/errors.ts";

const SUBJECTS_MAX = 20_000;
const LOG_INTERVAL_MS = 60_000;

export interface RateLimiterOptions {
  readonly rows: RateWindowRows;
  readonly now: () => number;
  readonly log: Log;
}

interface Share {
  readonly subject: string;
  readonly limit: number;
}

/**
 * Limits requests per minute and subject over all instances. Up to eight instances together exceed the limit by a tenth
 * at most, however requests are distributed. When storage fails, every instance applies the limit on its own.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #windows = new RecentMap<SharedWindow>(SUBJECTS_MAX);
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Admits and counts a request, or refuses it. `subject` becomes a part of a row key. */
  admit(subject: string, limit: number): Promise<Admission> {
    return this.#windowOf(subject).admit(limit);
  }

  /** Admits a request in two buckets: it counts in both or in none. Returns the one with less left. */
  admitWithin(own: Share, beside: Share): Promise<Admission> {
    const buckets = [own, beside].map(({ subject, limit }) => {
      return { window: this.#windowOf(subject), limit };
    });
    return admitTogether(buckets, this.#options.now);
  }

  #windowOf(subject: string): SharedWindow {
    const known = this.#windows.get(subject);
    if (known !== undefined) return known;
    const { rows, now } = this.#options;
    const onFailure = (error: unknown) => this.#report(error);
    const window = new SharedWindow({ subject, rows, now, onFailure });
    this.#windows.set(subject, window);
    return window;
  }

  #report(error: unknown): void {
    const now = this.#options.now();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    this.#options.log.error("rate limits are kept by each instance alone: storage fails", {
      error,
    });
  }
}

export function rateLimited(
  retryAfter: number,
  message = `Too many requests. Try again in ${retryAfter} s.`,
): AppError {
  return new AppError("rate_limited", message, {
    details: { retryAfter },
    retryAfterSeconds: retryAfter,
  });
}
