import { nextLegStep, type Leg } from "./leg.ts";

// When a leg's next attempt, look-up or check is due. Pure: the clock and the random numbers are handed in.

/** How far a retry's delay may lie beside the schedule. */
const JITTER = 0.2;
const RETRY_AFTER_SECONDS_MAX = 3_600;
/** After the call. Each a moment later than the networks' own limits, for clocks differ. */
const LAST_LOOKS_SECONDS = [32, 63] as const;

/** The longest pause between two looks at open work. */
const CHECK_SECONDS_MAX = 15 * 60;
/** After a lease ended or a wait is over, the worker's own hint goes first. */
const GRACE_SECONDS = 10;

/** Seconds until the next automatic attempt, or null when the schedule is used up. `random` is in [0, 1). */
export function nextRetrySeconds(
  schedule: readonly number[],
  retries: number,
  random: number,
  retryAfterSeconds?: number,
): number | null {
  const base = schedule[retries];
  if (base === undefined) return null;
  const jittered = base * (1 - JITTER + 2 * JITTER * random);
  const asked = Math.min(retryAfterSeconds ?? 0, RETRY_AFTER_SECONDS_MAX);
  return retryAfterSeconds === 0 ? 0 : Math.max(jittered, asked);
}

/**
 * Seconds until an unknown outcome is looked up again, or null when it will have to stay unknown. After the last
 * automatic attempt the schedule runs once more for look-ups alone: a network that is away may still tell.
 */
export function nextLookSeconds(
  schedule: readonly number[],
  retries: number,
  random: number,
  pollAfterSeconds?: number,
): number | null {
  const twice = [...schedule, ...schedule];
  return nextRetrySeconds(twice, retries, random, pollAfterSeconds);
}

/**
 * Seconds until a call of unknown outcome is looked up once more although the schedule is used up; null when that was
 * done. What a call did shows within half a minute at most networks and within a minute at all: given up earlier, an
 * outage of a few seconds would leave unknown what can be known.
 */
export function lastLookSeconds({ calledAt }: Leg, now: Date): number | null {
  if (calledAt === null) return null;
  const sinceSeconds = (now.getTime() - Date.parse(calledAt)) / 1000;
  const look = LAST_LOOKS_SECONDS.find((seconds) => seconds > sinceSeconds);
  return look === undefined ? null : look - sinceSeconds;
}

/** When to look again: after what the legs wait for, else later each time, up to a quarter of an hour. */
export function nextCheck(
  legs: readonly Leg[],
  checks: number,
  checkSeconds: number,
  now: Date,
): string {
  const waits = legs.flatMap((leg) => {
    const step = nextLegStep(leg, now);
    return step.kind === "later" ? [Date.parse(step.at) + GRACE_SECONDS * 1000] : [];
  });
  const backoff = Math.min(CHECK_SECONDS_MAX, checkSeconds * 2 ** Math.min(checks, 10)) * 1000;
  return new Date(Math.min(now.getTime() + backoff, ...waits)).toISOString();
}
