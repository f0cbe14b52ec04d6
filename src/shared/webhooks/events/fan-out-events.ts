import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { giveBack } from "../../runtime/give-back.ts";
import { LOST, untilWon } from "../../runtime/until-won.ts";
import type { WebhooksDeps } from "../deps.ts";
import { wants, type Endpoint } from "../endpoints/endpoint.ts";
import type { Event } from "./event.ts";
import type { LoggedEvent, PendingEvents } from "./event-store.ts";
import { firstDelivery, queueDeliveries } from "../deliveries/queue-delivery.ts";

const ROUND_EVENTS_MAX = 100;
/** Their rows fit into a transaction. */
const EVENTS_AT_ONCE = 16;
/** Of a post with one leg. So few are not worth a lease, since two processes that do the same do no harm. */
const EVENTS_OF_POST = 3;
/** What happens in this time is in one round, where other processes get hints as well. */
const GATHERING_MS = 40;
/** Time limit of one message; what is left then gets a hint of its own. */
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

/** Writes the deliveries. May be repeated, also by two at once: each row has one name, and events go last. */
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

interface Failed {
  readonly id: string;
  readonly error: unknown;
}

/** Returns what failed: one event that can't be fanned out does not delay the others. */
async function fanOutAll(
  services: WebhooksDeps,
  platformId: string,
  events: readonly Event[],
): Promise<Failed[]> {
  if (events.length === 0) return [];
  const endpoints = await services.endpoints.listAll(platformId);
  const failed: Failed[] = [];
  const attempt = async (batch: readonly Event[]): Promise<void> => {
    try {
      await fanOut(services, platformId, batch, endpoints);
    } catch (error) {
      const [first, ...others] = batch;
      if (first !== undefined && others.length === 0) failed.push({ id: first.id, error });
      else for (const event of batch) await attempt([event]);
    }
  };
  for (let index = 0; index < events.length; index += EVENTS_AT_ONCE)
    await attempt(events.slice(index, index + EVENTS_AT_ONCE));
  return failed;
}

/**
 * Returns the first pending events; undefined when there are none, or when another process has them in hand: that one
 * then looks again before it lets go of them. Without a lease these are so few that none is needed.
 */
function begin(
  services: WebhooksDeps,
  platformId: string,
  by: string,
): Promise<PendingEvents | undefined> {
  const { events, clock } = services;
  return untilWon(async () => {
    // Without a read, since that one is most likely still at it.
    const isShared = events.isShared(platformId, clock.now());
    if (isShared && (await events.askHolder(platformId))) return undefined;
    const { pending, lease } = await events.readPending(platformId, ROUND_EVENTS_MAX);
    if (pending.length === 0) return undefined;
    const isLittle = !isShared && pending.length <= EVENTS_OF_POST;
    if (isLittle && lease === undefined) return { pending, lease };
    const own = await events.takeFanOut(platformId, by, lease, clock.now());
    if (own !== undefined) return { pending, lease: own };
    return (await events.askHolder(platformId)) ? undefined : LOST;
  });
}

/**
 * Gives the lease back if it is ours, whatever is left to do. Where that takes several tries, sends a hint then: others
 * may have asked the holder of the lease meanwhile.
 */
async function letGo(services: WebhooksDeps, platformId: string, by: string): Promise<void> {
  let isLate = false;
  await giveBack({ log: services.log, what: "a fan-out", fields: { platformId } }, async () => {
    const wasLate = isLate;
    isLate = true;
    await untilWon(async () => {
      const { lease } = await services.events.readPending(platformId, 1);
      if (lease?.by !== by) return undefined;
      return (await services.events.endFanOut(platformId, lease)) ? undefined : LOST;
    });
    if (wasLate) await services.fanOutQueue.hint(platformId);
  });
}

/**
 * Fans out round by round. Looks again when somebody has asked for it since, so that no event waits whose hint another
 * process had. Returns whether the time was up, and what failed.
 */
async function fanOutRounds(
  services: WebhooksDeps,
  platformId: string,
  { first, endsAt }: { readonly first: PendingEvents; readonly endsAt: number },
) {
  const { events, clock } = services;
  const failed: Failed[] = [];
  let isAsked = false;
  for (let { pending, lease } = first; ;) {
    failed.push(...(await fanOutAll(services, platformId, pending)));
    if (lease === undefined) return { failed, isUp: false };
    // Who was asked a moment ago has most likely been asked again.
    const mayEnd = pending.length < (isAsked ? 1 : ROUND_EVENTS_MAX);
    if (mayEnd && (await events.endFanOut(platformId, lease))) return { failed, isUp: false };
    if (performance.now() > endsAt) return { failed, isUp: true };
    isAsked = pending.length < ROUND_EVENTS_MAX;
    if (isAsked) await wait(GATHERING_MS);
    const { by } = lease;
    const found = await events.readPending(platformId, ROUND_EVENTS_MAX + failed.length);
    // It ran out, and another process has taken it over.
    if (found.lease?.by !== by) return { failed, isUp: false };
    lease = await events.prolongFanOut(platformId, found.lease, clock.now());
    pending = found.pending.filter(({ id }) => failed.every((one) => one.id !== id));
  }
}

async function fanOutPending(
  services: WebhooksDeps,
  platformId: string,
  endsAt: number,
): Promise<void> {
  const by = randomUUID();
  let isEnded = false;
  try {
    const begun = await begin(services, platformId, by);
    if (begun === undefined) return void (isEnded = true);
    const { failed, isUp } = await fanOutRounds(services, platformId, { first: begun, endsAt });
    isEnded = !isUp;
    const errors = failed.map(({ error }) => error);
    if (errors.length > 0) throw new AggregateError(errors, "events could not be fanned out");
  } finally {
    // Also where it is unknown whether it was taken.
    if (!isEnded) await letGo(services, platformId, by);
  }
  if (!isEnded) await services.fanOutQueue.hint(platformId);
}

/**
 * Turns the platform's pending events into deliveries, one for each endpoint that wants them, and logs them. Safe to
 * repeat at any time: nothing is made twice. One process at a time has a platform's events in hand, as long as there is
 * much to do, so that more processes don't cost more. What is left at `endsAt`, in milliseconds of `performance`, gets a
 * message.
 */
export async function fanOutEvents(
  services: WebhooksDeps,
  { platformId }: { readonly platformId: string },
  endsAt = performance.now() + RUN_MS_MAX,
): Promise<void> {
  const work = () => fanOutPending(services, platformId, endsAt);
  if (await services.fanOuts.run(platformId, work, endsAt))
    await services.fanOutQueue.hint(platformId);
}
