import type { NetworkData } from "../networks/contract/draft.ts";
import type { FollowUpCalls } from "../networks/contract/network.ts";
import type { FollowUpDone, LegFailure } from "../networks/contract/outcome.ts";
import { problemOf, type LegProblem } from "./problems.ts";

/*
 * A leg is a list of calls. The first one publishes: its state is in the leg's own columns, and decides the leg's status
 * (`leg.ts`). The others follow it, one at a time and in their order: a first comment, a removal. They are in the leg's
 * list `calls`, and never change its status. The call under way is `currentCall`; the leg's claim (`claimId`, `leaseUntil`)
 * is that of its worker. All kinds have the same states:
 *
 *   State          Event                                    Next state Written
 *   -------------- ---------------------------------------- ---------- -------------------------------------
 *   none           accepted, or asked for                   open       firstLeg, newCall: key
 *   open           worker claims                            claimed    claimedCall: attempts + 1
 *   open           the same, with an unknown outcome        sent       claimedCall: attempts + 1
 *   waiting        worker claims when it is due             claimed    claimedCall
 *   sent           worker claims when it is due             sent       claimedCall
 *   claimed, sent  lease ended, worker claims               as before  claimedCall: crashes + 1
 *   sent           looked up: nothing had an effect         claimed    absentCall: sentAt null
 *   claimed, sent  the visible call is next                 sent       sentCall: sentAt
 *   sent           certainly not made                       as before  unsentCall: sentAt as before
 *   claimed, sent  certainly not made, try again later      open       waitingCall: retries + 1
 *   claimed        the network works on the files           waiting    waitingCall
 *   sent           outcome not known, look it up later      sent       waitingCall: retries + 1
 *   claimed, sent  done                                     done       ended: result
 *   claimed, sent  refused, or its time is over             failed     ended: error
 *   sent           outcome stays unknown                    unknown    ended: error
 *   open, claimed  a removal makes it needless              failed     withdrawn: error
 *   sent           a removal makes it needless              unknown    withdrawn: error
 *   failed,unknown owner retries what publishes             open       retried: round, resend
 *
 * The others don't come back from `done`, `failed` and `unknown`: another removal is another call, and a retry of the leg
 * drops its calls.
 */

/** A kind of call that follows a published post. */
type LaterKind = keyof FollowUpCalls;

type CallState = "open" | "claimed" | "waiting" | "sent" | "done" | "failed" | "unknown";

/** What every visible call has. */
interface AnyCall {
  /** Stable over every attempt: what the network knows repeats by derives from it. */
  readonly key: string;
  readonly state: CallState;
  readonly attempts: number;
  /** Leases that ended without an outcome. */
  readonly crashes: number;
  /** When a visible call was made whose outcome is unknown; null when there is none. */
  readonly sentAt: string | null;
  /** What the network wants to know again of an earlier attempt. */
  readonly remote: NetworkData | null;
}

/** The call that publishes, as the leg's columns have it while it is under way (`publicationOf`). */
export interface Publication extends AnyCall {
  readonly kind: "publish";
  readonly state: "open" | "claimed" | "waiting" | "sent";
  /** Automatic retries since it was accepted or retried. */
  readonly retries: number;
  /** When the latest visible call was made, where the outcome of one is unknown; `sentAt` is the time of the first. */
  readonly calledAt: string | null;
  /** The caller retried a leg of unknown outcome: if it can't be looked up either, it is sent again. */
  readonly resend: boolean;
  readonly lastAttemptAt: string | null;
}

/** A visible call that follows the one that publishes, as it is stored in the leg's list. */
export interface LaterCall extends AnyCall {
  readonly kind: LaterKind;
  readonly requestedAt: string;
  /** The network's id of the post, where the leg does not know it: it was found for this call. */
  readonly target: string | null;
  readonly result: Pick<FollowUpDone, "externalId" | "url"> | null;
  /** When it ended. */
  readonly at: string | null;
  readonly error: LegProblem | null;
}

export type Call = Publication | LaterCall;

/** A call whose leases ended this often without an outcome is given up, because it may be what crashes its workers. */
export const CRASHES_MAX = 8;

const FINAL: ReadonlySet<CallState> = new Set(["done", "failed", "unknown"]);

export function isFinal({ state }: Pick<LaterCall, "state">): boolean {
  return FINAL.has(state);
}

/** Returns a call that was asked for. `round` tells it from earlier ones of its kind. */
export function newCall(
  kind: LaterKind,
  { legKey, round, now }: { readonly legKey: string; readonly round: string; readonly now: Date },
): LaterCall {
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

/**
 * Returns the call as a worker takes it: in a new attempt, or in the same one where its worker died, or where a call that
 * publishes waited for media or a look-up.
 */
export function claimedCall(call: Call, now: Date, afterCrash: boolean): Call {
  const crashes = call.crashes + (afterCrash ? 1 : 0);
  const state = call.sentAt === null ? "claimed" : "sent";
  // Media that were processed, or a look-up, belong to the attempt that publishes.
  const begins = !afterCrash && (call.kind !== "publish" || call.state === "open");
  if (!begins) return { ...call, state, crashes };
  const attempts = call.attempts + 1;
  return call.kind === "publish"
    ? { ...call, state, attempts, lastAttemptAt: now.toISOString() }
    : { ...call, state, attempts };
}

/**
 * Returns the call with the marker that is written before the visible call: who finds it looks the outcome up first. Uses
 * up the owner's permission to send without a look-up.
 */
export function sentCall(call: Call, now: Date): Call {
  const at = now.toISOString();
  return call.kind === "publish"
    ? { ...call, state: "sent", sentAt: call.sentAt ?? at, calledAt: at, resend: false }
    : { ...call, state: "sent", sentAt: at };
}

/** Returns a marked call that was certainly not made: what was known before, and permitted, still is. */
export function unsentCall(marked: Call, before: Call): Call {
  const { remote } = marked;
  if (before.kind !== "publish" || marked.kind !== "publish") return { ...before, remote };
  return { ...before, remote, calledAt: before.sentAt === null ? null : marked.calledAt };
}

/** Returns a call that certainly had no effect, and will have none: all that was made of it is known. */
export function absentCall(call: Call): Call {
  const known = { state: "claimed", sentAt: null } as const;
  return call.kind === "publish" ? { ...call, ...known, calledAt: null } : { ...call, ...known };
}

/** What a call waits for: its next attempt, the look-up of an unknown outcome, or, which is no retry, the network or storage. */
export type WaitsFor = "attempt" | "look" | "network";

/** How a call waits. */
export type Wait =
  /**
   * The call was certainly not made (`attempt`), or its outcome is unknown (`look`). It waits by its schedule, and as long
   * as it was asked to. When its time is over, the failure ends it.
   */
  | {
      readonly kind: "wait";
      readonly waitsFor: "attempt" | "look";
      readonly failure: LegFailure;
      readonly seconds?: number | undefined;
      /** The network says that it works on the call: it is asked earlier at first. */
      readonly isPoll?: true | undefined;
    }
  /**
   * The network works on the files, or it is not the leg's turn: its account is busy, its process stops. It waits for
   * exactly so long, which uses up nothing.
   */
  | {
      readonly kind: "wait";
      readonly waitsFor: "network" | "turn";
      readonly seconds: number;
    };

/** Returns the call as it waits. Attempts and looks count as retries of the call that publishes. */
export function waitingCall(call: Call, waitsFor: WaitsFor): Call {
  const state = waitsFor === "attempt" ? "open" : call.sentAt === null ? "waiting" : "sent";
  if (call.kind !== "publish") return { ...call, state };
  return { ...call, state, retries: call.retries + (waitsFor === "network" ? 0 : 1) };
}

/** How a call ended. `isUnknown`: nobody can tell whether it had its effect. */
export type CallEnd =
  | Pick<FollowUpDone, "kind" | "externalId" | "url">
  | { readonly kind: "failed"; readonly failure: LegFailure; readonly isUnknown?: true };

export function endedCall(call: LaterCall, end: CallEnd, now: Date): LaterCall {
  // What the network wanted to know again is of no use any more.
  const last = { ...call, at: now.toISOString(), remote: null };
  if (end.kind === "done") {
    const { externalId, url } = end;
    return { ...last, state: "done", sentAt: null, error: null, result: { externalId, url } };
  }
  const state = end.isUnknown === true ? "unknown" : "failed";
  return { ...last, state, error: problemOf(end.failure, call.kind) };
}

/** Returns a call that nobody works on as it ends because the post is to be removed. */
export function withdrawn(call: LaterCall, now: Date): LaterCall {
  const isUnknown = call.sentAt !== null;
  return endedCall(
    call,
    isUnknown
      ? { kind: "failed", isUnknown, failure: { code: "outcome_unknown", networkCode: null } }
      : { kind: "failed", failure: { code: "canceled", networkCode: null } },
    now,
  );
}
