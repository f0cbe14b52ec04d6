/** Failures count this long; as long a quiet time after a block ends the doubling. */
const WINDOW_MS = 15 * 60_000;
const FIRST_BLOCK_MS = 60_000;
const BLOCK_MS_MAX = 15 * 60_000;
const DOUBLINGS_MAX = 10;

/** What is remembered of an e-mail's failed log-ins. Times are milliseconds since the epoch. */
export interface LoginHistory {
  readonly failedAt: readonly number[];
  /** How many blocks in a row. */
  readonly blocks: number;
  readonly blockedUntil: number;
}

export const NO_FAILURES: LoginHistory = { failedAt: [], blocks: 0, blockedUntil: 0 };

/** Whole seconds until the next try is looked at; 0 when that is now. */
export function blockedSeconds({ blockedUntil }: LoginHistory, now: number): number {
  return Math.max(0, Math.ceil((blockedUntil - now) / 1000));
}

/** After `attemptsMax` failures within the window, and at each further one, log-ins wait: a minute, then twice as long. */
export function afterFailure(
  history: LoginHistory,
  attemptsMax: number,
  now: number,
): LoginHistory {
  const isQuiet = now >= history.blockedUntil + WINDOW_MS;
  const blocks = isQuiet ? 0 : history.blocks;
  const failedAt = [...history.failedAt.filter((at) => at > now - WINDOW_MS), now].slice(
    -attemptsMax,
  );
  if (blocks === 0 && failedAt.length < attemptsMax)
    return { failedAt, blocks, blockedUntil: history.blockedUntil };
  const doubled = FIRST_BLOCK_MS * 2 ** Math.min(blocks, DOUBLINGS_MAX);
  return { failedAt, blocks: blocks + 1, blockedUntil: now + Math.min(BLOCK_MS_MAX, doubled) };
}

/** Nothing in it has a say any more. */
export function isForgotten({ failedAt, blockedUntil }: LoginHistory, now: number): boolean {
  return Math.max(blockedUntil, ...failedAt) + WINDOW_MS <= now;
}
