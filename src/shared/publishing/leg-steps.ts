import { LEG_ERRORS } from "../networks/contract/errors.ts";
import type { LegFailure, NetworkData, Published } from "../networks/contract/network.ts";
import type { Leg, LegProblem } from "./post.ts";

/** A lease that ended this often without an outcome is a leg that kills its workers. */
export const CRASHES_MAX = 8;
/** How far a retry's delay may lie beside the schedule. */
const JITTER = 0.2;
const RETRY_AFTER_SECONDS_MAX = 3_600;
/** After the call. Each a moment later than the networks' own limits, for clocks differ. */
const LAST_LOOKS_SECONDS = [32, 63] as const;

const after = (now: Date, seconds: number) =>
  new Date(now.getTime() + seconds * 1000).toISOString();

/** A worker takes the leg: it is its alone until the lease ends. What the network chose once stays. */
export function claimed(
  leg: Leg,
  claim: {
    readonly id: string;
    readonly now: Date;
    readonly leaseSeconds: number;
    readonly afterCrash: boolean;
  },
): Leg {
  const begins = leg.phase === "idle" && !claim.afterCrash;
  return {
    ...leg,
    status: "publishing",
    phase: leg.sentAt === null ? "claimed" : "sent",
    claimId: claim.id,
    leaseUntil: after(claim.now, claim.leaseSeconds),
    notBefore: null,
    attempts: leg.attempts + (begins ? 1 : 0),
    crashes: leg.crashes + (claim.afterCrash ? 1 : 0),
    lastAttemptAt: begins ? claim.now.toISOString() : leg.lastAttemptAt,
  };
}

/**
 * Written before the one visible call: whoever finds it must look, since `doubtSince` where an earlier call's outcome is
 * not known either, before sending again. What the owner allowed, to send it blindly, is used up by it.
 */
export function markedSent(
  leg: Leg,
  remote: NetworkData,
  doubtSince: string | null,
  now: Date,
): Leg {
  const calledAt = now.toISOString();
  const sentAt = doubtSince ?? calledAt;
  return { ...leg, phase: "sent", remote, sentAt, calledAt, resend: false };
}

/** As it was before a worker took it, but for the account that it goes out on. A lease that ended stays counted. */
export function givenBack(before: Leg, taken: Leg, now: Date, seconds: number): Leg {
  return {
    ...before,
    phase: before.phase === "claimed" ? "waiting" : before.phase,
    claimId: null,
    leaseUntil: null,
    notBefore: after(now, seconds),
    crashes: taken.crashes,
    connectionId: taken.connectionId,
    account: taken.account,
    remote: taken.remote,
  };
}

/** The lease is given back until `seconds` from now. `sent` legs stay sent; their outcome is not known yet. */
export function parked(leg: Leg, remote: NetworkData | null, now: Date, seconds: number): Leg {
  return {
    ...leg,
    status: "publishing",
    phase: leg.sentAt === null ? "waiting" : "sent",
    claimId: null,
    leaseUntil: null,
    notBefore: after(now, seconds),
    remote: remote ?? leg.remote,
  };
}

/**
 * The network certainly did not get this attempt: the leg waits for its next one as if this had never begun.
 * `sentAt` is of an earlier call whose outcome is still not known.
 */
export function putBack(leg: Leg, now: Date, seconds: number, sentAt: string | null): Leg {
  return {
    ...leg,
    status: "pending",
    phase: "idle",
    claimId: null,
    leaseUntil: null,
    notBefore: after(now, seconds),
    retries: leg.retries + 1,
    sentAt,
    calledAt: sentAt === null ? null : leg.calledAt,
  };
}

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

const ended = {
  phase: "idle",
  claimId: null,
  leaseUntil: null,
  notBefore: null,
  readings: {},
} as const;

/** Published and paid for. */
export function succeeded(leg: Leg, published: Published, now: Date): Leg {
  return {
    ...leg,
    ...ended,
    status: "succeeded",
    networkPostId: published.networkPostId,
    url: published.url,
    publishedAt: now.toISOString(),
    error: null,
    resend: false,
    hold: { ...leg.hold, state: "captured" },
    tokensCharged: leg.tokensCharged + leg.hold.tokens,
  };
}

/** Failed and not paid for. Only where the outcome stays unknown is kept that something was sent. */
export function failed(leg: Leg, failure: LegFailure): Leg {
  return {
    ...leg,
    ...ended,
    status: "failed",
    error: problemOf(failure),
    resend: false,
    sentAt: failure.code === "outcome_unknown" ? leg.sentAt : null,
    calledAt: failure.code === "outcome_unknown" ? leg.calledAt : null,
    hold: { ...leg.hold, state: "released" },
    tokensReleased: leg.tokensReleased + leg.hold.tokens,
  };
}

/** A failure in the words of the contract. */
export function problemOf(failure: LegFailure): LegProblem {
  const { code, networkCode, rule, mediaIndex } = failure;
  const { message, remediation } = LEG_ERRORS[code];
  return {
    code,
    message,
    remediation: failure.remediation ?? remediation,
    rule: rule ?? null,
    mediaIndex: mediaIndex ?? null,
    networkCode,
  };
}
