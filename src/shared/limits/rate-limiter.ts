import type { Log } from "../log.ts";
import type { RateWindowRows } from "./rate-window-store.ts";
import { RecentMap } from "./recent-map.ts";
import { SharedWindow, type Decision } from "./shared-window.ts";

const SUBJECTS_MAX = 20_000;
const LOG_INTERVAL_MS = 60_000;

export interface RateLimiterOptions {
  readonly rows: RateWindowRows;
  readonly now: () => number;
  readonly log: Log;
}

/**
 * Requests per minute and subject, over all instances. Up to eight instances together stay within a tenth above the
 * limit, whichever way requests are spread over them. Without storage every instance holds the limit on its own.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #windows = new RecentMap<SharedWindow>(SUBJECTS_MAX);
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** A refused request is not counted. `subject` becomes a part of a row key. */
  admit(subject: string, limit: number): Promise<Decision> {
    let window = this.#windows.get(subject);
    if (window === undefined) {
      const { rows, now } = this.#options;
      window = new SharedWindow({ subject, rows, now, onFailure: (error) => this.#report(error) });
      this.#windows.set(subject, window);
    }
    return window.admit(limit);
  }

  #report(error: unknown): void {
    const now = this.#options.now();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    this.#options.log.error("rate limits are held by each instance alone: storage fails", {
      error,
    });
  }
}
