import { setTimeout as wait } from "node:timers/promises";
import { isHeld, Lease, type LeaseColumns, LeaseLost, type LeaseOf } from "../../runtime/lease.ts";
import { LOST, retryLostRaces } from "../../runtime/retry-lost-races.ts";
import type { WebhooksDeps } from "../deps.ts";
import { wants, type Endpoint } from "../endpoints/endpoint.ts";
import {
  PENDING_ROWS,
  type Event,
  type LoggedEvent,
  type PendingEvents,
} from "../../events/events.ts";
import { happeningOf, isMailOn } from "../../mail/mail.ts";
import { firstDelivery, queueDeliveries } from "../deliveries/queue-delivery.ts";
import { hintEvents } from "../hints.ts";

const ROUND_EVENTS_MAX = 100;
/** Their rows fit into a transaction. */
const EVENTS_AT_ONCE = 16;
/** The events of a post with one leg. So few aren't worth a lease, because two processes may do the same work. */
const EVENTS_OF_POST = 3;
/** How long the events of a process that dies wait for another one. Many times the duration of a round. */
const LEASE_MS = 20_000;
/** A lease with less left is prolonged. */
const LEASE_LEFT_MS = 10_000;
/** Events that happen within this time share a round. Other processes also get hints meanwhile. */
const GATHERING_MS = 40;
/** Time limit of one message. What is left then gets a hint of its own. */
const RUN_MS_MAX = 60_000;

/** Returns the event as it is logged for each application that it concerns. */
async function loggedEvents(
  deps: WebhooksDeps,
  platformId: string,
  event: Event,
): Promise<LoggedEvent[]> {
  const { applicationId } = event;
  if (applicationId !== null) return [{ ...event, applicationId }];
  const applicationIds = await deps.listApplicationIds(platformId);
  return applicationIds.map((id) => ({ ...event, applicationId: id }));
}

/**
 * Removes events that are in the log and in every delivery. Those that owners are notified of are removed in the
 * transaction that stores the notice, so that it is stored once.
 */
async function removeDone(
  { config, mail, stores: { events: store } }: WebhooksDeps,
  platformId: string,
  events: readonly Event[],
): Promise<void> {
  const isTold = (event: Event) => isMailOn(config) && happeningOf(event) !== undefined;
  const told = events.filter(isTold);
  await store.removePending(
    platformId,
    events.filter((event) => !isTold(event)),
  );
  let isFirst = true;
  if (told.length === 0) return;
  await mail.writeAndTell(platformId, async () => {
    // Two processes may do the same: the one that lost asks what is left.
    const left = isFirst ? told : await store.stillPending(platformId, told);
    isFirst = false;
    if (left.length === 0) return undefined;
    const happenings = left.map(happeningOf).filter((one) => one !== undefined);
    return {
      happenings,
      writes: left.map(({ id }) => ({ kind: "delete", rowKey: PENDING_ROWS + id })),
    };
  });
}

/** Writes the deliveries. May be repeated or run twice at once: each row has one name, and events are removed last. */
async function fanOut(
  deps: WebhooksDeps,
  platformId: string,
  events: readonly Event[],
  endpoints: readonly Endpoint[],
): Promise<void> {
  const now = deps.clock.now();
  const all = await Promise.all(events.map((event) => loggedEvents(deps, platformId, event)));
  const logged = all.flat();
  const deliveries = logged.flatMap((event) =>
    endpoints
      .filter(
        (endpoint) =>
          endpoint.applicationId === event.applicationId &&
          endpoint.status === "active" &&
          wants(endpoint, event.type),
      )
      .map((endpoint) => firstDelivery(event, endpoint, now)),
  );
  await deps.stores.events.log(logged);
  await queueDeliveries(deps, deliveries);
  await removeDone(deps, platformId, events);
}

interface FailedEvent {
  readonly id: string;
  readonly error: unknown;
}

/** Returns the failures. An event that can't be fanned out doesn't delay the others. */
async function fanOutAll(
  deps: WebhooksDeps,
  platformId: string,
  events: readonly Event[],
): Promise<FailedEvent[]> {
  if (events.length === 0) return [];
  const endpoints = await deps.stores.endpoints.listAll(platformId);
  const failed: FailedEvent[] = [];
  const attempt = async (batch: readonly Event[]): Promise<void> => {
    try {
      await fanOut(deps, platformId, batch, endpoints);
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

/** Pending events that this process fans out. */
interface FanOutWork {
  readonly pending: readonly Event[];
  /** Undefined when so few events need none. */
  readonly lease: Lease<LeaseColumns, PendingEvents> | undefined;
}

/** The work of one message. */
interface FanOut {
  readonly deps: WebhooksDeps;
  readonly platformId: string;
  readonly endsAt: number;
  /** Events that can't be fanned out now. */
  readonly failed: FailedEvent[];
}

const fanOutLease = ({
  deps,
  platformId,
  failed,
}: FanOut): LeaseOf<LeaseColumns, PendingEvents> => ({
  what: "a fan-out",
  fields: { platformId },
  log: deps.log,
  clock: deps.clock,
  leaseMs: LEASE_MS,
  read: () => deps.stores.events.readPending(platformId, ROUND_EVENTS_MAX + failed.length),
  write: (part, etag) => deps.stores.events.writeFanOut(platformId, part, etag),
  hint: () => hintEvents(deps, platformId),
});

/**
 * Reads the first pending events, and takes their lease if they are many. Returns undefined when there are none, or
 * when another process has the lease. That process then checks again before it gives the lease back.
 */
function beginFanOut(fanOut: FanOut): Promise<FanOutWork | undefined> {
  const { platformId } = fanOut;
  const { clock } = fanOut.deps;
  const { events } = fanOut.deps.stores;
  const of = fanOutLease(fanOut);
  return retryLostRaces(async () => {
    // Without a read, because that process has most likely not finished.
    const isShared = events.isShared(platformId, clock.now());
    if (isShared && (await events.askHolder(platformId))) return undefined;
    const found = await events.readPending(platformId, ROUND_EVENTS_MAX);
    const { pending, state, etag } = found;
    if (pending.length === 0) return undefined;
    const isLittle = !isShared && pending.length <= EVENTS_OF_POST;
    if (isLittle && etag === undefined) return { pending, lease: undefined };
    const lease = new Lease(of, found);
    if (isHeld(state, clock.now())) events.noteHeld(platformId, state);
    else if (await lease.take()) return { pending, lease };
    return (await events.askHolder(platformId)) ? undefined : LOST;
  });
}

/**
 * Fans out round by round. Checks again when a process has asked for it since, so that no event waits although its hint
 * was used up. Returns false when time was up before the end. @throws LeaseLost
 */
async function fanOutRounds(fanOut: FanOut, { pending, lease }: FanOutWork): Promise<boolean> {
  const { deps, platformId, endsAt, failed } = fanOut;
  let isAsked = false;
  for (let round = pending; ;) {
    failed.push(...(await fanOutAll(deps, platformId, round)));
    if (lease === undefined) return true;
    // A process that was asked a moment ago has most likely been asked again.
    const mayEnd = round.length < (isAsked ? 1 : ROUND_EVENTS_MAX);
    if (mayEnd && (await lease.release())) return true;
    if (performance.now() > endsAt) return false;
    isAsked = round.length < ROUND_EVENTS_MAX;
    if (isAsked) await wait(GATHERING_MS);
    const found = await lease.readAgain();
    await lease.prolong(LEASE_LEFT_MS);
    round = found.pending.filter(({ id }) => failed.every((one) => one.id !== id));
  }
}

async function fanOutPending(fanOut: FanOut): Promise<void> {
  const { deps, platformId, failed } = fanOut;
  const begun = await beginFanOut(fanOut);
  if (begun === undefined) return;
  let isDone = false;
  try {
    isDone = await fanOutRounds(fanOut, begun);
  } catch (error) {
    // Another process has taken over the events.
    if (!(error instanceof LeaseLost)) throw error;
    isDone = true;
  } finally {
    if (!isDone) await begun.lease?.giveBack();
  }
  const errors = failed.map(({ error }) => error);
  if (errors.length > 0) throw new AggregateError(errors, "events could not be fanned out");
  if (!isDone) await hintEvents(deps, platformId);
}

/**
 * Turns the platform's pending events into deliveries, one for each endpoint that wants them, and logs them. Safe to
 * repeat at any time, because nothing is made twice. While there is much to do, one process at a time has the lease on
 * a platform's events, so that more processes don't cost more. What is left at `endsAt`, in milliseconds of
 * `performance`, gets a message.
 */
export async function fanOutEvents(
  deps: WebhooksDeps,
  { platformId }: { readonly platformId: string },
  endsAt = performance.now() + RUN_MS_MAX,
): Promise<void> {
  const work = () => fanOutPending({ deps, platformId, endsAt, failed: [] });
  if (await deps.work.fanOuts.run(platformId, work, endsAt)) await hintEvents(deps, platformId);
}
