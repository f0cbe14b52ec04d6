import { undefinedIfDamaged } from "../runtime/storage/damaged-row.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";
import { overPlatforms } from "./over-platforms.ts";

async function markIfOpen(services: BackgroundDeps, platformId: string): Promise<boolean> {
  const [{ works, next }, events] = await Promise.all([
    services.posts.listOpenWork(platformId, "", 1),
    services.events.listPending(platformId, 1),
  ]);
  if (works.length + events.length === 0 && next === undefined) return false;
  await services.openWork.mark(platformId, services.clock.now());
  return true;
}

/** Whoever asks for the platform gets an error; this one counts it, and goes on. */
async function isPlatformDamaged(services: BackgroundDeps, platformId: string): Promise<boolean> {
  const reading = services.platforms.find(platformId).then(() => "read");
  return (await undefinedIfDamaged(reading)) === undefined;
}

/**
 * Makes the steps that mark every platform with open work for the sweep, whatever was marked before. A platform is marked
 * before its work is written; a process that stands still in between for longer than a mark lasts, and dies right after
 * it wrote, leaves work that only this finds.
 */
export function findForgottenWork(services: BackgroundDeps): TakeStep {
  return overPlatforms(services, "find-forgotten-work", async (platformId) => {
    const [isMarked, isDamaged] = await Promise.all([
      markIfOpen(services, platformId),
      isPlatformDamaged(services, platformId),
    ]);
    return { counts: { marked: isMarked ? 1 : 0, damagedPlatforms: isDamaged ? 1 : 0 } };
  });
}
