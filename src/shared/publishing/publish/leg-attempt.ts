import type { Connection } from "../../connections/connections.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import type { LegFailure, Published } from "../../networks/contract/outcome.ts";
import { type Call, claimedCall, waitingCall } from "../call.ts";
import { accountOn, openCall, unclaimed, withCall, type Leg } from "../leg.ts";
import { problemOf } from "../problems.ts";

/* What a worker's attempt makes of a leg. The table of all transitions is in `leg.ts`. */

const after = (now: Date, seconds: number) =>
  new Date(now.getTime() + seconds * 1000).toISOString();

interface Claim {
  readonly id: string;
  readonly now: Date;
  readonly leaseSeconds: number;
  readonly afterCrash: boolean;
}

/**
 * Returns the leg claimed by a worker until the lease ends. Keeps what the network chose before (`remote`). Of a leg that
 * has ended, the next of the calls that follow is claimed.
 */
export function claimed(leg: Leg, claim: Claim): Leg {
  const call = openCall(leg);
  if (call !== undefined) {
    const leaseUntil = after(claim.now, claim.leaseSeconds);
    const taken = withCall(leg, claimedCall(call, claim.afterCrash));
    return { ...taken, claimId: claim.id, leaseUntil, notBefore: null };
  }
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

/** Returns the leg with a lease that runs from now, for a step that takes longer than one lease. */
export function renewed(leg: Leg, now: Date, leaseSeconds: number): Leg {
  return { ...leg, leaseUntil: after(now, leaseSeconds) };
}

/**
 * Returns the leg with a lease that ends with the worker's process, so that another worker takes over at once. `callMs`:
 * the longest time that a call to a network takes. A call that was begun keeps its lease until then, even if the process
 * ends before: a worker that looked earlier could miss the post and send it twice.
 */
export function endingAt(leg: Leg, endsAt: Date, callMs: number): Leg {
  const { leaseUntil } = leg;
  const end = [endsAt.toISOString(), callEnd(leg, callMs)].toSorted()[1] ?? "";
  return leaseUntil !== null && end < leaseUntil ? { ...leg, leaseUntil: end } : leg;
}

/** Returns the leg on the account that is linked now. `remote` is what the network chose again for that account. */
export function movedTo(leg: Leg, linked: Connection, remote: NetworkData | null): Leg {
  return { ...leg, connectionId: linked.id, account: accountOn(linked), remote };
}

/**
 * Returns the leg with the sent marker, which is written before the one visible call: any worker that finds it looks
 * the outcome up before it sends again. `doubtSince` is the time of an earlier call whose outcome is unknown as well.
 * Uses up the owner's permission to send without a look-up.
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

/** Returns the leg after a call that was certainly not made: the permission to send without a look-up is kept. */
export function unsent(marked: Leg, before: Leg): Leg {
  return { ...marked, resend: before.resend };
}

/** Returns the leg as it was before the worker took it, except for the account. A lease that ended stays counted. */
export function asBeforeClaim(before: Leg, taken: Leg, now: Date, seconds: number): Leg {
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

/** Returns the leg without its lease, to be worked on in `seconds`. Keeps the mark that the leg was sent. */
export function postponed(leg: Leg, remote: NetworkData | null, now: Date, seconds: number): Leg {
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
 * Returns the leg without its lease, because its worker got no answer from storage: to be worked on in `seconds`, and not
 * before a call that was begun is over. `callMs`: the longest time that a call to a network takes.
 */
export function givenBack(leg: Leg, now: Date, seconds: number, callMs: number) {
  const notBefore = [after(now, seconds), callEnd(leg, callMs)].toSorted()[1] ?? "";
  const call = openCall(leg);
  const back =
    call === undefined ? postponed(leg, null, now, seconds) : callPostponed(leg, call, now, 0);
  return { ...back, notBefore };
}

/** Returns the leg with this call of it put off, without its lease, to be worked on in `seconds`. */
export function callPostponed(leg: Leg, call: Call, now: Date, seconds: number): Leg {
  return { ...withCall(leg, waitingCall(call)), ...free, notBefore: after(now, seconds) };
}

/** Returns the time at which a call that was begun has certainly ended; the epoch if none was begun. */
function callEnd(leg: Leg, callMs: number): string {
  const call = openCall(leg);
  const phase = call?.state ?? leg.phase;
  const calledAt = call === undefined ? leg.calledAt : call.sentAt;
  const isCalled = phase === "sent" && calledAt !== null;
  return new Date(isCalled ? Date.parse(calledAt) + callMs : 0).toISOString();
}

/** Returns the leg with its outcome to be looked up in `seconds`, which counts as a retry. */
export function toReconcile(leg: Leg, remote: NetworkData | null, now: Date, seconds: number): Leg {
  return { ...postponed(leg, remote, now, seconds), retries: leg.retries + 1 };
}

/**
 * Returns the leg to wait for its next attempt, because the network certainly did not get this one. `sentAt` is the
 * time of an earlier call whose outcome is still unknown.
 */
export function toRetry(leg: Leg, now: Date, seconds: number, sentAt: string | null): Leg {
  return {
    ...leg,
    ...unclaimed,
    notBefore: after(now, seconds),
    retries: leg.retries + 1,
    sentAt,
    calledAt: sentAt === null ? null : leg.calledAt,
  };
}

/** Nobody has the leg. */
export const free = { claimId: null, leaseUntil: null, notBefore: null } as const;
const ended = { phase: "idle", ...free } as const;

/** Returns the leg as published, with its tokens captured. */
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
    reservation: { ...leg.reservation, state: "captured" },
    tokensCharged: leg.tokensCharged + leg.reservation.tokens,
  };
}

/** Returns the leg as failed, with its tokens released. It stays marked as sent only if the outcome is unknown. */
export function failed(leg: Leg, failure: LegFailure): Leg {
  return {
    ...leg,
    ...ended,
    status: "failed",
    error: problemOf(failure),
    resend: false,
    sentAt: failure.code === "outcome_unknown" ? leg.sentAt : null,
    calledAt: failure.code === "outcome_unknown" ? leg.calledAt : null,
    reservation: { ...leg.reservation, state: "released" },
    tokensReleased: leg.tokensReleased + leg.reservation.tokens,
  };
}
