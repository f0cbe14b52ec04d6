import { NewerRow } from "../runtime/storage/damaged-row.ts";
import { inBatches } from "../runtime/promises.ts";
import { continueWork } from "../runtime/telemetry/work-context.ts";
import type { PublishingDeps } from "./deps.ts";
import { queueLegs } from "./hints.ts";
import { nextCheck } from "./leg-times.ts";
import { isBusy, type Leg, nextLegStep } from "./leg.ts";
import type { StoredWork } from "./post-store.ts";
import { postRefOf, type Post } from "./post.ts";
import { hasPendingEvents, hintEvents } from "../webhooks/webhooks.ts";

const POSTS_AT_ONCE = 8;
/**
 * Limit of one platform in one sweep, because a platform with much open work must not delay the others. Hinted work is
 * checked later each time, so that the next sweeps reach the work behind it.
 */
const POSTS_MAX = 1_000;
/** How many of a platform's legs are hinted immediately. The others follow at the platform's pace. */
const HINTS_FREE = 50;

/** What a sweep has sent for one platform so far. */
interface SweepProgress {
  legs: number;
  /** Whether the queue refused a hint. It then most likely refuses the others, and each would take long. */
  isRefused: boolean;
}

/** Sends a hint for a post's stalled legs. @throws Error when the queue refuses it */
async function hintStalled(
  deps: PublishingDeps,
  post: Post,
  stalled: readonly Leg[],
  delaySeconds: number,
): Promise<void> {
  const { id: postId, platformId } = post;
  const networks = stalled.map(({ network }) => network);
  await continueWork(post, { platformId, postId }, async () => {
    await queueLegs(deps, postRefOf(post), networks, delaySeconds);
    deps.log.info("stalled legs hinted again", { postId, legs: stalled.length });
  });
}

/**
 * Sends a new hint for legs that a lost hint or a dead worker left, or removes the work row of a post without open
 * legs. The next check is postponed only after the hint was sent. If the queue refuses a hint, the next sweep sends it,
 * and a crash in between costs one more hint.
 */
async function sweepPost(
  deps: PublishingDeps,
  work: StoredWork,
  sent: SweepProgress,
): Promise<void> {
  const { ref } = work;
  const found = await deps.stores.posts.find(ref);
  const open = found?.legs.filter(isBusy) ?? [];
  if (found === undefined || open.length === 0) return deps.stores.posts.removeWork(work);
  const now = deps.clock.now();
  const { workCheckSeconds, legsPerSecond } = deps.config.publishing;
  const stalled = open.filter((leg) => nextLegStep(leg, now).kind === "claim");
  // Stalled legs keep to the platform's pace as new ones do.
  sent.legs += stalled.length;
  const delaySeconds = Math.max(0, sent.legs - HINTS_FREE) / legsPerSecond;
  if (stalled.length > 0) {
    try {
      await hintStalled(deps, found.post, stalled, delaySeconds);
    } catch (error) {
      sent.isRefused = true;
      deps.log.warn("hint not sent, the next sweep sends it", { postId: ref.postId, error });
      return;
    }
  }
  const seen = new Date(now.getTime() + delaySeconds * 1000);
  const nextCheckAt = nextCheck(open, work.checks, workCheckSeconds, seen);
  await deps.stores.posts.postponeWork({
    ...work,
    nextCheckAt,
    checks: work.checks + 1,
  });
}

async function trySweepPost(
  deps: PublishingDeps,
  work: StoredWork,
  sent: SweepProgress,
): Promise<void> {
  if (sent.isRefused) return;
  try {
    await sweepPost(deps, work, sent);
  } catch (error) {
    // Left to an instance of the build that has written the row. Reading it was logged.
    if (error instanceof NewerRow) return;
    deps.log.error("open work could not be repaired", { postId: work.ref.postId, error });
  }
}

/** Hints stalled work of a platform again: legs of its posts, and events that were not fanned out. */
export async function sweepOpenWork(deps: PublishingDeps, platformId: string): Promise<void> {
  const [first, hasEvents] = await Promise.all([
    deps.stores.posts.listOpenWork(platformId),
    hasPendingEvents(deps.webhooks, platformId),
  ]);
  // First, so that after a crash below, the next sweep finds the platform.
  if (first.works.length > 0 || hasEvents)
    await deps.wakes.mark("platform", platformId, deps.clock.now());
  if (hasEvents) await hintEvents(deps.webhooks, platformId);
  const now = deps.clock.now().toISOString();
  const due: StoredWork[] = [];
  for (let page = first; ;) {
    due.push(...page.works.filter(({ nextCheckAt }) => nextCheckAt <= now));
    if (page.next === undefined || due.length >= POSTS_MAX) break;
    page = await deps.stores.posts.listOpenWork(platformId, page.next);
  }
  const sent = { legs: 0, isRefused: false };
  await inBatches(due.slice(0, POSTS_MAX), POSTS_AT_ONCE, (work) => trySweepPost(deps, work, sent));
}

/** Reports whether the platform has a post with open work, or unreadable rows of one. */
export async function hasOpenWork(
  { stores: { posts } }: PublishingDeps,
  platformId: string,
): Promise<boolean> {
  const { works, next } = await posts.listOpenWork(platformId, "", 1);
  return works.length > 0 || next !== undefined;
}
