import { secondsUntil } from "../billing/wallet.ts";
import { hintIfSoon, type DueWork } from "../due/enqueue-due.ts";
import type { NetworkName } from "../networks/lookup.ts";
import type { PublishingDeps } from "./deps.ts";
import type { Leg } from "./leg.ts";
import type { PostWithLegs } from "./post-store.ts";
import type { Post, PostRef } from "./post.ts";

// Hints are messages that make workers look at rows. Each may be lost: the sweep and the timer of due posts find what
// waits without them, only later.

/** What a write leaves for workers to do. */
export interface Waiting {
  /** The networks whose legs have something to do. */
  readonly networks: readonly NetworkName[];
  /** When these legs have it to do; null for now. */
  readonly startAt: string | null;
  /** Whether events of the post wait to be sent. */
  readonly hasEvents: boolean;
  /** When the post is to start, where the write set that time. */
  readonly dueAt: string | null;
}

/** Nothing is left to do. */
export const NOTHING_WAITS: Waiting = {
  networks: [],
  startAt: null,
  hasEvents: false,
  dueAt: null,
};

/** Returns the time at which a post is to start where a change sets it: a new scheduled post, or a new time of one. */
export function newDueTime(before: Post | undefined, { status, draft }: Post): string | null {
  const isNew = draft.scheduleAt !== before?.draft.scheduleAt;
  return status === "scheduled" && isNew ? draft.scheduleAt : null;
}

/** Returns the legs that a change puts on their way: those whose tokens it reserves. */
export function begunLegs(before: readonly Leg[], after: readonly Leg[]): readonly Leg[] {
  const isOpen = ({ reservation }: Leg) => reservation.state === "open";
  const open = new Set(before.filter(isOpen).map(({ network }) => network));
  return after.filter((leg) => isOpen(leg) && !open.has(leg.network));
}

/** Returns what a change of a post leaves to do. Pure; `events` is the number of its events. */
export function waitingAfter(
  before: PostWithLegs | undefined,
  after: PostWithLegs,
  events: number,
): Waiting {
  const begun = begunLegs(before?.legs ?? [], after.legs);
  return {
    networks: begun.map(({ network }) => network),
    startAt: begun[0]?.notBefore ?? null,
    hasEvents: events > 0,
    dueAt: newDueTime(before?.post, after.post),
  };
}

/** Returns how posts that are due are stored and hinted. */
export function duePosts({ due, startQueue }: PublishingDeps): DueWork<PostRef> {
  return {
    store: due,
    hint: ({ ref, dueAt }, delaySeconds) => startQueue.hint({ ...ref, dueAt }, delaySeconds),
  };
}

/**
 * Sends the hints of what waits, all of them. Their platform is marked as having open work, since the write may have
 * been made long after it was marked first. Events that come with legs that start now get no hint of their own: the
 * worker of these legs sends it. Never throws.
 */
export async function hint(
  services: PublishingDeps,
  ref: PostRef,
  waiting: Partial<Waiting>,
): Promise<void> {
  const { networks, startAt, hasEvents, dueAt } = { ...NOTHING_WAITS, ...waiting };
  const now = services.clock.now();
  const sent: Promise<void>[] = [];
  const seconds = secondsUntil(startAt, now);
  if (networks.length > 0)
    sent.push(services.publishQueue.hint({ ...ref, networks: [...networks] }, seconds));
  if (hasEvents && (networks.length === 0 || seconds > 0))
    sent.push(services.fanOutQueue.hint(ref.platformId));
  if (dueAt !== null) sent.push(hintIfSoon(services, duePosts(services), { ref, dueAt }));
  if (sent.length === 0) return;
  sent.push(services.openWork.mark(ref.platformId, now));
  for (const result of await Promise.allSettled(sent))
    if (result.status === "rejected")
      services.log.warn("hint not sent, the sweep will", {
        postId: ref.postId,
        error: result.reason,
      });
}
