import { markIfWaiting } from "../mail/mail.ts";
import { inBatches } from "../runtime/promises.ts";
import { undefinedIfDamaged } from "../runtime/storage/damaged-row.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import { lookAtEndpoint } from "../webhooks/webhooks.ts";
import type { BackgroundDeps } from "./deps.ts";
import { overPlatforms } from "./walk.ts";

const ENDPOINTS_AT_ONCE = 8;

async function markIfOpen(services: BackgroundDeps, platformId: string): Promise<boolean> {
  const [{ works, next }, events] = await Promise.all([
    services.publishing.stores.posts.listOpenWork(platformId, "", 1),
    services.webhooks.stores.events.listPending(platformId, 1),
    markIfWaiting(services.tenants.mail, platformId),
  ]);
  if (works.length + events.length === 0 && next === undefined) return false;
  await services.webhooks.wakes.mark("platform", platformId, services.clock.now());
  return true;
}

/** Has each endpoint of the platform drained that has deliveries without a message. */
async function lookAtEndpoints(services: BackgroundDeps, platformId: string): Promise<void> {
  const endpoints = await services.webhooks.stores.endpoints.listAll(platformId);
  await inBatches(endpoints, ENDPOINTS_AT_ONCE, ({ id }) =>
    undefinedIfDamaged(lookAtEndpoint(services.webhooks, id)),
  );
}

/** Returns whether the platform's row is damaged. Requests get an error for it; this walk counts it and goes on. */
async function isPlatformDamaged(services: BackgroundDeps, platformId: string): Promise<boolean> {
  const reading = services.tenants.stores.platforms.find(platformId).then(() => "read");
  return (await undefinedIfDamaged(reading)) === undefined;
}

/**
 * Makes the steps that mark every platform with open work for the sweep, whatever was marked before, and look at every
 * endpoint as the sweep looks at marked ones. Platforms and endpoints are marked before their work is written; a process
 * that is suspended in between for longer than a mark lasts, and dies right after it wrote, leaves work that only this
 * finds.
 */
export function findForgottenWork(services: BackgroundDeps): TakeStep {
  return overPlatforms(services, "find-forgotten-work", async (platformId) => {
    const [isMarked, isDamaged] = await Promise.all([
      markIfOpen(services, platformId),
      isPlatformDamaged(services, platformId),
      lookAtEndpoints(services, platformId),
    ]);
    return { counts: { marked: isMarked ? 1 : 0, damagedPlatforms: isDamaged ? 1 : 0 } };
  });
}
