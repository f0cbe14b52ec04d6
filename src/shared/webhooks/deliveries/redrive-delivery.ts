import { recordAudit } from "../../audit/record.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { AppError, notFound } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import type { WebhooksDeps } from "../deps.ts";
import { refOf, viewDelivery, type Delivery, type DeliveryView } from "./delivery.ts";
import type { StoredDelivery } from "./delivery-store.ts";
import { getEndpoint, requireActive } from "../endpoints/get-endpoint.ts";
import { queueDelivery, redriveOf } from "./queue-delivery.ts";

function requireEnded({ status }: Delivery): void {
  if (status !== "pending") return;
  const message = "The delivery is still on its way; only one that ended can be redriven.";
  throw new AppError("invalid_state", message, { details: { status } });
}

/** Marks the delivery, so that the operators' bulk redrive skips it. */
async function markRedriven(
  services: WebhooksDeps,
  { delivery, etag }: StoredDelivery,
  redrivenAs: string,
): Promise<void> {
  if (delivery.diedAt === null) return;
  await services.deliveries.writeIfUnchanged({ ...delivery, redrivenAs }, etag);
  await services.deadDeliveries.remove({ ref: refOf(delivery), diedAt: delivery.diedAt });
}

/**
 * Sends the event of an ended delivery again, as a new delivery with attempts of its own.
 * @throws AppError `not_found`, `invalid_state` while it is on its way, the endpoint is disabled or the event not kept
 */
export async function redriveDelivery(
  services: WebhooksDeps,
  scope: PlatformScope,
  input: { readonly webhookId: string; readonly deliveryId: string },
): Promise<DeliveryView> {
  const endpoint = await getEndpoint(services, scope, input.webhookId);
  const ref = { endpointId: endpoint.id, deliveryId: input.deliveryId };
  const stored = await services.deliveries.find(ref);
  if (stored === undefined) throw notFound();
  const { delivery } = stored;
  requireEnded(delivery);
  requireActive(endpoint);
  const { applicationId } = endpoint;
  if ((await services.events.find(applicationId, delivery.eventId)) === undefined)
    throw new AppError("invalid_state", "The event is no longer kept.");
  const now = services.clock.now();
  const again = redriveOf(delivery, newId("delivery", now), now);
  await queueDelivery(services, again);
  await markRedriven(services, stored, again.id);
  const target = { type: "webhook_delivery", id: delivery.id };
  recordAudit(services, scope, { action: "webhook.redriven", target, applicationId });
  return viewDelivery(again);
}
