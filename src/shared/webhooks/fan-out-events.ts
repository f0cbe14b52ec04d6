import type { Services } from "../services.ts";
import { wants, type Endpoint } from "./endpoint.ts";
import type { Event } from "./event.ts";
import type { LoggedEvent } from "./event-store.ts";
import type { FanOutHint } from "./fan-out-queue.ts";
import { firstDelivery, queueDelivery } from "./queue-delivery.ts";

const ROUND_EVENTS_MAX = 100;
const EVENTS_AT_ONCE = 8;
/** Of a handler; what is left then gets a hint of its own. */
const RUN_MS_MAX = 60_000;

/** The event as each application that it concerns is told of it. */
async function tellings(
  services: Services,
  platformId: string,
  event: Event,
): Promise<LoggedEvent[]> {
  const { applicationId } = event;
  if (applicationId !== null) return [{ ...event, applicationId }];
  const applications = await services.applications.listAll(platformId);
  return applications.map(({ id }) => ({ ...event, applicationId: id }));
}

/** May be repeated, also by two at once: every row has one name, and the event goes only after all are there. */
async function fanOut(
  services: Services,
  platformId: string,
  event: Event,
  endpoints: readonly Endpoint[],
): Promise<void> {
  const now = services.clock.now();
  for (const told of await tellings(services, platformId, event)) {
    await services.events.log(told);
    const receivers = endpoints.filter(
      (endpoint) =>
        endpoint.applicationId === told.applicationId &&
        endpoint.status === "active" &&
        wants(endpoint, told.type),
    );
    await Promise.all(
      receivers.map((endpoint) => queueDelivery(services, firstDelivery(told, endpoint, now))),
    );
  }
  await services.events.removeWaiting(platformId, event);
}

/** Answers the errors: one event that can't be fanned out does not hold up the others. */
async function fanOutAll(
  services: Services,
  platformId: string,
  events: readonly Event[],
): Promise<unknown[]> {
  const endpoints = await services.endpoints.listAll(platformId);
  const errors: unknown[] = [];
  for (let index = 0; index < events.length; index += EVENTS_AT_ONCE) {
    const batch = events.slice(index, index + EVENTS_AT_ONCE);
    const results = await Promise.allSettled(
      batch.map((event) => fanOut(services, platformId, event, endpoints)),
    );
    for (const result of results) if (result.status === "rejected") errors.push(result.reason);
  }
  return errors;
}

async function fanOutWaiting(services: Services, platformId: string): Promise<void> {
  const startedAt = performance.now();
  const errors: unknown[] = [];
  let after: string | undefined;
  for (;;) {
    const events = await services.events.listWaiting(platformId, ROUND_EVENTS_MAX, after);
    if (events.length === 0) break;
    errors.push(...(await fanOutAll(services, platformId, events)));
    after = events.at(-1)?.id;
    if (performance.now() - startedAt > RUN_MS_MAX) {
      await services.fanOutQueue.hint(platformId);
      break;
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "events could not be fanned out");
}

/**
 * Turns the platform's waiting events into deliveries, one for each endpoint that wants them, and logs them. Safe to
 * repeat at any time: nothing is made twice.
 */
export function fanOutEvents(services: Services, { platformId }: FanOutHint): Promise<void> {
  return services.fanOuts.run(platformId, () => fanOutWaiting(services, platformId));
}
