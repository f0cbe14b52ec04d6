import type { WebhooksDeps } from "../deps.ts";
import type { DeliveryHint } from "../hint-queue.ts";
import { drainEndpoint } from "./drain-endpoint.ts";
import { isOfEndpoint, type DueDelivery } from "./queue-delivery.ts";
import { held, timed } from "./pending-store.ts";

/**
 * Takes over a delivery of version 0.2.0, which had a due row of its own, and hints that named it: gives it the row that
 * an endpoint's drain looks for, and removes the due row. A delivery that ended, or is gone, has only its due row removed.
 */
async function takeOverDelivery(services: WebhooksDeps, due: DueDelivery): Promise<void> {
  const { endpointId, deliveryId } = due.ref;
  const delivery = (await services.deliveries.find(due.ref))?.delivery;
  if (
    delivery?.status === "pending" &&
    !(await services.pending.has(endpointId, held(deliveryId)))
  ) {
    // First, as its due row goes.
    await services.openWork.mark(endpointId, services.clock.now());
    const at = delivery.nextAttemptAt ?? delivery.createdAt;
    await services.pending.add(endpointId, [timed(deliveryId, at)]);
  }
  await services.dueDeliveries.remove(due);
}

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
