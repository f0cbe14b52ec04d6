import type { WebhooksDeps } from "../deps.ts";
import { wants, type Endpoint } from "../endpoints/endpoint.ts";
import type { Event } from "./event.ts";
import type { LoggedEvent } from "./event-store.ts";
import type { FanOutHint } from "../hint-queue.ts";
import { firstDelivery, queueDeliveries } from "../deliveries/queue-delivery.ts";

const ROUND_EVENTS_MAX = 100;
/** Their rows fit into a transaction. */
const EVENTS_AT_ONCE = 16;
/** Of a handler; what is left then gets a hint of its own. */
const RUN_MS_MAX = 60_000;

/** Returns the event as the log of each application that it concerns has it. */
async function loggedEvents(
  services: WebhooksDeps,
  platformId: string,
  event: Event,
): Promise<LoggedEvent[]> {
  const { applicationId } = event;
  if (applicationId !== null) return [{ ...event, applicationId }];
  const applicationIds = await services.applications.listIds(platformId);
  return applicationIds.map((id) => ({ ...event, applicationId: id }));
}

const isReceiver = (endpoint: Endpoint, { applicationId, type }: LoggedEvent) =>
  endpoint.applicationId === applicationId && endpoint.status === "active" && wants(endpoint, type);

/** May be repeated, also by two at once: every row has one name, and the events go only after all are there. */
async function fanOut(
  services: WebhooksDeps,
  platformId: string,
  events: readonly Event[],
  endpoints: readonly Endpoint[],
): Promise<void> {
  const now = services.clock.now();
  const all = await Promise.all(events.map((event) => loggedEvents(services, platformId, event)));
  const logged = all.flat();
  const deliveries = logged.flatMap((event) =>
    endpoints
      .filter((endpoint) => isReceiver(endpoint, event))
      .map((endpoint) => firstDelivery(event, endpoint, now)),
  );
  await services.events.log(logged);
  await queueDeliveries(services, deliveries);
  await services.events.removePending(platformId, events);
}

/** Answers the errors: one event that can't be fanned out does not delay the others. */
async function fanOutAll(
  services: WebhooksDeps,
  platformId: string,
  events: readonly Event[],
): Promise<unknown[]> {
  const endpoints = await services.endpoints.listAll(platformId);
  const errors: unknown[] = [];
  const attempt = async (batch: readonly Event[]): Promise<void> => {
    try {
      await fanOut(services, platformId, batch, endpoints);
    } catch (error) {
      if (batch.length === 1) errors.push(error);
      else for (const event of batch) await attempt([event]);
    }
  };
  for (let index = 0; index < events.length; index += EVENTS_AT_ONCE)
    await attempt(events.slice(index, index + EVENTS_AT_ONCE));
  return errors;
}

async function fanOutPending(services: WebhooksDeps, platformId: string): Promise<void> {
  const startedAt = performance.now();
  const errors: unknown[] = [];
  let after: string | undefined;
  for (;;) {
    const events = await services.events.listPending(platformId, ROUND_EVENTS_MAX, after);
    if (events.length > 0) errors.push(...(await fanOutAll(services, platformId, events)));
    // What was written meanwhile has a hint of its own.
    if (events.length < ROUND_EVENTS_MAX) break;
    after = events.at(-1)?.id;
    if (performance.now() - startedAt > RUN_MS_MAX) {
      await services.fanOutQueue.hint(platformId);
      break;
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "events could not be fanned out");
}

/**
 * Turns the platform's pending events into deliveries, one for each endpoint that wants them, and logs them. Safe to
 * repeat at any time: nothing is made twice.
 */
export function fanOutEvents(services: WebhooksDeps, { platformId }: FanOutHint): Promise<void> {
  return services.fanOuts.run(platformId, () => fanOutPending(services, platformId));
}
