import type { Actor } from "../callers/caller.ts";
import type { Operation } from "../billing/rate-card.ts";
import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { NetworkData } from "../networks/contract/network.ts";
import type { NetworkName } from "../networks/lookup.ts";

export type LegStatus = "pending" | "publishing" | "succeeded" | "failed" | "skipped";
export type PostStatus =
  "scheduled" | "processing" | "succeeded" | "partial" | "failed" | "canceled";

/** What the caller asked to publish, parsed; `platforms` on the wire. */
export interface Draft {
  readonly text: string;
  readonly networks: readonly NetworkName[];
  readonly mediaUrls: readonly string[];
  /** As long as `mediaUrls`, or empty. */
  readonly altTexts: readonly (string | null)[];
  readonly platformOptions: Readonly<Partial<Record<NetworkName, NetworkData>>>;
  /** UTC, null for at once. */
  readonly scheduleAt: string | null;
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface Post {
  readonly id: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly status: PostStatus;
  readonly draft: Draft;
  /** Changes with every edit of a scheduled post: whoever repeats an edit finds its own. */
  readonly revision: string;
  readonly requestId: string;
  /** Of the request that made it; null in posts from before traces were kept. */
  readonly traceId: string | null;
  /** Who pays: shown on every ledger entry of the post. */
  readonly actor: Actor;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Events told of the post so far. */
  readonly eventSequence: number;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
}

export interface LegProblem {
  readonly code: LegErrorCode;
  readonly message: string;
  readonly remediation: string;
  readonly rule: string | null;
  readonly mediaIndex: number | null;
  readonly networkCode: string | null;
}

export interface LegWarning {
  readonly code: string;
  readonly message: string;
}

export interface LegAccount {
  readonly id: string;
  readonly username: string;
  readonly url: string;
}

/** Tokens promised to a leg: open until the leg ends, then taken or given back, once. */
export interface Hold {
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

/** By place in the draft's media, or `other`. */
export type Readings = Readonly<Partial<Record<string, number>>>;

export interface Leg {
  readonly network: NetworkName;
  readonly status: LegStatus;
  readonly phase: LegPhase;
  /** Stable over every attempt with this content: the network's idempotency key derives from it. */
  readonly key: string;
  readonly claimId: string | null;
  readonly leaseUntil: string | null;
  readonly notBefore: string | null;
  /** The accepting or the retry that put the leg on its way. */
  readonly round: string;
  /** Attempts begun. */
  readonly attempts: number;
  /** Automatic retries since it was accepted or retried. */
  readonly retries: number;
  /** Leases that ended without a settled leg. */
  readonly crashes: number;
  /** Files whose reading began and never ended: how often in a row, by their place in the draft. */
  readonly readings: Readings;
  /** First visible call whose outcome is not known; null when there was none. */
  readonly sentAt: string | null;
  /** The latest of them: what it did may show only later. */
  readonly calledAt: string | null;
  /** The caller asked again although an earlier call may have published: what can't be known is sent again. */
  readonly resend: boolean;
  readonly remote: NetworkData | null;
  readonly hold: Hold;
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
}

export function isEnded(leg: Leg): boolean {
  return leg.status === "succeeded" || leg.status === "failed" || leg.status === "skipped";
}

/**
 * The post's state out of its legs. Skipped legs do not count; any leg on its way means `processing`; a post of
 * skipped legs alone has failed, unless it was canceled.
 */
export function postStatus(legs: readonly Leg[]): PostStatus {
  const counted = legs.filter((leg) => leg.status !== "skipped");
  if (counted.some((leg) => !isEnded(leg))) return "processing";
  const succeeded = counted.filter((leg) => leg.status === "succeeded").length;
  if (succeeded === 0) return "failed";
  return succeeded === counted.length ? "succeeded" : "partial";
}

/** Whether its legs were put on their way: from then on neither its draft nor its list of legs changes. */
export function hasStarted({ status }: Post): boolean {
  return status !== "scheduled" && status !== "canceled";
}

/** What a worker may do with a leg now. */
export type LegStep =
  | { readonly kind: "ended" }
  /** No tokens are reserved for it: its post has not started, and nobody may work on it. */
  | { readonly kind: "unreserved" }
  /** Somebody owns it, or it is not due: the sweeper or a delayed hint comes again. */
  | { readonly kind: "later"; readonly at: string }
  | { readonly kind: "claim"; readonly afterCrash: boolean };

export function nextStep(leg: Leg, now: Date): LegStep {
  if (isEnded(leg)) return { kind: "ended" };
  if (leg.hold.state !== "open") return { kind: "unreserved" };
  const at = now.toISOString();
  if (leg.leaseUntil !== null && leg.leaseUntil > at) return { kind: "later", at: leg.leaseUntil };
  if (leg.notBefore !== null && leg.notBefore > at) return { kind: "later", at: leg.notBefore };
  return { kind: "claim", afterCrash: leg.leaseUntil !== null };
}
