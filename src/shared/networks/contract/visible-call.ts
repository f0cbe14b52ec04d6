import type { LegDraft, NetworkData } from "./draft.ts";
import type { Account } from "./link.ts";
import type { Finding, Outcome, PrepareOutcome } from "./outcome.ts";
import type { NetworkTools } from "./tools.ts";

/** Everything a network needs to publish one leg. Between attempts only `remote` and `sentAt` change. */
export interface LegToPublish {
  /** The same for every attempt with the same content. The network's idempotency key derives from it. */
  readonly key: string;
  readonly draft: LegDraft;
  readonly account: Account;
  readonly credentials: NetworkData;
  readonly instanceUrl: string | null;
  readonly limits: NetworkData;
  /** What `begin` chose and `prepare` added. */
  readonly remote: NetworkData;
  /** When a visible call was first attempted, or null when there was none. */
  readonly sentAt: Date | null;
  /** Whether nothing of it can be public: no visible call was made, or all are known to have published nothing. */
  readonly isUnpublished: boolean;
}

/** One call that follows a published post, with the draft and the `remote` of what publishes. */
export interface FollowUp extends Omit<LegToPublish, "isUnpublished"> {
  /** The network's own id of the post. */
  readonly externalId: string;
  /** The text to write, or null when the call writes nothing. */
  readonly text: string | null;
  /** Whether the network refused the call that was made at `sentAt`. */
  readonly isRefused: boolean;
}

/**
 * A call whose effect people see. The caller stores `sentAt`, then calls `perform`. While the outcome of an earlier
 * `perform` is unknown, it calls `find` before another one. Each step may run again after a crash. What the steps return
 * may have any size: it is bounded where it becomes part of a row.
 */
export interface VisibleCall<Input> {
  /** Makes uploads and containers. May be repeated, and is visible to nobody. Reads a status once and never waits. */
  prepare?(input: Input, tools: NetworkTools): Promise<PrepareOutcome>;
  /** Makes the call: one request that changes something, or several of which each may be repeated. */
  perform(input: Input, tools: NetworkTools): Promise<Outcome>;
  /** Finds out what became of the earlier calls. Changes nothing. */
  find(input: Input, tools: NetworkTools): Promise<Finding>;
  /** Reports whether `find` can show an effect of the call at all. By default it always can. Pure. */
  canTell?(input: Input): boolean;
}

/** The visible call that publishes. */
export interface PublishCall extends VisibleCall<LegToPublish> {
  prepare(input: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome>;
}

/** What tells whether a network can make a call at all. */
export type FollowedLeg = Pick<LegToPublish, "account" | "limits" | "remote">;

/** A visible call that follows a published post: a comment, a removal. */
export interface FollowUpCall extends VisibleCall<FollowUp> {
  /** Reports whether the network can do it for this connection and kind of post. By default it always can. Pure. */
  readonly isSupported?: (leg: FollowedLeg) => boolean;
  /**
   * Returns the permissions that it needs, beyond those of publishing, and that an authorization with these scopes
   * lacks. Absent when it needs none. Pure.
   */
  readonly missingScopes?: (scopes: readonly string[]) => readonly string[];
}
