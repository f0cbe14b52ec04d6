import { secondsUntil } from "../ledger/ledger.ts";
import type { NetworkName } from "../networks/networks.ts";
import { type HintedWakes, hintIfSoon } from "../wake/wake.ts";
import { hintEvents } from "../webhooks/webhooks.ts";
import type { PublishingDeps } from "./deps.ts";
import type { PublishingHint } from "./post-queue.ts";
import { openCall, type Leg } from "./leg.ts";
import type { PostWithLegs } from "./post-store.ts";
import { postWake, type Post, type PostRef } from "./post.ts";

// Hints are messages that make workers read rows. Any of them may be lost, because the sweep and the timer of due posts
// find the same work, only later.

export interface HintsToSend {
  /** The networks whose legs can be worked on. */
  readonly networks: readonly NetworkName[];
  /** When work on these legs may begin, or null for now. */
  readonly startAt: string | null;
  readonly hasEvents: boolean;
  /** When the post is to start, if the write set that time. */
  readonly dueAt: string | null;
}

export const NO_HINTS: HintsToSend = {
  networks: [],
  startAt: null,
  hasEvents: false,
  dueAt: null,
};

/** Returns the time at which a post is to start if the change sets it: the post is new, or its time was changed. */
export function newDueTime(before: Post | undefined, { status, draft }: Post): string | null {
  const isNew = draft.scheduleAt !== before?.draft.scheduleAt;
  return status === "scheduled" && isNew ? draft.scheduleAt : null;
}

/** Returns the legs that a change starts: those for which it reserves tokens. */
export function startedLegs(before: readonly Leg[], after: readonly Leg[]): readonly Leg[] {
  const isOpen = ({ reservation }: Leg) => reservation.state === "open";
  const open = new Set(before.filter(isOpen).map(({ network }) => network));
  return after.filter((leg) => isOpen(leg) && !open.has(leg.network));
}

/** Returns the legs for which a change makes a later call the next one. */
export function calledLegs(before: readonly Leg[], after: readonly Leg[]): readonly Leg[] {
  const open = new Set(before.flatMap((leg) => openCall(leg)?.key ?? []));
  return after.filter((leg) => {
    const call = openCall(leg);
    return call !== undefined && !open.has(call.key);
  });
}

/** Returns the work that a change of a post leaves. It is pure. `events` is the number of its events. */
export function hintsAfter(
  before: PostWithLegs | undefined,
  after: PostWithLegs,
  events: number,
): HintsToSend {
  const begun = startedLegs(before?.legs ?? [], after.legs);
  const called = calledLegs(before?.legs ?? [], after.legs);
  return {
    networks: [...begun, ...called].map(({ network }) => network),
    startAt: begun[0]?.notBefore ?? null,
    hasEvents: events > 0,
    dueAt: newDueTime(before?.post, after.post),
  };
}

export function duePosts({ stores: { publishQueue } }: PublishingDeps): HintedWakes {
  return {
    kind: "post",
    what: "fire-due-posts",
    hint: ({ at: dueAt, id: postId, platformId, profileId }, delaySeconds) =>
      publishQueue.hint({ kind: "start", platformId, profileId, postId, dueAt }, delaySeconds),
  };
}

/** Sends the message that names legs, to be received in `seconds`. */
export function queueLegs(
  { stores: { publishQueue } }: PublishingDeps,
  ref: PostRef,
  networks: readonly NetworkName[],
  seconds: number,
): Promise<void> {
  return publishQueue.hint({ kind: "legs", ...ref, networks: [...networks] }, seconds);
}

export function resendPublishingHint(
  { stores: { publishQueue } }: PublishingDeps,
  hint: PublishingHint,
): Promise<void> {
  return publishQueue.sendAlone(hint);
}

/** Checks that the queue can be reached. @throws Error when it doesn't answer */
export function pingQueue({ stores: { publishQueue } }: PublishingDeps): Promise<void> {
  return publishQueue.ping();
}

/** Hints legs. When that fails, the sweep checks them as soon as they can be worked on. */
async function hintLegs(
  deps: PublishingDeps,
  ref: PostRef,
  { networks, startAt }: HintsToSend,
): Promise<void> {
  const now = deps.clock.now();
  try {
    await queueLegs(deps, ref, networks, secondsUntil(startAt, now));
  } catch (error) {
    const { postId } = ref;
    deps.log.warn("hint not sent, the sweep sends it", { postId, error });
    await deps.stores.posts.bringCheckForward(ref, startAt ?? now.toISOString());
  }
}

/**
 * Sends the hints for the waiting work. Marks the platform as having open work, because an earlier mark may be gone by
 * now. Legs that start now get one hint, and the worker that takes it sends the hint for their events. Never throws.
 */
export async function hint(
  deps: PublishingDeps,
  ref: PostRef,
  waiting: Partial<HintsToSend>,
): Promise<void> {
  const all = { ...NO_HINTS, ...waiting };
  const { networks, startAt, hasEvents, dueAt } = all;
  const now = deps.clock.now();
  const sent: Promise<void>[] = [];
  if (networks.length > 0) sent.push(hintLegs(deps, ref, all));
  if (hasEvents && (networks.length === 0 || secondsUntil(startAt, now) > 0))
    sent.push(hintEvents(deps.webhooks, ref.platformId));
  if (dueAt !== null) sent.push(hintIfSoon(deps, duePosts(deps), postWake(ref, dueAt)));
  if (sent.length === 0) return;
  sent.push(deps.wakes.mark("platform", ref.platformId, now));
  for (const result of await Promise.allSettled(sent))
    if (result.status === "rejected")
      deps.log.warn("work not marked, the sweep finds it later", {
        postId: ref.postId,
        error: result.reason,
      });
}
