import type { BackgroundDeps } from "./deps.ts";
import { NewerRow } from "../runtime/storage/damaged-row.ts";
import { continueWork } from "../runtime/telemetry/work-context.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import {
  isBusy,
  type Leg,
  nextLegStep,
  nextCheck,
  type Post,
  type PostRef,
} from "../publishing/publishing.ts";
import { lookAtEndpoint } from "../webhooks/webhooks.ts";
import { inBatches } from "../runtime/promises.ts";
import { MARK_MS, type MarkKind, overWakes, type Wake } from "../wake/wake.ts";

const POSTS_AT_ONCE = 8;
/**
 * Limit of one platform in one sweep: a platform with much open work must not delay the others. What was hinted is looked at
 * later each time, so that the next sweeps come to what lies behind it.
 */
const POSTS_MAX = 1_000;
/** How many of a platform's legs are hinted at once; those after them at the platform's pace. */
const HINTS_FREE = 50;

type OpenWorkPage = Awaited<
  ReturnType<BackgroundDeps["publishing"]["stores"]["posts"]["listOpenWork"]>
>;
type StoredWork = OpenWorkPage["works"][number];

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
    await services.publishing.stores.publishQueue.hint(
      { kind: "legs", ...ref, networks },
      delaySeconds,
    );
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
  const found = await services.publishing.stores.posts.find(ref);
  const open = found?.legs.filter(isBusy) ?? [];
  if (found === undefined || open.length === 0)
    return services.publishing.stores.posts.removeWork(work);
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
  await services.publishing.stores.posts.postponeWork({
    ...work,
    nextCheckAt,
    checks: work.checks + 1,
  });
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
    page = await services.publishing.stores.posts.listOpenWork(platformId, page.next);
  }
  return due.slice(0, POSTS_MAX);
}

async function sweepPlatform(services: BackgroundDeps, platformId: string): Promise<void> {
  const [first, events] = await Promise.all([
    services.publishing.stores.posts.listOpenWork(platformId),
    services.webhooks.stores.events.listPending(platformId, 1),
  ]);
  // First, so that a crash below leaves the platform where the next sweep finds it.
  if (first.works.length + events.length > 0)
    await services.webhooks.wakes.mark("platform", platformId, services.clock.now());
  if (events.length > 0) await services.webhooks.stores.fanOutQueue.hint(platformId);
  const due = await dueWork(services, platformId, first);
  const sent = { legs: 0, isRefused: false };
  await inBatches(due, POSTS_AT_ONCE, (work) => trySweepPost(services, work, sent));
}

interface Marked {
  readonly kind: MarkKind;
  /** The walk's name in the log when a look at an owner fails. */
  readonly what: string;
  readonly look: (owner: string) => Promise<void>;
}

/**
 * Makes the steps of a sweep over the owners that were marked: it looks at each of them once in a run. A mark whose time
 * has come is removed once its owner was looked at after the mark was read. If the look fails, the mark stays for the
 * next sweep, and the sweep goes on with the others.
 */
function sweepMarked(services: BackgroundDeps, { kind, what, look }: Marked): TakeStep {
  const { clock } = services;
  const { wakes } = services.webhooks;
  const isOver = ({ at }: Wake) => at <= clock.now().toISOString();
  /** The last look at each owner. */
  const looks = new Map<string, { readonly startedAt: number; readonly looking: Promise<void> }>();
  return overWakes(services.webhooks, {
    kind,
    what,
    aheadMs: MARK_MS,
    isWanted: (mark) => isOver(mark) || !looks.has(mark.id),
    async visit(mark, listedAt) {
      const isLast = isOver(mark);
      let latest = looks.get(mark.id);
      if (latest === undefined || (isLast && latest.startedAt < listedAt)) {
        latest = { startedAt: performance.now(), looking: look(mark.id) };
        looks.set(mark.id, latest);
      }
      await latest.looking;
      if (isLast) await wakes.removeIfUnchanged(mark);
    },
  });
}

/** Makes the steps that find open work whose hint was lost, and send the hint again. */
export function sweepStalledLegs(services: BackgroundDeps): TakeStep {
  return sweepMarked(services, {
    kind: "platform",
    what: "sweep-stalled-work",
    look: (platformId) => sweepPlatform(services, platformId),
  });
}

/** Makes the steps that find endpoints whose deliveries nobody would make, and send a hint. */
export function sweepEndpoints(services: BackgroundDeps): TakeStep {
  return sweepMarked(services, {
    kind: "endpoint-check",
    what: "sweep-endpoints",
    look: (endpointId) => lookAtEndpoint(services.webhooks, endpointId),
  });
}
