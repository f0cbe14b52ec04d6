import type { Connection } from "../../connections/connections.ts";
import { boundedWait } from "../../networks/contract/bounded.ts";
import { isTypeGuess, isTypeRule } from "../../networks/contract/media-check.ts";
import { COMMON_RULES, FIRST_COMMENT_LACKS, type Problem } from "../../networks/contract/rules.ts";
import {
  claimedCall,
  endedCall,
  type Call,
  type CallEnd,
  type Wait,
  type WaitsFor,
  waitingCall,
} from "../call.ts";
import { nextWait, type Schedule } from "../leg-times.ts";
import { accountOn, callOf, withCall, type Leg } from "../leg.ts";
import { toLegWarnings } from "../problems.ts";

/*
 * What a worker's attempt makes of a leg: its claim, and the current call, whose states are in `call.ts`. A leg with a
 * claim (`claimId`, `leaseUntil`) belongs to one worker until the lease ends.
 */

/** Returns the time in so many seconds, which a network may have named. */
const secondsAfter = (now: Date, seconds: number) =>
  new Date(now.getTime() + boundedWait(seconds) * 1000).toISOString();

interface Claim {
  readonly id: string;
  readonly now: Date;
  readonly leaseSeconds: number;
  readonly afterCrash: boolean;
}

/** Returns the leg with its next call claimed by a worker until the lease ends. */
export function claimed(leg: Leg, { id: claimId, now, leaseSeconds, afterCrash }: Claim): Leg {
  const taken = withCall(leg, claimedCall(callOf(leg), now, afterCrash));
  return { ...taken, claimId, leaseUntil: secondsAfter(now, leaseSeconds), notBefore: null };
}

/** Returns the leg with a lease that starts now, for a step that takes longer than one lease. */
export function renewed(leg: Leg, now: Date, leaseSeconds: number): Leg {
  return { ...leg, leaseUntil: secondsAfter(now, leaseSeconds) };
}

/**
 * Returns the leg with a lease that ends with the worker's process, so that another worker can take over immediately.
 * `callMs` is the longest duration of a call to a network. A call that was begun keeps its lease until then, even if
 * the process ends earlier: a worker that looked before that could miss the post and send it twice.
 */
export function endingAt(leg: Leg, endsAt: Date, callMs: number): Leg {
  const { leaseUntil } = leg;
  const end = [endsAt.toISOString(), callEnd(leg, callMs)].toSorted()[1] ?? "";
  return leaseUntil !== null && end < leaseUntil ? { ...leg, leaseUntil: end } : leg;
}

/** Returns the leg on the account that is linked now. `remote` is what the network chose again for that account. */
export function movedTo(leg: Leg, linked: Connection, remote: Call["remote"]): Leg {
  const moved = withCall(leg, { ...callOf(leg), remote });
  return { ...moved, connectionId: linked.id, account: accountOn(linked) };
}

/** The columns of a leg that no worker has. */
export const free = { claimId: null, leaseUntil: null, notBefore: null } as const;

/** Returns the leg as it was before the worker took it, except for the account and what was prepared. */
export function asBeforeClaim(before: Leg, taken: Leg, now: Date, seconds: number): Leg {
  const { connectionId, account, warnings } = taken;
  // A lease that ended stays counted.
  const { crashes, remote } = callOf(taken);
  const call = callOf(before);
  const waits = call.state === "claimed" ? ({ state: "waiting" } as const) : {};
  const back = withCall(before, { ...call, ...waits, crashes, remote });
  return {
    ...back,
    ...free,
    notBefore: secondsAfter(now, seconds),
    connectionId,
    account,
    warnings,
  };
}

/** Returns the leg without its lease, due in `seconds`. The sent record of a call stays. */
export function postponed(leg: Leg, waitsFor: WaitsFor, now: Date, seconds: number): Leg {
  const waiting = withCall(leg, waitingCall(callOf(leg), waitsFor));
  return { ...waiting, ...free, notBefore: secondsAfter(now, seconds) };
}

/** Returns the leg as it waits; undefined when the time of its call is over. `before`: the leg before the claim. */
export function waiting(
  leg: Leg,
  wait: Wait,
  { before, ...schedule }: Schedule & { readonly before: Leg },
): Leg | undefined {
  const { now } = schedule;
  if ("failure" in wait) {
    const next = nextWait(callOf(leg), wait, schedule);
    return next && postponed(leg, next.waitsFor, now, next.seconds);
  }
  return wait.waitsFor === "turn"
    ? asBeforeClaim(before, leg, now, wait.seconds)
    : postponed(leg, wait.waitsFor, now, wait.seconds);
}

/**
 * Returns the leg without its lease, because its worker got no answer from storage. It is due in `seconds`, but not
 * before a call that was begun has ended. `callMs` is the longest duration of a call to a network.
 */
export function givenBack(leg: Leg, now: Date, seconds: number, callMs: number) {
  const notBefore = [secondsAfter(now, seconds), callEnd(leg, callMs)].toSorted()[1] ?? "";
  return { ...postponed(leg, "pause", now, 0), notBefore };
}

/** Returns when a call that was begun has certainly ended, or the epoch if none was begun. */
function callEnd(leg: Leg, callMs: number): string {
  const { state, calledAt } = callOf(leg);
  const isCalled = state === "sent" && calledAt !== null;
  return new Date(isCalled ? Date.parse(calledAt) + callMs : 0).toISOString();
}

/** Returns the leg with what was reserved for it settled if it is done, and released if not. */
function endReservation(leg: Leg, isDone: boolean): Leg {
  const { tokens } = leg.reservation;
  const reservation = { ...leg.reservation, state: isDone ? "settled" : "released" } as const;
  return isDone
    ? { ...leg, reservation, tokensSettled: leg.tokensSettled + tokens }
    : { ...leg, reservation, tokensReleased: leg.tokensReleased + tokens };
}

/** Returns the leg with warnings about what publishing changes. Each rule is added once, even if repeated. */
export function withWarnings(leg: Leg, found: readonly Problem[]): Leg {
  const known = new Set(leg.warnings.map(({ rule }) => rule));
  const added = toLegWarnings(found).filter(({ rule }) => !known.has(rule));
  return added.length === 0 ? leg : { ...leg, warnings: [...leg.warnings, ...added] };
}

/** Returns the leg without warnings that were guesses by its files' names, now that the files were read. */
export function withoutGuesses(leg: Leg): Leg {
  const warnings = leg.warnings.filter(({ rule }) => !isTypeGuess(leg.network, rule));
  return warnings.length === leg.warnings.length ? leg : { ...leg, warnings };
}

/**
 * Returns the leg with the call under way ended, without its lease. If the call publishes, what was reserved for it is
 * settled or released.
 */
export function ended(leg: Leg, call: Call, end: CallEnd, now: Date): Leg {
  const last = endedCall(call, end, now);
  // A file that is refused for its type is told about once.
  const isTypeKnown = end.kind !== "done" && isTypeRule(leg.network, end.failure.rule);
  const told = isTypeKnown ? withoutGuesses(leg) : leg;
  const after = { ...withCall(told, last), ...free };
  switch (last.kind) {
    case "publish":
      return end.kind === "done"
        ? withWarnings(endReservation(after, true), end.differences ?? [])
        : endReservation(after, false);
    case "comment": {
      const { error, state } = last;
      if (error === null) return after;
      const isUnavailable =
        error.rule === `${leg.network}.${FIRST_COMMENT_LACKS.feature_unsupported}`;
      const isPermission = error.code === "permission_missing";
      const ended = state === "unknown" ? "unknown" : "failed";
      const what = isUnavailable ? "unavailable" : isPermission ? "permission" : ended;
      const rule = `${leg.network}.firstComment.${what}`;
      const field = `platformOptions.${leg.network}.firstComment`;
      const known = COMMON_RULES[`firstComment.${what}`];
      return withWarnings(after, [{ ...known, rule, values: {}, field, mediaIndex: null }]);
    }
    case "remove":
      return after;
  }
}
