import type { BackgroundDeps } from "./deps.ts";
import { continueWork, NO_ORIGIN } from "../runtime/telemetry/work-context.ts";
import {
  isOfShard,
  overItems,
  type TakeStep,
  type WalkAt,
  type WalkItem,
} from "../runtime/walk-step.ts";
import { isEnded, nextLegStep } from "../publishing/leg.ts";
import { nextCheck } from "../publishing/leg-times.ts";
import type { StoredWork } from "../publishing/post-store.ts";

const REPAIRS_AT_ONCE = 8;
/**
 * Of one platform in one sweep: one with much open work must not keep the others waiting. What was hinted is looked at
 * later each time, so that the next sweeps come to what lies behind it.
 */
const REPAIRS_MAX = 1_000;
/** How many of a platform's legs are hinted at once; those after them at the platform's pace. */
const HINTS_FREE = 50;

type OpenWorkPage = Awaited<ReturnType<BackgroundDeps["posts"]["listOpenWork"]>>;

/** What a sweep has sent for one platform so far. */
interface Sent {
  legs: number;
}

/** A platform's stalled legs go out one after the other, as its new ones do. */
function turnOf({ config }: BackgroundDeps, sent: Sent, legs: number): number {
  sent.legs += legs;
  return Math.max(0, sent.legs - HINTS_FREE) / config.publishing.legsPerSecond;
}

/** Sends again what a lost hint or a dead worker left; a post without open legs needs no work row any more. */
async function repair(services: BackgroundDeps, work: StoredWork, sent: Sent): Promise<void> {
  const { ref } = work;
  const found = await services.posts.find(ref);
  const open = found?.legs.filter((leg) => !isEnded(leg)) ?? [];
  if (open.length === 0) return services.posts.removeWork(work);
  const now = services.clock.now();
  const { workCheckSeconds } = services.config.publishing;
  const stalled = open.filter((leg) => nextLegStep(leg, now).kind === "claim");
  const delaySeconds = turnOf(services, sent, stalled.length);
  const seen = new Date(now.getTime() + delaySeconds * 1000);
  const nextCheckAt = nextCheck(open, work.checks, workCheckSeconds, seen);
  const mine = await services.posts.postponeWork({ ...work, nextCheckAt, checks: work.checks + 1 });
  if (!mine || stalled.length === 0) return;
  const networks = stalled.map(({ network }) => network);
  const { platformId, postId } = ref;
  await continueWork(found?.post ?? NO_ORIGIN, { platformId, postId }, async () => {
    services.log.info("stalled legs hinted again", { postId, legs: stalled.length });
    await services.publishQueue.hint({ ...ref, networks }, delaySeconds);
  });
}

async function tryRepair(services: BackgroundDeps, work: StoredWork, sent: Sent): Promise<void> {
  try {
    await repair(services, work, sent);
  } catch (error) {
    services.log.error("open work could not be repaired", { postId: work.ref.postId, error });
  }
}

/** The platform's open work that somebody should look at now, the oldest first. */
async function dueWork(services: BackgroundDeps, platformId: string, first: OpenWorkPage) {
  const now = services.clock.now().toISOString();
  const due: StoredWork[] = [];
  for (let page = first; ;) {
    due.push(...page.works.filter(({ nextCheckAt }) => nextCheckAt <= now));
    if (page.next === undefined || due.length >= REPAIRS_MAX) break;
    page = await services.posts.listOpenWork(platformId, page.next);
  }
  return due.slice(0, REPAIRS_MAX);
}

async function repairPlatform(services: BackgroundDeps, platformId: string): Promise<void> {
  const [first, events] = await Promise.all([
    services.posts.listOpenWork(platformId),
    services.events.listPending(platformId, 1),
  ]);
  // First, so that a crash below leaves the platform where the next sweep finds it.
  if (first.works.length + events.length > 0)
    await services.openWork.mark(platformId, services.clock.now());
  if (events.length > 0) await services.fanOutQueue.hint(platformId);
  const due = await dueWork(services, platformId, first);
  const sent = { legs: 0 };
  for (let index = 0; index < due.length; index += REPAIRS_AT_ONCE) {
    const batch = due.slice(index, index + REPAIRS_AT_ONCE);
    await Promise.all(batch.map((work) => tryRepair(services, work, sent)));
  }
}

/** That a platform was marked in a minute as having open work. */
interface Mark {
  readonly minute: string;
  readonly platformId: string;
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
  id: `${mark.minute}|${mark.platformId}`,
  after,
  mark,
});

/** A page of what was marked long enough ago. Whoever stops in it begins it anew: what was looked at is gone. */
async function pageOfOld(
  { openWork, clock }: BackgroundDeps,
  at: WalkAt,
  token: string | undefined,
): Promise<Page> {
  const { items, next } = await openWork.listOld(clock.now(), token);
  const own = items.filter(({ platformId }) => isOfShard(platformId, at));
  const again = token === undefined ? "old" : `old|${token}`;
  const [first = ""] = openWork.youngMinutes(at.roundAt);
  return {
    items: own.map((item) => toItem(item, again)),
    next: next === undefined ? `${first}|` : `old|${next}`,
  };
}

/** A page of a young minute; after the last of them the round is over. */
async function pageOfMinute(
  { openWork }: BackgroundDeps,
  at: WalkAt,
  [minute, last]: readonly [string, string],
): Promise<Page> {
  const { items, next } = await openWork.listMinute(minute, last);
  const own = items.filter(({ platformId }) => isOfShard(platformId, at));
  const later = openWork.youngMinutes(at.roundAt).find((one) => one > minute);
  const afterMinute = later === undefined ? undefined : `${later}|`;
  return {
    items: own.map((item) => toItem(item, `${minute}|${item.platformId}`)),
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
 * Makes the steps of the sweep, which finds open work that no message stands for any more and hints it again. A mark
 * goes when its platform was looked at after the mark was read; one whose platform could not be looked at stays for the
 * next sweep, and is in nobody's way.
 */
export function repairStalledLegs(services: BackgroundDeps): TakeStep {
  const { openWork, clock, log } = services;
  /** When the last look at a platform began. */
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
      const { minute, platformId } = mark;
      const isOld = openWork.isOld(minute, clock.now());
      const lookedAt = seen.get(platformId) ?? -Infinity;
      // What was looked at before in this run need not be again, but a mark that came after the look must not go.
      if (lookedAt < (isOld ? listedAt : 0)) {
        const startedAt = performance.now();
        await repairPlatform(services, platformId);
        seen.set(platformId, startedAt);
      }
      if (isOld) await openWork.remove(mark);
      return {};
    },
  });
}
