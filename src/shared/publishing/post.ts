import type { Actor } from "../callers/caller.ts";
import { readableAltText } from "../networks/contract/alt-text.ts";
import type { LegDraft, NetworkData } from "../networks/contract/draft.ts";
import type { NetworkName } from "../networks/networks.ts";
import type { Wake } from "../wake/wake.ts";

/** The indexes that list posts of an application (`post-index.ts`). */
export type IndexName = "application" | "problem" | "schedule";

export const POST_STATUSES = [
  "scheduled",
  "processing",
  "succeeded",
  "partial",
  "failed",
  "canceled",
] as const;
export type PostStatus = (typeof POST_STATUSES)[number];

/** The parsed request of the caller, named `platforms` in the API. */
export interface Draft {
  readonly text: string;
  readonly networks: readonly NetworkName[];
  readonly mediaUrls: readonly string[];
  /** As long as `mediaUrls`, or empty. */
  readonly altTexts: readonly (string | null)[];
  readonly platformOptions: Readonly<Partial<Record<NetworkName, NetworkData>>>;
  /** UTC, or null for now. */
  readonly scheduleAt: string | null;
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

interface Replacements {
  readonly text?: string;
  readonly mediaUrls?: readonly string[];
  readonly altTexts?: readonly (string | null)[];
}

/** Returns the draft for one network, whose own options replace text, media and alt texts. */
export function legDraft(draft: Draft, network: NetworkName): LegDraft {
  const options = draft.platformOptions[network] ?? {};
  // Safe: every network's options were parsed with these shared fields.
  const own = options as Replacements;
  const urls = own.mediaUrls ?? draft.mediaUrls;
  const altTexts = own.altTexts ?? (own.mediaUrls === undefined ? draft.altTexts : []);
  return {
    text: own.text ?? draft.text,
    media: urls.map((url, index) => ({ url, altText: readableAltText(altTexts[index] ?? null) })),
    options,
  };
}

/** Returns the first comment for a network's post, or null. */
export function firstCommentOf(draft: Draft, network: NetworkName): string | null {
  const text = draft.platformOptions[network]?.["firstComment"];
  return typeof text === "string" && text !== "" ? text : null;
}

export interface Post {
  readonly id: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly status: PostStatus;
  readonly draft: Draft;
  /** Changes with every edit of a scheduled post, so that a repeated edit recognizes its own. */
  readonly revision: string;
  readonly requestId: string;
  /** The trace of the request that made the post. Null in posts of builds that stored none. */
  readonly traceId: string | null;
  /** Who pays, as every ledger entry of the post shows. */
  readonly actor: Actor;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The number of the post's events so far. */
  readonly eventSequence: number;
  /** The indexes that have a row of the post. */
  readonly indexed: readonly IndexName[];
  readonly startedAt: string | null;
  readonly completedAt: string | null;
}

/** Identifies a post. Its rows are in the platform's partition, by profile and id. */
export interface PostRef {
  readonly platformId: string;
  readonly profileId: string;
  readonly postId: string;
}

export function postRefOf({ platformId, profileId, id: postId }: Post): PostRef {
  return { platformId, profileId, postId };
}

/** Reports whether the post has started. From then on neither its draft nor its list of legs changes. */
export function hasStarted({ status }: Post): boolean {
  return status !== "scheduled" && status !== "canceled";
}

/** Returns the wake that starts a scheduled post. */
export function postWake({ platformId, profileId, postId }: PostRef, at: string): Wake {
  return { kind: "post", at, id: postId, platformId, profileId };
}
