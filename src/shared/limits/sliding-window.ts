export const WINDOW_MS = 60_000;

/** What was counted in the minute that a time lies in, and in the one before. */
export interface Usage {
  readonly current: number;
  readonly previous: number;
}

/** Sums of fractions are a hair off; nobody is refused for that. */
const ROUNDING = 1e-9;

export const minuteOf = (now: number): number => Math.floor(now / WINDOW_MS);

/** The last sixty seconds: this minute, and of the previous one the share that they still overlap. */
export function weightedCount({ current, previous }: Usage, now: number): number {
  const elapsed = (now % WINDOW_MS) / WINDOW_MS;
  return current + previous * (1 - elapsed);
}

/** Whether one more keeps the weighted count within the limit. */
export function hasRoom(count: number, limit: number): boolean {
  return count + 1 <= limit + ROUNDING;
}

/** Whole seconds, at least one, until one more fits if nothing else is counted in the meantime. */
export function secondsUntilRoom({ current, previous }: Usage, limit: number, now: number): number {
  const start = minuteOf(now) * WINDOW_MS;
  const spare = limit - 1;
  let at = now;
  // Too many in this minute alone: it has to become the previous one and fade.
  if (current > spare) at = start + WINDOW_MS + WINDOW_MS * (1 - spare / current);
  else if (previous > 0) at = start + WINDOW_MS * (1 - (spare - current) / previous);
  return Math.max(1, Math.ceil((at - now) / 1000));
}

export function secondsUntilNextMinute(now: number): number {
  return Math.max(1, Math.ceil((WINDOW_MS - (now % WINDOW_MS)) / 1000));
}
