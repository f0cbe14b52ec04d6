import { markIfWaiting } from "../mail/mail.ts";
import { hasOpenWork } from "../publishing/publishing.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import { isPlatformDamaged } from "../tenants/tenants.ts";
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
 * for longer than a mark lasts, and dies directly after it wrote, only this finds the work.
 */
export function findForgottenWork(deps: BackgroundDeps): TakeStep {
  return overPlatforms(deps, "find-forgotten-work", async (platformId) => {
    const [isMarked, isDamaged] = await Promise.all([
      markIfOpen(deps, platformId),
      isPlatformDamaged(deps.tenants, platformId),
      lookAtEndpoints(deps.webhooks, platformId),
    ]);
    return { counts: { marked: isMarked ? 1 : 0, damagedPlatforms: isDamaged ? 1 : 0 } };
  });
}
