import type { Actor } from "../../callers/caller.ts";
import type { RemovedPage } from "../../runtime/walk-step.ts";

/**
 * A profile goes through three stages:
 *
 * `closing`: open removals of posts are waited for, connections are removed, scheduled posts canceled, and legs that are being published waited for.
 * `clearing`: rows that workers and browsers may still write are removed, in rounds, until a round finds none.
 * `removing`: posts are removed with everything stored about them, and the profile last. Nothing writes them any more.
 *
 * A platform that was closed goes through five:
 *
 * `stopping`: keys are revoked, scheduled posts canceled and connections ended. It can be opened again.
 * `waiting`: the days are waited for in which it can be opened again, and the end is announced.
 * `emptying`: nothing brings it back. The e-mails of its staff are free, and its profiles are erased, some at a time.
 * `clearing`, `removing`: as for a profile, with what only the platform has.
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

/** A profile or a platform that is being erased, and how far that is. */
export interface Erasure {
  /** The id of the profile or platform. */
  readonly id: string;
  readonly platformId: string;
  /** The application of the profile; "" for a platform. */
  readonly applicationId: string;
  readonly requestedAt: string;
  readonly requestedBy: Actor;
  readonly stage: ErasureStage;
  /** The step of `clearing`: which kind of row is being removed. */
  readonly step: number;
  /** Where the stage or step goes on; "" at its beginning. */
  readonly cursor: string;
  /** Posts that were still open, or rows that were removed, since the round began. */
  readonly foundInRound: number;
  readonly removed: number;
  readonly notBefore: string;
  /** When it was last worked on. The erasure that waited longest goes first. */
  readonly lookedAt: string;
}

/** What is erased, and who asked. */
export type Owned = Pick<Erasure, "id" | "platformId" | "applicationId" | "requestedBy">;

/** Longer than any function runs, so that whatever began before the profile was closed has ended by then. */
export const QUIET_MS = 10 * 60 * 1000;
/** How soon open legs are checked again. */
export const CLOSING_CHECK_MS = 60 * 1000;

/** Returns a new erasure, which is due at once. */
export function newErasure(
  { id, platformId, applicationId, requestedBy }: Owned,
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

const later = (now: Date, ms: number) => new Date(now.getTime() + ms).toISOString();

/** Returns the erasure after a minute: posts are being removed at their networks, or profiles being erased. */
export function aMinuteLater(erasure: Erasure, now: Date): Erasure {
  return { ...erasure, notBefore: later(now, CLOSING_CHECK_MS) };
}

/**
 * Returns the erasure after all posts were read. It waits while legs are open, and until whatever was running at the time
 * of the request has ended.
 */
export function afterClosing(erasure: Erasure, openPosts: number, now: Date): Erasure {
  const quietAt = new Date(Date.parse(erasure.requestedAt) + QUIET_MS).toISOString();
  if (openPosts > 0 || now.toISOString() < quietAt)
    return { ...erasure, cursor: "", notBefore: later(now, CLOSING_CHECK_MS) };
  return { ...erasure, stage: "clearing", step: 0, cursor: "", foundInRound: 0 };
}

/** Returns the erasure after a page of a step of `clearing`, of which there are `steps`. */
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
      notBefore: later(now, QUIET_MS),
    };
  return { ...counted, stage: "removing", cursor: "" };
}

/** Posts that are being published or removed end within this time. Connections of a closed platform end then at the latest. */
const STOPPING_MS_MAX = 2 * 60 * 60 * 1000;

/** Returns whether what is still under way no longer delays the end of connections. */
export const isOverdue = ({ requestedAt }: Erasure, now: Date) =>
  now.getTime() - Date.parse(requestedAt) > STOPPING_MS_MAX;

/** Returns the erasure of a platform after a page of `stopping`, which begins again while posts are open. */
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
