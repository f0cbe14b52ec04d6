import { invariant } from "../../runtime/errors.ts";
import { DamagedRow } from "../../runtime/storage/damaged-row.ts";
import { continueWork } from "../../runtime/telemetry/work-context.ts";
import { circuitOf } from "../endpoints/endpoint-health-store.ts";
import type { OpenedEndpoint } from "../endpoints/endpoint-store.ts";
import type { Event } from "../../events/events.ts";
import type { Delivery, DeliveryError } from "./delivery.ts";
import type { Drain, Item } from "./drain.ts";
import { prolongForCall } from "./endpoint-lease.ts";
import { pendingWrite, scheduled, type PendingDelivery } from "./pending-store.ts";
import { attemptsMax, claimAttempt, endAsDead, recordAttempt } from "./record-attempt.ts";
import { sendDelivery } from "./send-delivery.ts";

/** Concurrent calls to an endpoint. */
const CALLS_AT_ONCE = 4;
/** How long an endpoint is used as it was read. */
const OPENED_MS = 1_000;
/** A row that can't be read is checked again after this time. */
const DAMAGED_MS = 60 * 60_000;

/** Deliveries that are handled together, with what they need. */
interface DeliveryBatch {
  readonly drain: Drain;
  readonly events: ReadonlyMap<string, Event>;
  /** Whether new deliveries among them probe an endpoint whose circuit was open when they were chosen. */
  readonly isProbing: boolean;
  /** Deliveries that no later drain has to handle. */
  readonly handled: Set<PendingDelivery>;
  /** Outcomes that are being written. */
  readonly recording: Promise<void>[];
}

async function putOff({ writer, deps, postponed }: Drain, pending: PendingDelivery): Promise<void> {
  const later = new Date(deps.clock.now().getTime() + DAMAGED_MS).toISOString();
  postponed.push(later);
  await writer.write([
    { kind: "delete", rowKey: pending.key },
    pendingWrite(scheduled(pending.deliveryId, later)),
  ]);
}

/** Reads deliveries, and removes the rows of those that have ended or are gone. */
async function readItems(
  drain: Drain,
  wanted: readonly PendingDelivery[],
): Promise<readonly Item[]> {
  const { deps, endpointId } = drain;
  const found = await deps.stores.pending.find(endpointId, wanted);
  const items: Item[] = [];
  const stale: PendingDelivery[] = [];
  for (const pending of wanted) {
    const one = found.get(pending.deliveryId);
    if (one !== undefined && "damage" in one) await putOff(drain, pending);
    else if (one?.delivery.status !== "pending") stale.push(pending);
    else items.push({ pending, ...one });
  }
  if (stale.length > 0) await deps.stores.pending.remove(endpointId, stale);
  return items;
}

/** Errors that a redelivery can't change. */
const FINAL: readonly DeliveryError[] = ["endpoint_deleted", "event_expired"];

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
  const { deps, opened } = drain;
  const now = deps.clock.now();
  if (opened !== undefined && now.getTime() - opened.at <= OPENED_MS) return opened.endpoint;
  const endpoint = await deps.stores.endpoints.open(platformId, endpointId, now);
  drain.opened = { endpoint, at: now.getTime() };
  deps.work.endpointOwners.set(endpointId, platformId);
  return endpoint;
}

/** Makes a call. The attempt is counted before, and the outcome recorded after it. */
async function attempt(
  { drain, recording }: DeliveryBatch,
  item: Item,
  opened: OpenedEndpoint,
  event: Event,
): Promise<void> {
  const { lease, deps } = drain;
  await prolongForCall(lease, deps);
  const claimed = await claimAttempt(drain, item);
  if (claimed === undefined) return;
  const made = await sendDelivery(deps, opened, claimed.delivery, event);
  const recorded = recordAttempt(drain, claimed, made);
  // The success of a healthy endpoint decides nothing, so it may share a write with the next claim.
  if (made.error === null && lease.state.failures === 0) {
    recorded.catch(() => undefined);
    recording.push(recorded);
  } else await recorded;
}

/** Ends or attempts a delivery. Returns false when it is left unchanged. */
async function step(batch: DeliveryBatch, item: Item): Promise<boolean> {
  const { drain, isProbing } = batch;
  const { deps, lease } = drain;
  const { delivery, pending } = item;
  const opened = await openEndpoint(drain, delivery);
  // A delivery's event. A damaged one is missing in the batch, and reading it alone throws its error.
  const { applicationId, eventId } = delivery;
  const event =
    batch.events.get(eventId) ??
    (await batch.drain.deps.stores.events.find(applicationId, eventId));
  const isTried = delivery.attempts >= attemptsMax(deps);
  const lastError = isTried ? "interrupted" : obstacle(opened, event);
  if (lastError !== undefined) {
    await endAsDead(drain, item, { lastError }, FINAL.includes(lastError));
    return true;
  }
  invariant(opened !== undefined && event !== undefined, "a delivery without its parts");
  invariant(opened.secrets.length > 0, "the endpoint's secret can't be opened");
  const hasOpened = !isProbing && circuitOf(lease.state) !== null;
  if ((pending.isNew && hasOpened) || drain.isOver()) return false;
  await attempt(batch, item, opened, event);
  return true;
}

async function handle(batch: DeliveryBatch, item: Item): Promise<void> {
  const { origin, platformId, postId } = item.delivery;
  const whose = { platformId, ...(postId === null ? {} : { postId }) };
  try {
    const isHandled = await continueWork(origin, whose, () => step(batch, item));
    if (isHandled) batch.handled.add(item.pending);
  } catch (error) {
    if (!(error instanceof DamagedRow)) throw error;
    await putOff(batch.drain, item.pending);
    batch.handled.add(item.pending);
  }
}

/**
 * Attempts deliveries or ends them. Returns those that are finished. Not among them are deliveries that came too late
 * for the drain, and new ones that came after the endpoint's circuit had opened.
 */
export async function deliverBatch(
  drain: Drain,
  wanted: readonly PendingDelivery[],
): Promise<ReadonlySet<PendingDelivery>> {
  const { deps, lease } = drain;
  const items = await readItems(drain, wanted);
  const [first] = items;
  if (first === undefined) return new Set(wanted);
  const eventIds = items.map(({ delivery }) => delivery.eventId);
  const [events] = await Promise.all([
    deps.stores.events.findMany(first.delivery.applicationId, eventIds),
    openEndpoint(drain, first.delivery),
  ]);
  const known = new Set(items.map(({ pending }) => pending));
  const handled = new Set(wanted.filter((pending) => !known.has(pending)));
  const isProbing = circuitOf(lease.state) !== null;
  // Handles deliveries in order, four at a time. Ends when all calls have ended, also after an error.
  const batch: DeliveryBatch = { drain, events, isProbing, handled, recording: [] };
  const waiting = [...items];
  const lane = async () => {
    try {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
        await handle(batch, item);
    } catch (error) {
      waiting.length = 0;
      throw error;
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: CALLS_AT_ONCE }, lane));
  const ends = [...lanes, ...(await Promise.allSettled(batch.recording))];
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  // Adds the attempts to the timelines of their posts. A failure does no harm.
  const all = [...drain.steps];
  drain.steps.clear();
  await Promise.all(
    all.map(async ([postId, own]) => {
      try {
        await drain.deps.appendTimeline(postId, drain.endpointId, own);
      } catch (error) {
        drain.deps.log.warn("timeline not written", { postId, error });
      }
    }),
  );
  return handled;
}
