const JITTER = 0.1;
const RETRY_AFTER_SECONDS_MAX = 24 * 60 * 60;
/** Statuses whose `Retry-After` is the receiver's own wish (RFC 9110, 10.2.3). */
const ASKS_FOR_PATIENCE: ReadonlySet<number> = new Set([429, 503]);

/**
 * The delay before the next attempt, or null when there is none left. `random` lies in [0, 1) and spreads the attempts
 * of an outage by a tenth either way; a receiver that asks for more time gets it.
 */
export function nextAttemptSeconds(
  delaysSeconds: readonly number[],
  attempts: number,
  random: number,
  retryAfterSeconds: number | null,
): number | null {
  const delay = delaysSeconds[attempts - 1];
  if (delay === undefined) return null;
  const spread = delay * (1 + JITTER * (2 * random - 1));
  return Math.max(spread, retryAfterSeconds ?? 0);
}

/** What an answer asks for: seconds or a date, at most a day; null when it asks for nothing that can be read. */
export function retryAfterSeconds(
  status: number,
  header: string | undefined,
  now: Date,
): number | null {
  if (header === undefined || !ASKS_FOR_PATIENCE.has(status)) return null;
  const text = header.trim();
  // `Date.parse` makes a date of nearly anything; one of HTTP names its month.
  const date = /[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  const seconds = /^\d+$/.test(text) ? Number(text) : (date - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(0, seconds), RETRY_AFTER_SECONDS_MAX);
}
