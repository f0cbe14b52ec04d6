import type { BackgroundDeps } from "./deps.ts";
import { NewerRow } from "../runtime/storage/damaged-row.ts";
import { continueWork } from "../runtime/telemetry/work-context.ts";
import {
  isOfShard,
  overItems,
  type TakeStep,
  type WalkAt,
  type WalkItem,
} from "../runtime/walk-step.ts";
import { isEnded, type Leg, nextLegStep } from "../publishing/leg.ts";
import { nextCheck } from "../publishing/leg-times.ts";
import type { StoredWork } from "../publishing/post-store.ts";
import type { Post, PostRef } from "../publishing/post.ts";
import { lookAtEndpoint } from "../webhooks/deliveries/queue-delivery.ts";
import { inBatches } from "../runtime/promises.ts";

const POSTS_AT_ONCE = 8;
/**
 * Of one platform in one sweep: one with much open work must not keep the others waiting. What was hinted is looked at
 * later each time, so that the next sweeps come to what lies behind it.
 */
const POSTS_MAX = 1_000;
/** How many of a platform's legs are hinted at once; those after them at the platform's pace. */
const HINTS_FREE = 50;

type OpenWorkPage = Awaited<ReturnType<BackgroundDeps["posts"]["listOpenWork"]>>;

/** What a sweep has sent for one platform so far. */
interface Sent {
  legs: number;
  /** Whether the queue refused a hint. Then it most likely refuses the others, and each would take long. */
  isRefused: boolean;
}

/** Returns the seconds by which a hint is delayed, so that stalled legs keep to the platform's pace as new ones do. */
function delayOf({ config }: BackgroundDeps, sent: Sent, legs: number): number {
  sent.legs += legs;
  return Math.max(0, sent.legs - HINTS_FREE) / config.publishing.legsPerSecond;
}

/** Sends a hint for a post's stalled legs. Throws when the queue refuses it. */
async function hintStalled(
  services: BackgroundDeps,
  {
    ref,
    post,
    stalled,
  }: { readonly ref: PostRef; readonly post: Post; readonly stalled: readonly Leg[] },
  delaySeconds: number,
): Promise<void> {
  const networks = stalled.map(({ network }) => network);
  const { platformId, postId } = ref;
  await continueWork(post, { platformId, postId }, async () => {
    await services.publishQueue.hint({ kind: "legs", ...ref, networks }, delaySeconds);
    services.log.info("stalled legs hinted again", { postId, legs: stalled.length });
  });
}

/**
 * Sends a new hint for legs that a lost hint or a dead worker left; removes the work row of a post without open legs.
 * The next check is put off only after the hint was sent: one that the queue refuses is sent by the next sweep, and a
 * crash in between costs one hint more.
 */
async function sweepPost(services: BackgroundDeps, work: StoredWork, sent: Sent): Promise<void> {
  const { ref } = work;
  const found = await services.posts.find(ref);
  const open = found?.legs.filter((leg) => !isEnded(leg)) ?? [];
  if (found === undefined || open.length === 0) return services.posts.removeWork(work);
  const now = services.clock.now();
  const { workCheckSeconds } = services.config.publishing;
  const stalled = open.filter((leg) => nextLegStep(leg, now).kind === "claim");
  const delaySeconds = delayOf(services, sent, stalled.length);
  if (stalled.length > 0) {
    try {
      await hintStalled(services, { ref, post: found.post, stalled }, delaySeconds);
    } catch (error) {
      sent.isRefused = true;
      services.log.warn("hint not sent, the next sweep sends it", { postId: ref.postId, error });
      return;
    }
  }
  const seen = new Date(now.getTime() + delaySeconds * 1000);
  const nextCheckAt = nextCheck(open, work.checks, workCheckSeconds, seen);
  await services.posts.postponeWork({ ...work, nextCheckAt, checks: work.checks + 1 });
}

async function trySweepPost(services: BackgroundDeps, work: StoredWork, sent: Sent): Promise<void> {
  if (sent.isRefused) return;
  try {
    await sweepPost(services, work, sent);
  } catch (error) {
    // Left to an instance of the build that has written the row; reading it was logged.
    if (error instanceof NewerRow) return;
    services.log.error("open work could not be repaired", { postId: work.ref.postId, error });
  }
}

/** Lists the platform's open work that is due for a check, oldest first. */
async function dueWork(services: BackgroundDeps, platformId: string, first: OpenWorkPage) {
  const now = services.clock.now().toISOString();
  const due: StoredWork[] = [];
  for (let page = first; ;) {
    due.push(...page.works.filter(({ nextCheckAt }) => nextCheckAt <= now));
    if (page.next === undefined || due.length >= POSTS_MAX) break;
    page = await services.posts.listOpenWork(platformId, page.next);
  }
  return due.slice(0, POSTS_MAX);
}

async function sweepPlatform(services: BackgroundDeps, platformId: string): Promise<void> {
  const [first, events] = await Promise.all([
    services.posts.listOpenWork(platformId),
    services.events.listPending(platformId, 1),
  ]);
  // First, so that a crash below leaves the platform where the next sweep finds it.
  if (first.works.length + events.length > 0)
    await services.openWork.mark(platformId, services.clock.now());
  if (events.length > 0) await services.fanOutQueue.hint(platformId);
  const due = await dueWork(services, platformId, first);
  const sent = { legs: 0, isRefused: false };
  await inBatches(due, POSTS_AT_ONCE, (work) => trySweepPost(services, work, sent));
}

/** Endpoints are marked beside platforms. */
const ENDPOINT = /^whk_/;

const sweepOwner = (services: BackgroundDeps, owner: string): Promise<void> =>
  ENDPOINT.test(owner) ? lookAtEndpoint(services, owner) : sweepPlatform(services, owner);

/** A mark: a platform or a webhook endpoint had open work in a minute. */
interface Mark {
  readonly minute: string;
  readonly owner: string;
  readonly etag: string;
}

interface MarkedItem extends WalkItem {
  readonly mark: Mark;
}

interface Page {
  readonly items: readonly MarkedItem[];
  readonly next: string | undefined;
}

const toItem = (mark: Mark, after: string): MarkedItem => ({
  id: `${mark.minute}|${mark.owner}`,
  after,
  mark,
});

/** Lists a page of old marks. A run that stops within the page begins it again: marks that were handled are gone. */
async function pageOfOld(
  { openWork, clock }: BackgroundDeps,
  at: WalkAt,
  token: string | undefined,
): Promise<Page> {
  const { items, next } = await openWork.listOld(clock.now(), token);
  const own = items.filter(({ owner }) => isOfShard(owner, at));
  const again = token === undefined ? "old" : `old|${token}`;
  const [first = ""] = openWork.youngMinutes(at.roundAt);
  return {
    items: own.map((item) => toItem(item, again)),
    next: next === undefined ? `${first}|` : `old|${next}`,
  };
}

/** Lists a page of the marks of a recent minute. The round ends after the last recent minute. */
async function pageOfMinute(
  { openWork }: BackgroundDeps,
  at: WalkAt,
  [minute, last]: readonly [string, string],
): Promise<Page> {
  const { items, next } = await openWork.listMinute(minute, last);
  const own = items.filter(({ owner }) => isOfShard(owner, at));
  const later = openWork.youngMinutes(at.roundAt).find((one) => one > minute);
  const afterMinute = later === undefined ? undefined : `${later}|`;
  return {
    items: own.map((item) => toItem(item, `${minute}|${item.owner}`)),
    next: next === undefined ? afterMinute : `${minute}|${next}`,
  };
}

function pageOf(services: BackgroundDeps, at: WalkAt, after = "old"): Promise<Page> {
  const [kind = "", ...rest] = after.split("|");
  if (kind === "old")
    return pageOfOld(services, at, rest.length === 0 ? undefined : rest.join("|"));
  return pageOfMinute(services, at, [kind, rest.join("|")]);
}

/**
 * Makes the steps of the sweep, which finds open work whose hint was lost and sends the hint again. A mark is removed
 * once its platform or endpoint was checked after the mark was read. If the check fails, the mark stays for the next sweep, and the
 * sweep goes on with the others.
 */
export function sweepStalledLegs(services: BackgroundDeps): TakeStep {
  const { openWork, clock, log } = services;
  /** When the last look at an owner began. */
  const seen = new Map<string, number>();
  let marks = new Map<string, Mark>();
  let listedAt = 0;
  return overItems({
    log,
    what: "sweep-stalled-work",
    async page(at, after) {
      const page = await pageOf(services, at, after);
      marks = new Map(page.items.map(({ id, mark }) => [id, mark]));
      listedAt = performance.now();
      return page;
    },
    async look(id) {
      const mark = marks.get(id);
      if (mark === undefined) return {};
      const { minute, owner } = mark;
      const isOld = openWork.isOld(minute, clock.now());
      const lookedAt = seen.get(owner) ?? -Infinity;
      // What was looked at before in this run need not be again, but a mark that came after the look must not go.
      if (lookedAt < (isOld ? listedAt : 0)) {
        const startedAt = performance.now();
        await sweepOwner(services, owner);
        seen.set(owner, startedAt);
      }
      if (isOld) await openWork.remove(mark);
      return {};
    },
  });
}
