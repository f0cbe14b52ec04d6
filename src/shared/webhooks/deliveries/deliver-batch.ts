import { invariant } from "../../runtime/errors.ts";
import { DamagedRow } from "../../runtime/storage/damaged-row.ts";
import { continueWork } from "../../runtime/telemetry/work-context.ts";
import { circuitOf } from "../endpoints/endpoint-health-store.ts";
import type { OpenedEndpoint } from "../endpoints/endpoint-store.ts";
import type { Event } from "../events/event.ts";
import type { Delivery, DeliveryError } from "./delivery.ts";
import type { Drain, Item } from "./drain.ts";
import { pendingWrite, timed, type Pending } from "./pending-store.ts";
import { attemptsMax, claim, endAsDead, hold, recordAttempt } from "./record-attempt.ts";
import { sendDelivery } from "./send-delivery.ts";

/** Calls to an endpoint at a time. */
const CALLS_AT_ONCE = 4;
/** For how long an endpoint is taken to be as it was read. */
const OPENED_MS = 1_000;
/** A row that can't be read is looked at again this much later. */
const DAMAGED_MS = 60 * 60_000;

/** Redrives and test events are sent at once, and a delivery that was attempted keeps its schedule. */
const canBeHeld = ({ attempts, redriveOf, eventType }: Delivery) =>
  attempts === 0 && redriveOf === null && eventType !== "webhook.test";

/** Deliveries that are handled together, with what they need. */
interface Batch {
  readonly drain: Drain;
  readonly events: ReadonlyMap<string, Event>;
  /** Finds out whether the endpoint is well again. */
  readonly probe: Item | undefined;
  readonly toHold: Item[];
  /** Whether some were left because the drain is over. */
  isCut: boolean;
}

async function putOff({ writer, services }: Drain, pending: Pending): Promise<void> {
  const later = new Date(services.clock.now().getTime() + DAMAGED_MS).toISOString();
  await writer.write([
    { kind: "delete", rowKey: pending.key },
    pendingWrite(timed(pending.deliveryId, later)),
  ]);
}

/** Reads deliveries, and removes rows of those that ended, are gone or have another row. */
async function readItems(drain: Drain, wanted: readonly Pending[]): Promise<readonly Item[]> {
  const { services, endpointId } = drain;
  const found = await services.pending.find(endpointId, wanted);
  const items: Item[] = [];
  const stale: Pending[] = [];
  for (const pending of wanted) {
    const one = found.get(pending.deliveryId);
    if (one !== undefined && "damage" in one) await putOff(drain, pending);
    else if (one === undefined || isStale(pending, one.delivery)) stale.push(pending);
    else items.push({ pending, ...one });
  }
  if (stale.length > 0) await services.pending.remove(endpointId, stale);
  return items;
}

function isStale({ at }: Pending, { status, nextAttemptAt }: Delivery): boolean {
  if (status !== "pending") return true;
  return at !== null && nextAttemptAt !== null && nextAttemptAt > at;
}

/** Returns why the delivery ends without a call; undefined when a call can be made. */
function obstacle(
  opened: OpenedEndpoint | undefined,
  event: Event | undefined,
): DeliveryError | undefined {
  if (opened === undefined) return "endpoint_deleted";
  if (opened.endpoint.status === "disabled") return "endpoint_disabled";
  return event === undefined ? "event_expired" : undefined;
}

async function openEndpoint(
  drain: Drain,
  { platformId, endpointId }: Delivery,
): Promise<OpenedEndpoint | undefined> {
  const { services, opened } = drain;
  const now = services.clock.now();
  if (opened !== undefined && now.getTime() - opened.at <= OPENED_MS) return opened.endpoint;
  const endpoint = await services.endpoints.open(platformId, endpointId, now);
  drain.opened = { endpoint, at: now.getTime() };
  services.endpointOwners.set(endpointId, platformId);
  return endpoint;
}

/** Returns the event of a delivery. A damaged one is missing in the batch, and reading it alone throws its error. */
async function eventOf({ drain, events }: Batch, delivery: Delivery): Promise<Event | undefined> {
  const { applicationId, eventId } = delivery;
  return events.get(eventId) ?? (await drain.services.events.find(applicationId, eventId));
}

/** What the next delivery is begun with, while an outcome is being written. */
interface Stepped {
  readonly recorded: Promise<void>;
}

const DONE: Stepped = { recorded: Promise.resolve() };

/** Handles a delivery. What was recorded `before` is awaited no later than the claim, so that both are one write. */
async function step(batch: Batch, item: Item, before: Promise<void>): Promise<Stepped> {
  const { drain, probe } = batch;
  const { services, lease } = drain;
  const { delivery } = item;
  const opened = await openEndpoint(drain, delivery);
  const event = await eventOf(batch, delivery);
  const isTried = delivery.attempts >= attemptsMax(services);
  const lastError = isTried ? "interrupted" : obstacle(opened, event);
  if (lastError !== undefined) {
    await before;
    await endAsDead(drain, item, { lastError }, /deleted|expired/.test(lastError));
    return DONE;
  }
  invariant(opened !== undefined && event !== undefined, "a delivery without its parts");
  invariant(opened.secrets.length > 0, "the endpoint's secret can't be opened");
  const isOpen = circuitOf(lease.state) !== null;
  if (isOpen && item !== probe && canBeHeld(delivery)) batch.toHold.push(item);
  else if (drain.isOver()) batch.isCut = true;
  else {
    if (lease.isShort) await lease.prolong();
    const [claimed] = await Promise.all([claim(drain, item), before]);
    if (claimed === undefined) return DONE;
    const made = await sendDelivery(services, opened, claimed.delivery, event);
    const recorded = recordAttempt(drain, claimed, made);
    if (made.error === null && lease.state.failures === 0) return { recorded };
    await recorded;
    return DONE;
  }
  await before;
  return DONE;
}

async function handle(batch: Batch, item: Item, before: Promise<void>): Promise<Stepped> {
  const { origin, platformId, postId } = item.delivery;
  const whose = { platformId, ...(postId === null ? {} : { postId }) };
  try {
    return await continueWork(origin, whose, () => step(batch, item, before));
  } catch (error) {
    if (!(error instanceof DamagedRow)) throw error;
    await before;
    await putOff(batch.drain, item.pending);
    return DONE;
  }
}

/** Handles deliveries, four at a time, in their order. Ends when all calls have ended, also after an error. */
async function handleAll(batch: Batch, items: readonly Item[]): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    let before = DONE.recorded;
    try {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        ({ recorded: before } = await handle(batch, item, before));
        // Whoever waits for it hears of it.
        before.catch(() => undefined);
      }
      await before;
    } catch (error) {
      waiting.length = 0;
      throw error;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: CALLS_AT_ONCE }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** Adds the attempts to the timelines of their posts; best effort. */
async function writeTimelines({ services, endpointId, steps }: Drain): Promise<void> {
  const all = [...steps];
  steps.clear();
  await Promise.all(
    all.map(async ([postId, own]) => {
      try {
        await services.timeline.append(postId, endpointId, own);
      } catch (error) {
        services.log.warn("timeline not written", { postId, error });
      }
    }),
  );
}

/**
 * Attempts deliveries, holds or ends them, each as it is with its endpoint. Of those that can be held only the first is
 * attempted while the endpoint's circuit is open, and that when a probe is due. Returns how far it came: `cut` when the
 * drain was over before, `more` when the rest of them can be handled now.
 */
export async function deliverBatch(
  drain: Drain,
  wanted: readonly Pending[],
): Promise<"done" | "more" | "cut"> {
  const { services, lease } = drain;
  const items = await readItems(drain, wanted);
  const [first] = items;
  if (first === undefined) return "done";
  const eventIds = items.map(({ delivery }) => delivery.eventId);
  const [events] = await Promise.all([
    services.events.findMany(first.delivery.applicationId, eventIds),
    openEndpoint(drain, first.delivery),
  ]);
  const circuit = circuitOf(lease.state);
  const [atOnce, later]: [Item[], Item[]] = [[], []];
  for (const item of items)
    (circuit !== null && canBeHeld(item.delivery) ? later : atOnce).push(item);
  const isProbeDue = circuit !== null && circuit.probeAt <= services.clock.now().toISOString();
  const probe = isProbeDue ? later.shift() : undefined;
  const batch: Batch = { drain, events, probe, toHold: [], isCut: false };
  await handleAll(batch, probe === undefined ? atOnce : [probe, ...atOnce]);
  await handleAll(batch, later);
  const isHeld = await hold(drain, batch.toHold);
  await writeTimelines(drain);
  if (batch.isCut) return "cut";
  // What is held can be sent, and was not looked for.
  const hasClosed = circuit !== null && circuitOf(lease.state) === null;
  return isHeld && !hasClosed ? "done" : "more";
}
