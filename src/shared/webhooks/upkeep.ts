import { isoDay } from "../runtime/fields.ts";
import { overItems, type RemovedPage, type TakeStep } from "../runtime/walk-step.ts";
import type { WebhooksDeps } from "./deps.ts";
import { countDays } from "./events/count-days.ts";

/** A day longer than documented, so that nothing that a list promises is missing. */
const KEPT_MS = 31 * 24 * 60 * 60 * 1000;
/** Each is found with a query of its own. */
const ENDPOINTS_OF_PAGE = 50;

const keptFrom = ({ clock }: WebhooksDeps) => new Date(clock.now().getTime() - KEPT_MS);

export function purgeDeadDeliveries(deps: WebhooksDeps, after: string | undefined) {
  return deps.stores.deadDeliveries.removeBefore(keptFrom(deps), after);
}

/** How long the counts of a day are kept. */
const DAYS_KEPT_MS = 400 * 24 * 60 * 60 * 1000;

/** Where the purge of a platform's events continues: the application, and the page of its events. */
export interface EventsPosition {
  readonly application: string;
  readonly page?: string | undefined;
}

/**
 * Counts the events of one of the platform's applications, then removes a page of old ones and the counts of old days,
 * one application after the other. No event is removed before it could be counted.
 */
export async function purgeEvents(
  deps: WebhooksDeps,
  platformId: string,
  after: EventsPosition | undefined,
): Promise<RemovedPage<EventsPosition>> {
  const ids = (await deps.listApplicationIds(platformId)).toSorted();
  const application = ids.find((one) => one >= (after?.application ?? ""));
  if (application === undefined) return { removed: 0, next: undefined };
  const from = application === after?.application ? after.page : undefined;
  const { events, days } = deps.stores;
  const time = keptFrom(deps);
  if (from === undefined) {
    const { isUpToDate } = await countDays(deps, { platformId, applicationId: application });
    if (!isUpToDate) return { removed: 0, next: { application } };
    const oldest = isoDay(new Date(deps.clock.now().getTime() - DAYS_KEPT_MS));
    await days.removeBefore(application, oldest, undefined);
  }
  const { removed, next: page } = await events.removeLoggedBefore(application, time, from);
  if (page !== undefined) return { removed, next: { application, page } };
  const following = ids.find((one) => one > application);
  return { removed, next: following === undefined ? undefined : { application: following } };
}

/** Makes the steps that remove old deliveries of all endpoints, including deleted ones. */
export function purgeDeliveries(deps: WebhooksDeps): TakeStep {
  const { deliveries } = deps.stores;
  return overItems({
    log: deps.log,
    what: "purge-deliveries",
    async page(after = "") {
      const items: { id: string; after: string }[] = [];
      for (let last = after; items.length < ENDPOINTS_OF_PAGE;) {
        const id = await deliveries.nextEndpoint(last);
        if (id === undefined) return { items, next: undefined };
        items.push({ id, after: id });
        last = id;
      }
      return { items, next: items.at(-1)?.id };
    },
    async look(id, _at, rest) {
      const { removed, next } = await deliveries.removeEndedBefore(id, keptFrom(deps), rest);
      return { counts: { removed }, rest: next };
    },
  });
}

/** Seals the secrets of a platform's endpoints with the first data key. Returns the key of each secret afterwards. */
export function resealEndpoints({ stores }: WebhooksDeps, platformId: string): Promise<string[]> {
  return stores.endpoints.reseal(platformId);
}
