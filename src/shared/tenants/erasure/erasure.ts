import type { Actor } from "../../callers/caller.ts";

/**
 * `closing`: connections are removed, scheduled posts canceled, and legs that are being published waited for.
 * `clearing`: rows that workers and browsers may still write are removed, in rounds, until a round finds none.
 * `removing`: posts are removed with everything stored about them, and the profile last. Nothing writes them any more.
 */
export const ERASURE_STAGES = ["closing", "clearing", "removing"] as const;
type ErasureStage = (typeof ERASURE_STAGES)[number];

/** A profile that is being erased, and how far that is. */
export interface Erasure {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly requestedAt: string;
  readonly requestedBy: Actor;
  readonly stage: ErasureStage;
  /** Of `clearing`: the kind of row that is being removed, and where in its table. */
  readonly step: number;
  /** "" at the beginning. */
  readonly cursor: string;
  /** Since the round began: posts that were still open, or rows that were removed. */
  readonly foundInRound: number;
  readonly removed: number;
  readonly notBefore: string;
  /** When it was last worked on: of several, the one that waited longest goes first. */
  readonly lookedAt: string;
}

/** Longer than any function runs: what began before the profile was closed has ended by then. */
export const QUIET_MS = 10 * 60 * 1000;
/** How soon legs that are still open are looked at again. */
export const CLOSING_CHECK_MS = 60 * 1000;

export function newErasure(
  owner: Pick<Erasure, "platformId" | "applicationId" | "profileId" | "requestedBy">,
  now: Date,
): Erasure {
  const at = now.toISOString();
  const { platformId, applicationId, profileId, requestedBy } = owner;
  return {
    platformId,
    applicationId,
    profileId,
    requestedAt: at,
    requestedBy,
    stage: "closing",
    step: 0,
    cursor: "",
    foundInRound: 0,
    removed: 0,
    notBefore: at,
    lookedAt: at,
  };
}

const later = (now: Date, ms: number) => new Date(now.getTime() + ms).toISOString();

/** After a look at all posts: legs that are still open are waited for, and so is whoever was under way at the request. */
export function afterClosing(erasure: Erasure, openPosts: number, now: Date): Erasure {
  const quietAt = new Date(Date.parse(erasure.requestedAt) + QUIET_MS).toISOString();
  if (openPosts > 0 || now.toISOString() < quietAt)
    return { ...erasure, cursor: "", notBefore: later(now, CLOSING_CHECK_MS) };
  return { ...erasure, stage: "clearing", step: 0, cursor: "", foundInRound: 0 };
}

/** After a page of a step of `clearing`, of which there are `steps`. */
export function afterPage(
  erasure: Erasure,
  page: { readonly removed: number; readonly next: string | undefined },
  steps: number,
  now: Date,
): Erasure {
  const foundInRound = erasure.foundInRound + page.removed;
  const counted = { ...erasure, foundInRound, removed: erasure.removed + page.removed };
  if (page.next !== undefined) return { ...counted, cursor: page.next };
  if (erasure.step + 1 < steps) return { ...counted, step: erasure.step + 1, cursor: "" };
  if (foundInRound > 0)
    return {
      ...counted,
      step: 0,
      cursor: "",
      foundInRound: 0,
      notBefore: later(now, QUIET_MS),
    };
  return { ...counted, stage: "removing", cursor: "" };
}
