import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import type { FollowUpCalls } from "../networks/contract/network.ts";
import type { FollowUpDone, LegFailure } from "../networks/contract/outcome.ts";
import { problemOf, type LegProblem } from "./problems.ts";

/*
 * A leg is a list of calls. The first one publishes, and its state is the leg's own (`leg.ts`). The others follow it, one
 * at a time and in their order: a first comment, a removal. They have a state of their own and never change the leg's.
 * While one is open, the leg's claim (`claimId`, `leaseUntil`, `notBefore`) is that of its worker.
 *
 *   State              Event                               Next state   Written
 *   ------------------ ----------------------------------- ------------ ----------------------------------------
 *   none               asked for                           open         newCall: key
 *   open, waiting      worker claims when it is due        claimed      claimedCall: attempts + 1
 *   sent               worker claims when it is due        sent         claimedCall: attempts + 1
 *   claimed, sent      lease ended, worker claims          the same     claimedCall: crashes + 1
 *   claimed, sent      the visible call is next            sent         sentCall: sentAt
 *   claimed, sent      certainly not done, try again later waiting      waitingCall: sentAt null
 *   sent               outcome not known, look later       sent         waitingCall: state
 *   claimed, sent      done                                done         doneCall: result
 *   claimed, sent      refused, or its time is over        failed       failedCall: error
 *   sent               outcome stays unknown               unknown      failedCall: error
 *   open, waiting      a removal makes it needless         failed       withdrawn: error
 *   sent               a removal makes it needless         unknown      withdrawn: error
 *
 * `done`, `failed` and `unknown` are final. Another removal is another call. A retry of the leg drops its calls.
 */

/** A kind of call that follows a published post. */
type FollowUpKind = keyof FollowUpCalls;

type CallState = "open" | "claimed" | "waiting" | "sent" | "done" | "failed" | "unknown";

/** A visible call that follows the one that publishes. */
export interface Call {
  readonly kind: FollowUpKind;
  /** Stable over every attempt: what the network knows repeats by derives from it. */
  readonly key: string;
  readonly state: CallState;
  readonly requestedAt: string;
  readonly attempts: number;
  /** Leases that ended without an outcome. */
  readonly crashes: number;
  /** When the latest visible call was made whose outcome is unknown; null when there is none. */
  readonly sentAt: string | null;
  /** The network's id of the post, where the leg does not know it: it was found for this call. */
  readonly target: string | null;
  /** What the network wants to know again of an earlier attempt. */
  readonly remote: NetworkData | null;
  readonly result: Pick<FollowUpDone, "externalId" | "url"> | null;
  /** When it ended. */
  readonly at: string | null;
  readonly error: LegProblem | null;
}

/** A call whose leases ended this often without an outcome is given up, as a leg is. */
export const CALL_CRASHES_MAX = 8;

const FINAL: ReadonlySet<CallState> = new Set(["done", "failed", "unknown"]);

export function isFinal({ state }: Pick<Call, "state">): boolean {
  return FINAL.has(state);
}

/** Returns a call that was asked for. `round` tells it from earlier ones of its kind. */
export function newCall(
  kind: FollowUpKind,
  { legKey, round, now }: { readonly legKey: string; readonly round: string; readonly now: Date },
): Call {
  return {
    kind,
    key: `${legKey}|${kind}|${round}`,
    state: "open",
    requestedAt: now.toISOString(),
    attempts: 0,
    crashes: 0,
    sentAt: null,
    target: null,
    remote: null,
    result: null,
    at: null,
    error: null,
  };
}

export function claimedCall(call: Call, afterCrash: boolean): Call {
  return {
    ...call,
    state: call.sentAt === null ? "claimed" : "sent",
    attempts: call.attempts + (afterCrash ? 0 : 1),
    crashes: call.crashes + (afterCrash ? 1 : 0),
  };
}

/** Returns the call with the marker that is written before the visible call: who finds it looks the outcome up first. */
export function sentCall(call: Call, now: Date): Call {
  return { ...call, state: "sent", sentAt: now.toISOString() };
}

/** Returns the call for its next attempt, or its next look-up where an outcome is unknown. */
export function waitingCall(call: Call): Call {
  return { ...call, state: call.sentAt === null ? "waiting" : "sent" };
}

/** How a call ended. `isUnknown`: nobody can tell whether it had its effect. */
export type CallEnd =
  | Pick<FollowUpDone, "kind" | "externalId" | "url">
  | { readonly kind: "failed"; readonly failure: LegFailure; readonly isUnknown?: true };

/** What is said of a call where the words of `LEG_ERRORS`, which are about publishing, would be wrong. */
const WORDS: Readonly<
  Record<FollowUpKind, Partial<Record<LegErrorCode, Pick<LegProblem, "message" | "remediation">>>>
> = {
  comment: {
    canceled: {
      message: "The post was to be removed before its first comment was written.",
      remediation: "Nothing: the comment would be gone, too.",
    },
    network_unavailable: {
      message: "The network did not take the first comment in time; it was not written.",
      remediation: "Write the comment by hand.",
    },
    outcome_unknown: {
      message: "The network did not confirm the first comment: it may be there.",
      remediation: "Look at the post; write the comment by hand if it is not there.",
    },
    permission_missing: {
      message: "The account was linked without the permission that comments need.",
      remediation: "Reconnect the account and grant every permission that is asked for.",
    },
  },
  remove: {
    connection_missing: {
      message: "The account that published the post is no longer linked.",
      remediation: "Link the account that published the post, then remove the post again.",
    },
    connection_needs_reauth: {
      message: "The network no longer accepts the stored authorisation of this account.",
      remediation: "Reconnect the account on the connect page, then remove the post again.",
    },
    feature_unsupported: {
      message: "The network can't remove this post for the relay.",
      remediation: "Remove it by hand.",
    },
    network_unavailable: {
      message: "The network did not confirm the removal within an hour.",
      remediation: "Look at the post; if it is still there, remove it again.",
    },
    outcome_unknown: {
      message: "Nobody can tell whether the post is live, so it could not be removed.",
      remediation: "Look at the account; remove the post by hand if it is there.",
    },
    permission_missing: {
      message: "The account was linked without the permission that removing needs.",
      remediation: "Reconnect the account, grant every permission, then remove the post again.",
    },
    internal_error: {
      message: "Removing the post failed for a reason on our side.",
      remediation: "Remove it again; contact support with the post's id if that fails, too.",
    },
  },
};

export function endedCall(call: Call, end: CallEnd, now: Date): Call {
  const at = now.toISOString();
  if (end.kind === "done") {
    const { externalId, url } = end;
    return { ...call, state: "done", at, sentAt: null, error: null, result: { externalId, url } };
  }
  const state = end.isUnknown === true ? "unknown" : "failed";
  const { failure } = end;
  return {
    ...call,
    state,
    at,
    error: problemOf({ ...WORDS[call.kind][failure.code], ...failure }),
  };
}

/** Returns a call that nobody works on as it ends because the post is to be removed. */
export function withdrawn(call: Call, now: Date): Call {
  const isUnknown = call.sentAt !== null;
  return endedCall(
    call,
    isUnknown
      ? { kind: "failed", isUnknown, failure: { code: "outcome_unknown", networkCode: null } }
      : { kind: "failed", failure: { code: "canceled", networkCode: null } },
    now,
  );
}

/** How long calls are repeated while the network does not take them. */
const REPEATED_MINUTES = { comment: 10, remove: 60 } as const;
const FIRST_PAUSE_SECONDS = 5;
const PAUSE_SECONDS_MAX = 5 * 60;
/** Pauses differ by up to this share, so that what failed together is not repeated together. */
const JITTER = 0.2;

/**
 * Returns the seconds until the next attempt or look-up; null when the time of the call is over. `random` is in [0, 1).
 */
export function nextCallSeconds(
  { kind, attempts, requestedAt }: Call,
  now: Date,
  random: number,
  askedSeconds = 0,
): number | null {
  const leftMs = Date.parse(requestedAt) + REPEATED_MINUTES[kind] * 60_000 - now.getTime();
  const base = Math.min(PAUSE_SECONDS_MAX, FIRST_PAUSE_SECONDS * 2 ** Math.max(0, attempts - 1));
  const seconds = Math.max(base * (1 - JITTER + 2 * JITTER * random), askedSeconds);
  if (leftMs <= 0) return null;
  // The last attempt comes when the time is over, and not before the network asked for it.
  return seconds * 1000 <= leftMs ? seconds : askedSeconds * 1000 > leftMs ? null : leftMs / 1000;
}
