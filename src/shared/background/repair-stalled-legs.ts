import type { BackgroundDeps } from "./deps.ts";
import { continueWork, NO_ORIGIN } from "../runtime/telemetry/work-context.ts";
import { isEnded, nextLegStep } from "../publishing/leg.ts";
import { nextCheck } from "../publishing/leg-times.ts";
import type { StoredWork } from "../publishing/post-store.ts";

/** Missed minutes that one run works through at most; the next run goes on. */
const MINUTES_MAX = 180;
const RUN_MS_MAX = 45_000;
const REPAIRS_AT_ONCE = 8;
/** Of one platform in one run: one with much open work must not keep the sweeper from the others. */
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

/** Looks at each platform once; false when the time is up. */
class Sweep {
  readonly #services: BackgroundDeps;
  readonly #startedAt = performance.now();
  readonly #seen = new Set<string>();

  constructor(services: BackgroundDeps) {
    this.#services = services;
  }

  async look(platformId: string): Promise<boolean> {
    if (this.#seen.has(platformId)) return true;
    this.#seen.add(platformId);
    await repairPlatform(this.#services, platformId);
    return performance.now() - this.#startedAt <= RUN_MS_MAX;
  }
}

/**
 * Finds open work that no message stands for any more and hints it again. Idempotent; safe when missed, doubled or
 * late. The watermark moves only over minutes whose platforms were all looked at.
 */
export async function repairStalledLegs(services: BackgroundDeps): Promise<void> {
  const { openWork } = services;
  const now = services.clock.now();
  const sweep = new Sweep(services);
  for (const left of await openWork.listLeftBehind()) {
    if (!(await sweep.look(left.platformId))) return;
    await openWork.removeLeftBehind(left);
  }
  for (const minute of await openWork.minutes(now, MINUTES_MAX)) {
    for (const platformId of await openWork.platformsOf(minute))
      if (!(await sweep.look(platformId))) return;
    await openWork.advance(minute, now);
  }
}
