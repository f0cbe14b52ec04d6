import { later } from "../runtime/process.ts";
import type { Actor } from "../callers/caller.ts";
import type { RemovedPage } from "../runtime/walk-step.ts";

/**
 * A profile goes through three stages:
 *
 * - `closing`: waits until running removals of posts and legs that are being published have ended, removes connections,
 *   and cancels scheduled posts.
 * - `clearing`: removes rows that workers and browsers may still write, in rounds, until a round finds none.
 * - `removing`: removes posts with everything stored about them, and the profile last. Nothing writes them any more.
 *
 * A closed platform goes through five:
 *
 * - `stopping`: revokes keys, cancels scheduled posts and ends connections. The platform can be opened again.
 * - `waiting`: waits for the days in which the platform can be opened again, and announces the end.
 * - `emptying`: nothing brings the platform back. Frees the emails of its staff, and erases its profiles, some at a
 *   time.
 * - `clearing`, `removing`: as for a profile, for data that only the platform has.
 */
export const ERASURE_STAGES = [
  "closing",
  "clearing",
  "removing",
  "stopping",
  "waiting",
  "emptying",
] as const;
type ErasureStage = (typeof ERASURE_STAGES)[number];

/** A profile or platform that is being erased, and the progress. */
export interface Erasure {
  /** The id of the profile or platform. */
  readonly id: string;
  readonly platformId: string;
  /** The profile's application, or "" for a platform. */
  readonly applicationId: string;
  readonly requestedAt: string;
  readonly requestedBy: Actor;
  readonly stage: ErasureStage;
  /** The step of `clearing`: which kind of row is being removed. */
  readonly step: number;
  /** Where the stage or step continues, or "" at its beginning. */
  readonly cursor: string;
  /** The number of posts still open, or of rows removed, since the round began. */
  readonly foundInRound: number;
  readonly removed: number;
  readonly notBefore: string;
  /** When work on it was last done. The erasure that has waited longest is next. */
  readonly lookedAt: string;
}

/** What is erased, and who asked for it. */
export type ErasureOwner = Pick<Erasure, "id" | "platformId" | "applicationId" | "requestedBy">;

/** Longer than any function runs, so that everything that began before the profile was closed has ended. */
export const QUIET_MS = 10 * 60 * 1000;
/** When open legs are checked again. */
export const CLOSING_CHECK_MS = 60 * 1000;

/** Makes a new erasure, which is due immediately. */
export function newErasure(
  { id, platformId, applicationId, requestedBy }: ErasureOwner,
  now: Date,
  stage: ErasureStage = "closing",
): Erasure {
  const at = now.toISOString();
  return {
    id,
    platformId,
    applicationId,
    requestedAt: at,
    requestedBy,
    stage,
    step: 0,
    cursor: "",
    foundInRound: 0,
    removed: 0,
    notBefore: at,
    lookedAt: at,
  };
}

/** Continues in a minute, because posts are being removed at their networks, or profiles are being erased. */
export function aMinuteLater(erasure: Erasure, now: Date): Erasure {
  return { ...erasure, notBefore: later(now, CLOSING_CHECK_MS).toISOString() };
}

/**
 * Returns the erasure after all posts were read. It waits while legs are open, and until everything that was running at
 * the time of the request has ended.
 */
export function afterClosing(erasure: Erasure, openPosts: number, now: Date): Erasure {
  const quietAt = new Date(Date.parse(erasure.requestedAt) + QUIET_MS).toISOString();
  if (openPosts > 0 || now.toISOString() < quietAt)
    return { ...erasure, cursor: "", notBefore: later(now, CLOSING_CHECK_MS).toISOString() };
  return { ...erasure, stage: "clearing", step: 0, cursor: "", foundInRound: 0 };
}

/** Returns the erasure after a page of a step of `clearing`, which has `steps` steps. */
export function afterPage(erasure: Erasure, page: RemovedPage, steps: number, now: Date): Erasure {
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
      notBefore: later(now, QUIET_MS).toISOString(),
    };
  return { ...counted, stage: "removing", cursor: "" };
}

/** Time limit for posts that are being published or removed. After it, a closed platform's connections end anyway. */
const STOPPING_MS_MAX = 2 * 60 * 60 * 1000;

/** Reports whether running calls no longer delay the end of connections. */
export const isOverdue = ({ requestedAt }: Erasure, now: Date) =>
  now.getTime() - Date.parse(requestedAt) > STOPPING_MS_MAX;

/** Returns a platform's erasure after a page of `stopping`, which begins again while posts are open. */
export function afterStopping(
  erasure: Erasure,
  page: { readonly open: number; readonly next: string | undefined },
  now: Date,
): Erasure {
  const foundInRound = erasure.foundInRound + page.open;
  if (page.next !== undefined) return { ...erasure, foundInRound, cursor: page.next };
  const begun = { ...erasure, cursor: "", foundInRound: 0 };
  if (foundInRound > 0 && !isOverdue(erasure, now)) return aMinuteLater(begun, now);
  return { ...begun, stage: "waiting" };
}
