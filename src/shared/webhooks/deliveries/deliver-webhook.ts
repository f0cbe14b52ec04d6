import type { WebhooksDeps } from "../deps.ts";
import type { DeliveryHint } from "./delivery-queue.ts";
import { drainEndpoint } from "./drain-endpoint.ts";
import { isOfEndpoint } from "./queue-delivery.ts";
import { takeOverDelivery } from "./take-over.ts";

/** Delivers to an endpoint what is due, one process at a time. A hint that comes before its time is sent again. */
export async function deliverWebhook(services: WebhooksDeps, hint: DeliveryHint): Promise<void> {
  const { endpointId, deliveryId, dueAt } = hint;
  const now = services.clock.now();
  const isOfDelivery = deliveryId !== undefined && !isOfEndpoint(deliveryId);
  if (dueAt !== undefined && isOfDelivery)
    await takeOverDelivery(services, { ref: { endpointId, deliveryId }, dueAt });
  else if (dueAt !== undefined && Date.parse(dueAt) > now.getTime()) {
    const seconds = (Date.parse(dueAt) - now.getTime()) / 1000;
    return services.deliveryQueue.hint({ endpointId, dueAt }, seconds);
  }
  const ofEndpoint = isOfDelivery ? undefined : dueAt;
  await services.drains.run(endpointId, () => drainEndpoint(services, endpointId, ofEndpoint));
}
