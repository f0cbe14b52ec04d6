import { invariant } from "../runtime/errors.ts";
import { isHeld } from "../runtime/lease.ts";
import { type Call, isFinal, type LaterCall, type Publication } from "./call.ts";
import type { Connection } from "../connections/connections.ts";
import { type Operation, priceOf, utcDay } from "../core/core.ts";
import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import {
  errorsOf,
  problemOf,
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
 *   publishing its call is done                   succeeded   ended: id, url            capture
 *   publishing its call failed or stays unknown   failed      ended: error              release
 *   failed     owner retries                      pending     retried: round, resend    reserve
 *
 * "Its call" is the one that publishes, whose state is in `phase` while the leg is `publishing`. What it costs is reserved
 * before it can be claimed (`reservation`), and captured or released by the transaction that ends it. `succeeded` and
 * `skipped` are final; only a retry changes a failed leg.
 */

export type LegStatus = "pending" | "publishing" | "succeeded" | "failed" | "skipped";

export interface LegAccount {
  readonly id: string;
  readonly username: string;
  readonly url: string;
}

/** The tokens reserved for a leg. They are captured or released once, when the leg ends. */
export interface Reservation {
  readonly state: "none" | "open" | "captured" | "released";
  readonly tokens: number;
  readonly operation: Operation;
  /** UTC day on which they were reserved. */
  readonly day: string;
}

/**
 * `idle`: nobody works on it. `claimed`: a worker owns it until `leaseUntil`. `waiting`: the network processes media,
 * look again at `notBefore`. `sent`: a visible call was made or is being made; its outcome is not known.
 */
export type LegPhase = "idle" | "claimed" | "waiting" | "sent";

export interface Leg {
  readonly network: NetworkName;
  readonly status: LegStatus;
  readonly phase: LegPhase;
  /** The same for every attempt with this content: the network's idempotency key derives from it. */
  readonly key: string;
  readonly claimId: string | null;
  readonly leaseUntil: string | null;
  readonly notBefore: string | null;
  /** Id of the acceptance or the retry that started the leg. */
  readonly round: string;
  readonly attempts: number;
  /** Automatic retries since it was accepted or retried. */
  readonly retries: number;
  /** Leases that ended without a settled leg. */
  readonly crashes: number;
  /** When the first visible call was made whose outcome is unknown; null when there is none. */
  readonly sentAt: string | null;
  /** When the latest such call was made. Its effect may show only later. */
  readonly calledAt: string | null;
  /** The caller retried a leg of unknown outcome: if it can't be looked up either, the leg is sent again. */
  readonly resend: boolean;
  readonly remote: NetworkData | null;
  readonly reservation: Reservation;
  readonly tokensCharged: number;
  readonly tokensReleased: number;
  readonly connectionId: string | null;
  readonly account: LegAccount | null;
  readonly networkPostId: string | null;
  readonly url: string | null;
  readonly publishedAt: string | null;
  readonly lastAttemptAt: string | null;
  readonly error: LegProblem | null;
  readonly warnings: readonly LegWarning[];
  /** The calls that follow the one that publishes, in their order: the latest of each kind. */
  readonly calls: readonly LaterCall[];
}

export function accountOn({ account: { id, username, url } }: Connection): LegAccount {
  return { id, username, url };
}

export function isEnded(leg: Leg): boolean {
  return leg.status === "succeeded" || leg.status === "failed" || leg.status === "skipped";
}

/** Returns the call that publishes, which the leg's own columns have. */
function publicationOf(leg: Leg): Publication {
  const { key, phase, attempts, retries, crashes, sentAt, calledAt, resend, remote } = leg;
  const state = phase === "idle" ? "open" : phase;
  const { lastAttemptAt } = leg;
  const own = { retries, calledAt, resend, lastAttemptAt };
  return { kind: "publish", key, state, attempts, crashes, sentAt, remote, ...own };
}

/** Returns the later call of an ended leg that is next; undefined when there is nothing left to call. */
export function openCall(leg: Leg): LaterCall | undefined {
  return isEnded(leg) ? leg.calls.find((call) => !isFinal(call)) : undefined;
}

/** Returns the call that a worker makes next, or is making; undefined when all are final. */
export function currentCall(leg: Leg): Call | undefined {
  return isEnded(leg) ? openCall(leg) : publicationOf(leg);
}

/** Returns the call that is under way. */
export function callOf(leg: Leg): Call {
  const call = currentCall(leg);
  invariant(call !== undefined, "a call that is under way is not open");
  return call;
}

/** Returns whether something of the leg is left to do: its publication, or a call that follows it. */
export function isBusy(leg: Leg): boolean {
  return currentCall(leg) !== undefined;
}

/** Returns the latest call of a kind. */
export function latestCall({ calls }: Leg, kind: LaterCall["kind"]): LaterCall | undefined {
  return calls.findLast((call) => call.kind === kind);
}

/** Returns whether the leg's post is still to be taken down. */
export function isBeingRemoved(leg: Leg): boolean {
  const removal = latestCall(leg, "remove");
  return removal !== undefined && !isFinal(removal);
}

/** Returns the leg with another call to be made. It takes the place of an earlier one of its kind: the row stays small. */
export function withNewCall(leg: Leg, call: LaterCall): Leg {
  return { ...leg, calls: [...leg.calls.filter(({ kind }) => kind !== call.kind), call] };
}

/** Returns the leg with this state of one of its calls. */
export function withCall(leg: Leg, call: Call): Leg {
  if (call.kind !== "publish")
    return { ...leg, calls: leg.calls.map((one) => (one.key === call.key ? call : one)) };
  const { kind: _kind, state, ...columns } = call;
  return state === "open"
    ? { ...leg, ...columns, status: "pending", phase: "idle" }
    : { ...leg, ...columns, status: "publishing", phase: state };
}

/**
 * Returns the state of a post with these legs. Skipped legs don't count. The post is `processing` while a leg has not
 * ended; a post of skipped legs alone is `failed`, unless it was canceled.
 */
export function postStatus(legs: readonly Leg[]): PostStatus {
  const counted = legs.filter((leg) => leg.status !== "skipped");
  if (counted.some((leg) => !isEnded(leg))) return "processing";
  const succeeded = counted.filter((leg) => leg.status === "succeeded").length;
  if (succeeded === 0) return "failed";
  return succeeded === counted.length ? "succeeded" : "partial";
}

/** What a worker may do with a leg now. */
export type LegStep =
  | { readonly kind: "ended" }
  /** No tokens are reserved: the post has not started. */
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

/** Returns a leg as it is accepted: pending with its tokens reserved, or failed without a charge. */
export function firstLeg(post: Post, check: NetworkCheck, now: Date): Leg {
  const { network, connection } = check;
  const [error] = errorsOf(check);
  const content = sha256Hex(JSON.stringify(legDraft(post.draft, network))).slice(0, 16);
  const starts = error === undefined;
  // The legs of a scheduled post are paid for when it starts.
  const reserves = starts && post.status !== "scheduled";
  return {
    network,
    status: starts ? "pending" : "failed",
    phase: "idle",
    key: `${post.id}|${network}|${content}`,
    claimId: null,
    leaseUntil: null,
    notBefore: null,
    round: post.id,
    attempts: 0,
    retries: 0,
    crashes: 0,
    sentAt: null,
    calledAt: null,
    resend: false,
    remote: null,
    reservation: {
      state: reserves ? "open" : "none",
      tokens: reserves ? priceOf("publish_leg") : 0,
      operation: "publish_leg",
      day: utcDay(now),
    },
    tokensCharged: 0,
    tokensReleased: 0,
    connectionId: connection?.id ?? null,
    account: connection === undefined ? null : accountOn(connection),
    networkPostId: null,
    url: null,
    publishedAt: null,
    lastAttemptAt: null,
    error: error === undefined ? null : toLegProblem(error),
    warnings: toLegWarnings(warningsOf(check)),
    calls: [],
  };
}

/** Returns a pending leg as its post starts: with its tokens reserved, or failed by a rule that is broken now. */
export function started(leg: Leg, check: NetworkCheck | undefined, now: Date): Leg {
  const [error] = check === undefined ? [] : errorsOf(check);
  if (error !== undefined) return { ...leg, status: "failed", error: toLegProblem(error) };
  const { connection } = check ?? {};
  return {
    ...leg,
    connectionId: connection?.id ?? null,
    account: connection === undefined ? null : accountOn(connection),
    reservation: reserved("publish_leg", now),
  };
}

/** Returns a leg as it ends, without a charge, because its post does not start. */
export function notStarted(leg: Leg, status: "skipped" | "failed", code: LegErrorCode): Leg {
  return { ...leg, status, error: problemOf({ code, networkCode: null }) };
}

/** Returns a leg of a canceled post: skipped, unless it failed before. */
export function canceled(leg: Leg): Leg {
  return isEnded(leg) ? leg : notStarted(leg, "skipped", "canceled");
}

/** Returns a leg that begins at a time; null for at once. */
export function startingAt(leg: Leg, startAt: string | null): Leg {
  return { ...leg, notBefore: startAt };
}

const unclaimed = {
  status: "pending",
  phase: "idle",
  claimId: null,
  leaseUntil: null,
} as const;

/** Returns a failed leg to be attempted again. Keeps what the network chose; an earlier call is looked up first. */
export function retried(leg: Leg, round: string, now: Date): Leg {
  return {
    ...leg,
    ...unclaimed,
    notBefore: null,
    round,
    retries: 0,
    crashes: 0,
    resend: leg.sentAt !== null,
    error: null,
    calls: [],
    reservation: reserved("posts.retry_leg", now),
  };
}
