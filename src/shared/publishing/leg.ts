import { invariant } from "../runtime/errors.ts";
import { isHeld } from "../runtime/lease.ts";
import {
  type Call,
  type CallKind,
  type CallState,
  endedCall,
  failedCall,
  isFinal,
  newCall,
} from "./call.ts";
import type { Connection } from "../connections/connections.ts";
import { type WalletAct, priceOf, utcDay } from "../ledger/ledger.ts";
import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { NetworkName } from "../networks/networks.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import {
  errorsOf,
  toLegProblem,
  warningsOf,
  toLegWarnings,
  type LegWarning,
  type LegProblem,
  type NetworkCheck,
} from "./problems.ts";
import { legDraft, type Post, type PostStatus } from "./post.ts";

/*
 * A leg is one network's part of a post, and a list of calls (`call.ts`). This file has its type, and how it begins, starts
 * and is retried; `publish/leg-attempt.ts` has what a worker's attempt makes of it. Both are pure functions: the clock is
 * handed in, and nothing is written. `leg-times.ts` says when the next attempt or look-up is due.
 *
 *   Status     Event                              Next status Written                   Tokens
 *   ---------- ---------------------------------- ----------- ------------------------- -------
 *   none       post accepted                      pending     firstLeg: key, account    reserve
 *   none       post accepted, scheduled           pending     firstLeg: key, account    -
 *   none       post accepted, a rule is broken    failed      firstLeg: error           -
 *   pending    post starts                        pending     started: account          reserve
 *   pending    post starts, a rule is broken      failed      started: error            -
 *   pending    post starts, too late or unpaid    failed      notStarted: error         -
 *   pending    post starts, nobody may publish    skipped     notStarted: error         -
 *   pending    post canceled                      skipped     canceled: error           -
 *   pending    platform is paced                  pending     startingAt: notBefore     -
 *   pending    its call is claimed                publishing  claimed: claim            -
 *   publishing its call is open again             pending     postponed: notBefore      -
 *   publishing its call is done                   succeeded   ended: result             settle
 *   publishing its call failed or stays unknown   failed      ended: error              release
 *   failed     owner retries                      pending     retried: round, resend    reserve
 *
 * "Its call" is the one that publishes: its state is the status (`legStatusOf`). What it costs is reserved before it
 * can be claimed (`reservation`), and settled or released by the transaction that ends it. `succeeded` and `skipped` are
 * final; only a retry changes a failed leg.
 */

export type LegStatus = "pending" | "publishing" | "succeeded" | "failed" | "skipped";

export interface LegAccount {
  readonly id: string;
  readonly username: string;
  /** Empty if the network doesn't tell it. */
  readonly url: string;
}

/** The tokens reserved for a leg. They are settled or released once, when the leg ends. */
export interface Reservation {
  readonly state: "none" | "open" | "settled" | "released";
  readonly tokens: number;
  readonly operation: WalletAct;
  /** UTC day of the reservation. */
  readonly day: string;
}

export interface Leg {
  readonly network: NetworkName;
  readonly claimId: string | null;
  readonly leaseUntil: string | null;
  readonly notBefore: string | null;
  /** Id of the acceptance or the retry that started the leg. */
  readonly round: string;
  readonly reservation: Reservation;
  readonly tokensSettled: number;
  readonly tokensReleased: number;
  readonly connectionId: string | null;
  readonly account: LegAccount | null;
  readonly warnings: readonly LegWarning[];
  /** The calls that publish, and those that follow them, in their order: of those that follow, the latest of each kind. */
  readonly calls: readonly [Call, ...Call[]];
}

/** Returns the last call that publishes, which decides what became of the leg. */
export function publishingCall({ calls }: Leg): Call {
  return calls.findLast(({ kind }) => kind === "publish") ?? calls[0];
}

/** Returns what the leg is known by where it uses something of its account: a quota, a text, the account itself. */
export function legKeyOf({ calls: [first] }: Leg): string {
  return first.key;
}

const STATUS_OF = {
  open: "pending",
  claimed: "publishing",
  waiting: "publishing",
  sent: "publishing",
  done: "succeeded",
  failed: "failed",
  unknown: "failed",
  skipped: "skipped",
} as const satisfies Record<CallState, LegStatus>;

/** Returns the leg's status, which the state of the call that publishes decides. */
export function legStatusOf(leg: Leg): LegStatus {
  const { state } = publishingCall(leg);
  const known: Partial<Record<string, LegStatus>> = STATUS_OF;
  // Safe: a later build's state is only shown to people.
  return known[state] ?? (state as LegStatus);
}

export function accountOn({ account: { id, username, url } }: Connection): LegAccount {
  return { id, username, url };
}

export function isEnded(leg: Leg): boolean {
  return isFinal(publishingCall(leg));
}

/** Returns the call that a worker makes next or is making, or undefined when all have ended. */
export function currentCall({ calls }: Leg): Call | undefined {
  return calls.find((call) => !isFinal(call));
}

/** Returns the current call of a leg that has ended. */
export function openCall(leg: Leg): Call | undefined {
  return isEnded(leg) ? currentCall(leg) : undefined;
}

export function callOf(leg: Leg): Call {
  const call = currentCall(leg);
  invariant(call !== undefined, "a call that is under way is not open");
  return call;
}

/** Reports whether the leg still has work: its publication, or a later call. */
export function isBusy(leg: Leg): boolean {
  return currentCall(leg) !== undefined;
}

export function latestCall({ calls }: Leg, kind: CallKind): Call | undefined {
  return calls.findLast((call) => call.kind === kind);
}

/** Reports whether the leg's post is still to be removed. */
export function isBeingRemoved(leg: Leg): boolean {
  const removal = latestCall(leg, "remove");
  return removal !== undefined && !isFinal(removal);
}

/** Returns the leg with this call in the place of the one that it comes from. */
export function withCall(leg: Leg, call: Call): Leg {
  const [publishing, ...later] = leg.calls;
  const after = (one: Call) => (one.key === call.key ? call : one);
  return { ...leg, calls: [after(publishing), ...later.map(after)] };
}

/** Returns the leg with a call that follows, in the place of an earlier one of its kind: the row stays small. */
export function withNewCall(leg: Leg, call: Call): Leg {
  const [first, ...others] = leg.calls;
  return { ...leg, calls: [first, ...others.filter(({ kind }) => kind !== call.kind), call] };
}

/**
 * Returns the state of a post with these legs. Skipped legs don't count. The post is `processing` while a leg has not
 * ended. A post with only skipped legs is `failed`, unless it was canceled.
 */
export function postStatus(legs: readonly Leg[]): PostStatus {
  const counted = legs.map(legStatusOf).filter((status) => status !== "skipped");
  if (!legs.every(isEnded)) return "processing";
  const succeeded = counted.filter((status) => status === "succeeded").length;
  if (succeeded === 0) return "failed";
  return succeeded === counted.length ? "succeeded" : "partial";
}

/** What a worker may do with a leg now. */
export type LegStep =
  | { readonly kind: "ended" }
  /** No tokens are reserved, because the post has not started. */
  | { readonly kind: "unreserved" }
  /** Another worker has the leg, or it is not due. The sweep or a delayed hint comes back to it. */
  | { readonly kind: "later"; readonly at: string }
  | { readonly kind: "claim"; readonly afterCrash: boolean };

export function nextLegStep(leg: Leg, now: Date): LegStep {
  if (!isBusy(leg)) return { kind: "ended" };
  if (!isEnded(leg) && leg.reservation.state !== "open") return { kind: "unreserved" };
  if (leg.leaseUntil !== null && isHeld(leg, now)) return { kind: "later", at: leg.leaseUntil };
  if (leg.notBefore !== null && leg.notBefore > now.toISOString())
    return { kind: "later", at: leg.notBefore };
  return { kind: "claim", afterCrash: leg.leaseUntil !== null };
}

function reserved(operation: "publish_leg" | "posts.retry_leg", now: Date): Reservation {
  return { state: "open", tokens: priceOf(operation), operation, day: utcDay(now) };
}

/** Makes a leg as it is accepted: pending with its tokens reserved, or failed, which reserves nothing. */
export function firstLeg(post: Post, check: NetworkCheck, now: Date): Leg {
  const { network, connection } = check;
  const [error] = errorsOf(check);
  const content = sha256Hex(JSON.stringify(legDraft(post.draft, network))).slice(0, 16);
  const starts = error === undefined;
  // A scheduled post reserves for its legs when it starts.
  const reserves = starts && post.status !== "scheduled";
  const call = newCall("publish", `${post.id}|${network}|${content}`, now);
  const leg: Leg = {
    network,
    claimId: null,
    leaseUntil: null,
    notBefore: null,
    round: post.id,
    reservation: {
      state: reserves ? "open" : "none",
      tokens: reserves ? priceOf("publish_leg") : 0,
      operation: "publish_leg",
      day: utcDay(now),
    },
    tokensSettled: 0,
    tokensReleased: 0,
    connectionId: connection?.id ?? null,
    account: connection === undefined ? null : accountOn(connection),
    warnings: toLegWarnings(warningsOf(check)),
    calls: [call],
  };
  return starts ? leg : withError(leg, toLegProblem(error), now);
}

/** Returns a leg as it fails by a rule. */
function withError(leg: Leg, error: LegProblem, now: Date): Leg {
  return withCall(leg, failedCall(publishingCall(leg), "failed", error, now));
}

/** Returns a pending leg as its post starts: with its tokens reserved, or failed by a rule that is broken now. */
export function started(leg: Leg, check: NetworkCheck | undefined, now: Date): Leg {
  const [error] = check === undefined ? [] : errorsOf(check);
  if (error !== undefined) return withError(leg, toLegProblem(error), now);
  const { connection } = check ?? {};
  return {
    ...leg,
    connectionId: connection?.id ?? null,
    account: connection === undefined ? null : accountOn(connection),
    reservation: reserved("publish_leg", now),
  };
}

/** Ends a leg that has reserved nothing, because its post doesn't start. */
export function notStarted(
  leg: Leg,
  { status: kind, code }: { readonly status: "skipped" | "failed"; readonly code: LegErrorCode },
  now: Date,
): Leg {
  return withCall(
    leg,
    endedCall(publishingCall(leg), { kind, failure: { code, networkCode: null } }, now),
  );
}

/** Returns a leg of a canceled post: skipped, unless it failed before. */
export function canceled(leg: Leg, now: Date): Leg {
  return isEnded(leg) ? leg : notStarted(leg, { status: "skipped", code: "canceled" }, now);
}

/** Returns a leg that begins at a time, or now for null. */
export function startingAt(leg: Leg, startAt: string | null): Leg {
  return { ...leg, notBefore: startAt };
}

/**
 * Returns a failed leg to be attempted again. Keeps what the network chose, and the call of unknown outcome is looked up
 * first. After a removal that is done nothing of it is left, and it begins with a new key: a network may remember the
 * old one, and answer with the post that is gone (Mastodon does, for an hour).
 */
export function retried(leg: Leg, round: string, now: Date): Leg {
  const before = publishingCall(leg);
  const { kind, key, attempts, lastAttemptAt, sentAt, calledAt, remote } = before;
  const known = { attempts, lastAttemptAt, sentAt, calledAt, remote, resend: sentAt !== null };
  const isRemoved = latestCall(leg, "remove")?.state === "done";
  const again = isRemoved
    ? { ...newCall(kind, `${key}|${round}`, now), attempts, lastAttemptAt }
    : { ...newCall(kind, key, now), ...known };
  return {
    ...leg,
    claimId: null,
    leaseUntil: null,
    notBefore: null,
    round,
    calls: [again],
    reservation: reserved("posts.retry_leg", now),
  };
}
