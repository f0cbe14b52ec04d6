import type { ProfileScope } from "../callers/scope.ts";
import type { RemovedPage } from "../runtime/walk-step.ts";
import type { WebhooksDeps } from "./deps.ts";

type After = string | undefined;

/** Each removes a page of a profile's rows. */
export const clearWebhooks = {
  pendingEvents: (
    { stores }: WebhooksDeps,
    { platformId, profileId }: ProfileScope,
    after: After,
  ) => stores.events.removePendingOfProfile(platformId, profileId, after),
  loggedEvents: (
    { stores }: WebhooksDeps,
    { applicationId, profileId }: ProfileScope,
    after: After,
  ) => stores.events.removeLoggedOfProfile(applicationId, profileId, after),
  deliveries: ({ stores }: WebhooksDeps, { profileId }: ProfileScope, after: After) =>
    stores.deliveries.removeOfProfile(profileId, after),
} as const;

/** Returns the end of a step, or a next page, which finds what is left. */
const page = (removed: number, isMore = removed > 0): RemovedPage => ({
  removed,
  next: isMore ? "more" : undefined,
});

/** Removes pages until something was removed, since any page may be empty. Returns the number of rows. */
async function removeSome(remove: (after: After) => Promise<RemovedPage>): Promise<number> {
  for (let after: After; ;) {
    const { removed, next } = await remove(after);
    if (removed > 0 || next === undefined) return removed;
    after = next;
  }
}

/** Each removes a page of a platform's rows. */
export const clearWebhooksOfPlatform = {
  async endpoints({ stores: { endpoints, deliveries } }: WebhooksDeps, platformId: string) {
    const [endpoint] = await endpoints.listAll(platformId);
    if (endpoint === undefined) return page(0);
    const removed = await removeSome((after) => deliveries.removeOfEndpoint(endpoint.id, after));
    if (removed === 0) await endpoints.delete(endpoint);
    return page(removed, true);
  },
  deliveries: ({ stores }: WebhooksDeps, platformId: string, after: After) =>
    stores.deliveries.removeOfPlatform(platformId, after),
  deadDeliveries: ({ stores }: WebhooksDeps, platformId: string, after: After) =>
    stores.deadDeliveries.removeOfPlatform(platformId, after),
  pendingEvents: ({ stores }: WebhooksDeps, platformId: string, after: After) =>
    stores.events.removePendingOfPlatform(platformId, after),
  async loggedEvents(deps: WebhooksDeps, platformId: string) {
    const { stores, clock } = deps;
    const now = clock.now();
    for (const id of await deps.listApplicationIds(platformId)) {
      const removed =
        (await removeSome((after) => stores.events.removeLoggedBefore(id, now, after))) +
        (await removeSome((after) => stores.days.removeAll(id, after)));
      if (removed > 0) return page(removed);
    }
    return page(0);
  },
} as const;
