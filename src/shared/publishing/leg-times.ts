import type { Call, FailedWait, WaitsFor } from "./call.ts";
import { isFileMissing } from "../networks/contract/media-check.ts";
import { nextLegStep, type Leg } from "./leg.ts";

// Computes when a leg's next attempt, look-up or check is due. Pure: the clock and random numbers are parameters.

/** When the latest visible call of unknown outcome was made. */
type CallTime = Pick<Call, "calledAt">;

/** How far a delay may differ from its schedule, as a share, so that what failed together isn't repeated together. */
const JITTER = 0.2;
const RETRY_AFTER_SECONDS_MAX = 3_600;
/** Seconds after the call. Each is a little longer than the networks' own limits, because clocks differ. */
const LAST_LOOKS_SECONDS = [32, 63] as const;

/** How long after a call that a network works on the early look-ups come. Slower work is checked by the schedule. */
const EARLY_LOOKS_MS = 10_000;

/** The longest pause between two checks of open work. */
const CHECK_SECONDS_MAX = 15 * 60;
/** How long the sweep waits after a lease or a delay ends, so that the worker's own hint comes first. */
const GRACE_SECONDS = 10;

/**
 * Returns the seconds until the next automatic attempt, or null when the schedule is used up. `random` is in [0, 1).
 */
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
 * Returns the seconds until a network is asked again about a file that it processes: half of the time that the attempt
 * has taken so far, so that a small file doesn't wait for an interval meant for large ones.
 */
export function nextPollSeconds(secondsMax: number, attemptMs: number): number {
  return Math.min(secondsMax, Math.max(1, Math.round(attemptMs / 2_000)));
}

/**
 * Returns the seconds until a network is asked about a call that it is working on, or null when the schedule decides.
 * Each look-up doubles the time since the call, so there are at most five.
 */
export function earlyLookSeconds({ calledAt }: CallTime, now: Date): number | null {
  const sinceMs = calledAt === null ? Number.NaN : now.getTime() - Date.parse(calledAt);
  const isEarly = sinceMs >= 0 && sinceMs < EARLY_LOOKS_MS;
  return isEarly ? Math.max(1, Math.round(sinceMs / 1_000)) : null;
}

/**
 * Returns the seconds until a call of unknown outcome is looked up once more although the schedule is used up; null
 * when that was done. Most networks show the effect of a call within half a minute, all within a minute. Without these
 * look-ups, an outage of a few seconds would leave an outcome unknown for good.
 */
export function lastLookSeconds({ calledAt }: CallTime, now: Date): number | null {
  if (calledAt === null) return null;
  const sinceSeconds = (now.getTime() - Date.parse(calledAt)) / 1000;
  const look = LAST_LOOKS_SECONDS.find((seconds) => seconds > sinceSeconds);
  return look === undefined ? null : look - sinceSeconds;
}

/** Returns when the sweep checks the legs again: after their delay, or at growing intervals of 15 minutes at most. */
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

/** How long the calls that follow are repeated while the network does not accept them. */
const REPEATED_MINUTES = { comment: 10, remove: 60 } as const;
const FIRST_PAUSE_SECONDS = 2;
/** The pause after it. Each further one is twice as long: networks know most posts within seconds. */
const SECOND_PAUSE_SECONDS = 5;
const PAUSE_SECONDS_MAX = 5 * 60;

/**
 * Returns the seconds until the next attempt or look-up of a call that follows; null when its time is over. `random` is
 * in [0, 1).
 */
export function nextCallSeconds(
  { kind, retries, requestedAt }: Call & { readonly kind: keyof typeof REPEATED_MINUTES },
  now: Date,
  random: number,
  askedSeconds = 0,
): number | null {
  const leftMs = Date.parse(requestedAt) + REPEATED_MINUTES[kind] * 60_000 - now.getTime();
  const later = Math.min(PAUSE_SECONDS_MAX, SECOND_PAUSE_SECONDS * 2 ** (retries - 1));
  const base = retries === 0 ? FIRST_PAUSE_SECONDS : later;
  const seconds = Math.max(base * (1 - JITTER + 2 * JITTER * random), askedSeconds);
  if (leftMs <= 0) return null;
  // The last attempt comes when the time is over, and not before the network asked for it.
  return seconds * 1000 <= leftMs ? seconds : askedSeconds * 1000 > leftMs ? null : leftMs / 1000;
}

/** Retries of a leg whose file isn't there. Copies of a new file take seconds to arrive; one that is deleted never does. */
const MISSING_FILE_RETRIES = 2;

/** What a call's next time is computed from. */
export interface Schedule {
  readonly now: Date;
  /** Of what publishes. */
  readonly retrySeconds: readonly number[];
  /** In [0, 1). */
  readonly random: number;
}

/** Returns for what a call waits next, and for how long; undefined when its time is over. */
export function nextWait(
  call: Call,
  { waitsFor, seconds: asked, isPoll, failure }: FailedWait,
  { now, retrySeconds, random }: Schedule,
): { readonly waitsFor: WaitsFor; readonly seconds: number } | undefined {
  const { kind, retries } = call;
  if (kind !== "publish") {
    const seconds = nextCallSeconds({ ...call, kind }, now, random, asked);
    return seconds === null ? undefined : { waitsFor, seconds };
  }
  const early = isPoll === true ? earlyLookSeconds(call, now) : null;
  if (early !== null) return { waitsFor: "pause", seconds: early };
  // After the last attempt the schedule runs once more for looks alone: a network that is down may come back.
  const looks = waitsFor === "look" ? [...retrySeconds, ...retrySeconds] : retrySeconds;
  const times = isFileMissing(failure.rule) ? looks.slice(0, MISSING_FILE_RETRIES) : looks;
  const seconds = nextRetrySeconds(times, retries, random, asked);
  if (seconds !== null) return { waitsFor, seconds };
  // After the last attempt, an earlier one may still show an effect.
  const last = call.sentAt === null ? null : lastLookSeconds(call, now);
  return last === null ? undefined : { waitsFor: "look", seconds: last };
}
