import type { Services } from "../services.ts";
import { isEnded, nextStep, type Leg } from "./post.ts";
import type { OpenWork } from "./post-store.ts";

/** Missed minutes that one run works through at most; the next run goes on. */
const MINUTES_MAX = 180;
const RUN_MS_MAX = 45_000;
const CHECK_SECONDS_MAX = 15 * 60;
/** After a lease ended or a wait is over, the worker's own hint goes first. */
const GRACE_SECONDS = 10;

type Found = OpenWork & { readonly etag: string };

/** When to look again: after what the legs wait for, else later each time, up to a quarter of an hour. */
export function nextCheck(
  legs: readonly Leg[],
  checks: number,
  checkSeconds: number,
  now: Date,
): string {
  const waits = legs.flatMap((leg) => {
    const step = nextStep(leg, now);
    return step.kind === "later" ? [Date.parse(step.at) + GRACE_SECONDS * 1000] : [];
  });
  const backoff = Math.min(CHECK_SECONDS_MAX, checkSeconds * 2 ** Math.min(checks, 10)) * 1000;
  return new Date(Math.min(now.getTime() + backoff, ...waits)).toISOString();
}

/** Sends again what a lost hint or a dead worker left; a post without open legs needs no work row any more. */
async function repair(services: Services, work: Found): Promise<void> {
  const { place } = work;
  const found = await services.posts.find(place);
  const open = found?.legs.filter((leg) => !isEnded(leg)) ?? [];
  if (open.length === 0) return services.posts.removeWork(work);
  const now = services.clock.now();
  const { workCheckSeconds } = services.config.publishing;
  const stalled = open.filter((leg) => nextStep(leg, now).kind === "claim");
  const nextCheckAt = nextCheck(open, work.checks, workCheckSeconds, now);
  const mine = await services.posts.postponeWork({ ...work, nextCheckAt, checks: work.checks + 1 });
  if (!mine || stalled.length === 0) return;
  services.log.info("stalled legs hinted again", { postId: place.postId, legs: stalled.length });
  await services.publishQueue.hint(
    place,
    stalled.map(({ network }) => network),
  );
}

async function repairPlatform(services: Services, platformId: string): Promise<void> {
  const [works, events] = await Promise.all([
    services.posts.listOpenWork(platformId),
    services.events.listWaiting(platformId, 1),
  ]);
  const now = services.clock.now();
  // First, so that a crash below leaves the platform where the next sweep finds it.
  if (works.length + events.length > 0) await services.dirty.announce(platformId, now);
  if (events.length > 0) await services.fanOutQueue.hint(platformId);
  for (const work of works) {
    if (work.nextCheckAt > now.toISOString()) continue;
    try {
      await repair(services, work);
    } catch (error) {
      services.log.error("open work could not be repaired", { postId: work.place.postId, error });
    }
  }
}

/**
 * Finds open work that no message stands for any more and hints it again. Idempotent; safe when missed, doubled or
 * late. The watermark moves only over minutes whose platforms were all looked at.
 */
export async function repairStalledLegs(services: Services): Promise<void> {
  const startedAt = Date.now();
  const now = services.clock.now();
  const minutes = await services.dirty.minutes(now, MINUTES_MAX);
  const seen = new Set<string>();
  for (const minute of minutes) {
    for (const platformId of await services.dirty.platformsOf(minute)) {
      if (seen.has(platformId)) continue;
      seen.add(platformId);
      await repairPlatform(services, platformId);
      if (Date.now() - startedAt > RUN_MS_MAX) return;
    }
    await services.dirty.advance(minute, now);
  }
}
