import { type BoundedValue, boundedFailure, boundedResult } from "../networks/contract/bounded.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import type { Network } from "../networks/contract/network.ts";
import type { Done, LegFailure } from "../networks/contract/outcome.ts";
import { problemOf, type LegProblem } from "./problems.ts";

/*
 * A leg is a list of calls. The last one that publishes decides the leg's status (`leg.ts`). The others follow it, one at
 * a time and in their order: a first comment, a removal. They never change the status. The call under way is
 * `currentCall`; the leg's claim (`claimId`, `leaseUntil`) is that of its worker. All kinds have the same states:
 *
 *   State          Event                                    Next state Written
 *   -------------- ---------------------------------------- ---------- -------------------------------------
 *   none           accepted, or asked for                   open       firstLeg, callAfter: key
 *   none           the same, and it can't be made           failed     endedCall: error
 *   open           worker claims                            claimed    claimedCall: attempts + 1
 *   open           the same, with an unknown outcome        sent       claimedCall: attempts + 1
 *   waiting        worker claims when it is due             claimed    claimedCall
 *   sent           worker claims when it is due             sent       claimedCall
 *   claimed, sent  lease ended, worker claims               as before  claimedCall: crashes + 1
 *   claimed        a part of its files is uploaded          as before  prepareFiles: remote, crashes 0
 *   sent           looked up: nothing had an effect         claimed    absentCall: sentAt null
 *   claimed, sent  the visible call is next                 sent       sentCall: sentAt
 *   sent           refused, which may be untrue             sent       refusedCall: refusal
 *   sent           certainly not made                       as before  unsentCall: sentAt as before
 *   claimed, sent  certainly not made, try again later      open       waitingCall: retries + 1
 *   claimed        the network works on the files           waiting    waitingCall
 *   sent           outcome not known, look it up later      sent       waitingCall: retries + 1
 *   claimed, sent  done                                     done       endedCall: result
 *   claimed, sent  refused, or its time is over             failed     endedCall: error
 *   sent           outcome stays unknown                    unknown    endedCall: error
 *   open           its post can't start                     failed     endedCall: error
 *   open           its post is canceled, or nobody may post skipped    endedCall: error
 *   open, claimed  a removal makes it needless              failed     withdrawn: error
 *   sent           a removal makes it needless              unknown    withdrawn: error
 *   failed,unknown owner retries the leg                    open       retried: round, resend
 *
 * Only what publishes comes back from `failed` and `unknown`, with the leg: another removal is another call, and a retry
 * of the leg drops the calls that followed.
 */

export type CallKind = keyof Network["calls"];

const OPEN_STATES = ["open", "claimed", "waiting", "sent"] as const;
const FINAL_STATES = ["done", "failed", "unknown", "skipped"] as const;
const KINDS = ["publish", "comment", "remove"] as const satisfies readonly CallKind[];

export type CallState = (typeof OPEN_STATES | typeof FINAL_STATES)[number];

const REFUSALS = ["rejected", "try_later", "prepare_again"] as const;

/**
 * What a network answered when it refused a call. Refusals lie: Instagram answers "Action is blocked" for posts that are
 * live (https://github.com/gitroomhq/postiz-app/pull/1681). So one that is no proof counts only once the network shows
 * nothing.
 */
export interface CallRefusal {
  readonly kind: (typeof REFUSALS)[number];
  readonly failure: BoundedValue<LegFailure>;
  readonly at: string;
  /** Whether the outcome of an earlier call is unknown too. The refusal says nothing about that one. */
  readonly isRepeat: boolean;
  /** What to prepare again from, once it is known that the call had no effect: the network refused what was prepared. */
  readonly remote: BoundedValue<NetworkData> | null;
}

/** A visible call, as its leg stores it. */
export interface Call {
  readonly kind: CallKind;
  /** The same for every attempt. The network's idempotency key derives from it. */
  readonly key: string;
  readonly state: CallState;
  /** When it was asked for: accepted, or retried. */
  readonly requestedAt: string;
  readonly attempts: number;
  /** Automatic retries since then. */
  readonly retries: number;
  /** Leases that ended without an outcome. */
  readonly crashes: number;
  readonly lastAttemptAt: string | null;
  /** When the first visible call of unknown outcome was made, or null. */
  readonly sentAt: string | null;
  /** When the latest of these calls was made. Its effect may show only later, also after a repeat was done. */
  readonly calledAt: string | null;
  /** The owner retried it with an unknown outcome: if it can't be looked up either, it is sent again. */
  readonly resend: boolean;
  /** What the network wants to know again of an earlier attempt, and of what publishes also later. */
  readonly remote: BoundedValue<NetworkData> | null;
  /** The refusal of the latest call, while it is not known whether that had an effect all the same. */
  readonly refusal: CallRefusal | null;
  /** The network's id of the post that it follows, where what publishes does not know it: it was found for this call. */
  readonly target: string | null;
  readonly result: BoundedValue<Pick<Done, "externalId" | "url">> | null;
  /** When it ended. */
  readonly at: string | null;
  readonly error: LegProblem | null;
}

/** A call whose leases ended this often without an outcome is given up, because it may be what crashes its workers. */
export const CRASHES_MAX = 8;

const FINAL: ReadonlySet<CallState> = new Set(FINAL_STATES);
const KNOWN: ReadonlySet<string> = new Set([...OPEN_STATES, ...FINAL_STATES, ...KINDS]);
const KNOWN_REFUSALS: ReadonlySet<string> = new Set(REFUSALS);

export function isFinal({ state }: Pick<Call, "state">): boolean {
  return FINAL.has(state);
}

/** Returns whether this build knows what the call is, how far, and how it was refused. */
export function isKnown({
  kind,
  state,
  refusal,
}: Pick<Call, "kind" | "state" | "refusal">): boolean {
  const isRefusalKnown = refusal === null || KNOWN_REFUSALS.has(refusal.kind);
  return KNOWN.has(kind) && KNOWN.has(state) && isRefusalKnown;
}

/** Returns whether what the call made may be visible. */
export function mayShow({ state }: Pick<Call, "state">): boolean {
  return state === "done" || state === "unknown";
}

export function newCall(kind: CallKind, key: string, now: Date): Call {
  return {
    kind,
    key,
    state: "open",
    requestedAt: now.toISOString(),
    attempts: 0,
    retries: 0,
    crashes: 0,
    lastAttemptAt: null,
    sentAt: null,
    calledAt: null,
    resend: false,
    remote: null,
    refusal: null,
    target: null,
    result: null,
    at: null,
    error: null,
  };
}

/** Returns a call that follows the one that publishes. `round` tells it from earlier ones of its kind. */
export function callAfter(publishing: Call, kind: CallKind, round: string, now: Date): Call {
  return newCall(kind, `${publishing.key}|${kind}|${round}`, now);
}

/** Returns the call as a worker takes it: in a new attempt, or in the one whose worker died, or that waited. */
export function claimedCall(call: Call, now: Date, afterCrash: boolean): Call {
  const state = call.sentAt === null ? "claimed" : "sent";
  if (afterCrash) return { ...call, state, crashes: call.crashes + 1 };
  // Media that were processed, or a look-up, belong to the attempt before.
  if (call.state !== "open") return { ...call, state };
  return { ...call, state, attempts: call.attempts + 1, lastAttemptAt: now.toISOString() };
}

/**
 * Returns the call with the sent record that is written before the visible call. A worker that finds it looks up the
 * outcome first. The sent record uses up the owner's permission to send without a look-up.
 */
export function sentCall(call: Call, now: Date): Call {
  const at = now.toISOString();
  const sentAt = call.sentAt ?? at;
  return { ...call, state: "sent", sentAt, calledAt: at, refusal: null, resend: false };
}

/** Returns a sent call that the network has refused, which may be untrue. */
export function refusedCall(
  call: Call,
  {
    kind,
    failure,
    remote,
  }: Pick<CallRefusal, "kind" | "remote"> & { readonly failure: LegFailure },
  { now, isRepeat }: { readonly now: Date; readonly isRepeat: boolean },
): Call {
  const at = now.toISOString();
  return { ...call, refusal: { kind, failure: boundedFailure(failure), at, isRepeat, remote } };
}

/** Returns a sent call that was certainly not made. What was known and permitted before still is. */
export function unsentCall(sent: Call, before: Call): Call {
  const { remote } = sent;
  return { ...before, remote, calledAt: before.sentAt === null ? null : sent.calledAt };
}

/** Returns a call that certainly had no effect and will have none. Nothing about it is unknown any more. */
export function absentCall(call: Call): Call {
  return { ...call, state: "claimed", sentAt: null, calledAt: null, refusal: null };
}

/**
 * What a call waits for: its next attempt, the look-up of an unknown outcome, or, after a `pause`, to go on where it is,
 * which is no retry: the network works on it, or storage did not answer.
 */
export type WaitsFor = "attempt" | "look" | "pause";

/**
 * The call was certainly not made (`attempt`), or its outcome is unknown (`look`). It waits by its schedule, and as long as
 * it was asked to. When its time is over, the failure ends it.
 */
export interface FailedWait {
  readonly kind: "wait";
  readonly waitsFor: "attempt" | "look";
  readonly failure: LegFailure;
  readonly seconds?: number | undefined;
  /** The network says that it is working on the call, so the first look-ups come earlier. */
  readonly isPoll?: true | undefined;
}

/** How a call waits. */
export type Wait =
  | FailedWait
  /**
   * The network works on the files, or the leg has to wait because its account is busy or its process stops. It waits
   * for exactly this long, which uses up nothing.
   */
  | { readonly kind: "wait"; readonly waitsFor: "pause" | "turn"; readonly seconds: number };

/** Returns the call as it waits. Attempts and looks count as retries. */
export function waitingCall(call: Call, waitsFor: WaitsFor): Call {
  const state = waitsFor === "attempt" ? "open" : call.sentAt === null ? "waiting" : "sent";
  return { ...call, state, retries: call.retries + (waitsFor === "pause" ? 0 : 1) };
}

/** How a call ended. `unknown`: nobody can tell whether it had its effect. */
export type CallEnd =
  | Pick<Done, "kind" | "externalId" | "url" | "differences">
  | { readonly kind: "failed" | "unknown" | "skipped"; readonly failure: LegFailure };

const over = (now: Date) => ({ at: now.toISOString(), error: null, resend: false });

/** Returns the call as it ends; with the whole sent record only if its outcome is unknown. */
export function endedCall(call: Call, end: CallEnd, now: Date): Call {
  if (end.kind !== "done") return failedCall(call, end.kind, problemOf(end.failure), now);
  // One call that is done is over. Of several, one that was lost may still arrive.
  const calledAt = call.calledAt === call.sentAt ? null : call.calledAt;
  const result = boundedResult(end);
  return { ...absentCall(call), ...over(now), state: "done", calledAt, result };
}

export function failedCall(
  call: Call,
  state: Exclude<CallEnd["kind"], "done">,
  error: LegProblem,
  now: Date,
): Call {
  const known = state === "unknown" ? call : absentCall(call);
  return { ...known, ...over(now), state, error };
}

/** Ends a call that no worker has, because the post is to be removed. */
export function withdrawn(call: Call, now: Date): Call {
  const isSent = call.sentAt !== null;
  const failure = { code: isSent ? "outcome_unknown" : "canceled", networkCode: null } as const;
  return endedCall(call, { kind: isSent ? "unknown" : "failed", failure }, now);
}
