import { markIfWaiting } from "../mail/mail.ts";
import { hasOpenWork } from "../publishing/publishing.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import { checkListedPlatform } from "../tenants/tenants.ts";
import { hasPendingEvents, lookAtEndpoints } from "../webhooks/webhooks.ts";
import type { BackgroundDeps } from "./deps.ts";
import { overPlatforms } from "./walk.ts";

async function markIfOpen(deps: BackgroundDeps, platformId: string): Promise<boolean> {
  const [hasWork, hasEvents] = await Promise.all([
    hasOpenWork(deps.publishing, platformId),
    hasPendingEvents(deps.webhooks, platformId),
    markIfWaiting(deps.mail, platformId),
  ]);
  if (!hasWork && !hasEvents) return false;
  await deps.webhooks.wakes.mark("platform", platformId, deps.clock.now());
  return true;
}

/**
 * Makes the steps that mark every platform with open work for the sweep, and check every endpoint as the sweep checks
 * marked ones. Platforms and endpoints are marked before their work is written. If a process is suspended in between
 * for longer than a mark lasts, and dies directly after it wrote, only this finds the work. It also removes platforms from the list of all that were
 * never completed.
 */
export function findForgottenWork(deps: BackgroundDeps): TakeStep {
  return overPlatforms(deps, "find-forgotten-work", async (platformId) => {
    const [isMarked, platform] = await Promise.all([
      markIfOpen(deps, platformId),
      checkListedPlatform(deps.tenants, platformId),
      lookAtEndpoints(deps.webhooks, platformId),
    ]);
    return {
      counts: {
        marked: isMarked ? 1 : 0,
        damagedPlatforms: platform === "damaged" ? 1 : 0,
        removedPlatforms: platform === "removed" ? 1 : 0,
      },
    };
  });
}
