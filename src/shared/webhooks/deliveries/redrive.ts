import type { OperatorScope, PlatformScope } from "../../callers/scope.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import { newId } from "../../runtime/ids.ts";
import type { WebhooksDeps } from "../deps.ts";
import { type Delivery, deliveryRefOf, viewDelivery, type DeliveryView } from "./delivery.ts";
import type { DeadDelivery } from "./dead-delivery-store.ts";
import { queueDelivery, redriveOf } from "./queue-delivery.ts";
import type { RedriveDead } from "../schema.ts";
import { AppError, notFound } from "../../runtime/errors.ts";
import type { StoredDelivery } from "./delivery-store.ts";
import { getEndpoint, requireActive } from "../endpoints/get-endpoint.ts";

const REQUEUED_MAX = 500;
const SCANNED_MAX = 1_000;
const RUN_MS_MAX = 20_000;
const AT_ONCE = 16;

/**
 * Makes the redrive of a dead delivery and stores its id in the dead one's row, so that every other redrive, even after
 * a crash, makes the same one. Undefined when the row has changed.
 */
async function claimRedrive(
  deps: WebhooksDeps,
  delivery: Delivery,
  etag: string,
): Promise<Delivery | undefined> {
  const now = deps.clock.now();
  if (delivery.redrivenAs !== null) return redriveOf(delivery, delivery.redrivenAs, now);
  const again = redriveOf(delivery, newId("delivery", now), now);
  const marked = { ...delivery, redrivenAs: again.id };
  const written = await deps.stores.deliveries.writeIfUnchanged(marked, etag);
  return written === undefined ? undefined : again;
}

/** Redrives a dead delivery. Returns whether this call queued it. What can't be redriven is removed from the index. */
async function redrive(deps: WebhooksDeps, dead: DeadDelivery): Promise<boolean> {
  const { ref, platformId } = dead;
  const [stored, endpoint] = await Promise.all([
    deps.stores.deliveries.find(ref),
    deps.stores.endpoints.find(platformId, ref.endpointId),
  ]);
  if (stored?.delivery.status !== "dead" || endpoint === undefined) {
    await deps.stores.deadDeliveries.remove(dead);
    return false;
  }
  const { delivery, etag } = stored;
  if (endpoint.status === "disabled") return false;
  if ((await deps.stores.events.find(delivery.applicationId, delivery.eventId)) === undefined) {
    await deps.stores.deadDeliveries.remove(dead);
    return false;
  }
  const again = await claimRedrive(deps, delivery, etag);
  if (again === undefined) return false;
  const isNew = await queueDelivery(deps, again);
  await deps.stores.deadDeliveries.remove(dead);
  return isNew;
}

/**
 * Redrives dead deliveries, the latest first. A call redrives at most 500, checks at most 1,000, and takes at most half
 * a minute. The next call continues with `nextCursor`, behind those that stay because their endpoint is disabled.
 * Concurrent calls redrive each delivery only once.
 * @throws AppError `invalid_cursor`
 */
export async function redriveDead(
  deps: WebhooksDeps,
  scope: OperatorScope,
  { platformId, webhookId, since, cursor }: RedriveDead,
) {
  const startedAt = performance.now();
  const filter = { platformId, endpointId: webhookId, since };
  let [scanned, requeued] = [0, 0];
  const query = ["redriveDead", filter];
  let after = deps.cursors.read(cursor, query);
  do {
    const limit = Math.min(AT_ONCE, REQUEUED_MAX - requeued, SCANNED_MAX - scanned);
    const { items, next } = await deps.stores.deadDeliveries.list(filter, { after, limit });
    const redriven = await Promise.all(
      // A delivery with a damaged row stays in the index.
      items.map((dead) => undefinedIfDamaged(redrive(deps, dead))),
    );
    scanned += items.length;
    requeued += redriven.filter(Boolean).length;
    after = next;
  } while (
    after !== undefined &&
    requeued < REQUEUED_MAX &&
    scanned < SCANNED_MAX &&
    performance.now() - startedAt < RUN_MS_MAX
  );
  deps.audit.record(scope, {
    action: "webhook.dead_redriven",
    ...(platformId === undefined ? {} : { platformId }),
    ...(webhookId === undefined ? {} : { target: { type: "webhook", id: webhookId } }),
  });
  const nextCursor = after === undefined ? null : deps.cursors.make(after, query);
  return { scanned, requeued, skipped: scanned - requeued, nextCursor };
}

function requireEnded({ status }: Delivery): void {
  if (status !== "pending") return;
  const message = "The delivery is still on its way; only one that ended can be redriven.";
  throw new AppError("invalid_state", message, { details: { status } });
}

/** Marks the delivery, so that the operators' bulk redrive skips it. */
async function markRedriven(
  deps: WebhooksDeps,
  { delivery, etag }: StoredDelivery,
  redrivenAs: string,
): Promise<void> {
  if (delivery.diedAt === null) return;
  await deps.stores.deliveries.writeIfUnchanged({ ...delivery, redrivenAs }, etag);
  await deps.stores.deadDeliveries.remove({
    ref: deliveryRefOf(delivery),
    diedAt: delivery.diedAt,
  });
}

/**
 * Sends the event of an ended delivery again, as a new delivery with attempts of its own.
 * @throws AppError `not_found`, `invalid_state` while it has not ended, the endpoint is disabled or the event is gone
 */
export async function redriveDelivery(
  deps: WebhooksDeps,
  scope: PlatformScope,
  input: { readonly webhookId: string; readonly deliveryId: string },
): Promise<DeliveryView> {
  const endpoint = await getEndpoint(deps, scope, input.webhookId);
  const ref = { endpointId: endpoint.id, deliveryId: input.deliveryId };
  const stored = await deps.stores.deliveries.find(ref);
  if (stored === undefined) throw notFound();
  const { delivery } = stored;
  requireEnded(delivery);
  requireActive(endpoint);
  const { applicationId } = endpoint;
  if ((await deps.stores.events.find(applicationId, delivery.eventId)) === undefined)
    throw new AppError("invalid_state", "The event is no longer kept.");
  const now = deps.clock.now();
  const again = redriveOf(delivery, newId("delivery", now), now);
  await queueDelivery(deps, again);
  await markRedriven(deps, stored, again.id);
  const target = { type: "webhook_delivery", id: delivery.id };
  deps.audit.record(scope, { action: "webhook.redriven", target, applicationId });
  return viewDelivery(again);
}
