import type { Services } from "../services.ts";
import { deliveryIdOf, placeOf, type Delivery } from "./delivery.ts";
import { addDueDelivery, hintDueDelivery } from "./due-delivery.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Event } from "./event.ts";

/** The first delivery of an event to an endpoint. */
export function firstDelivery(event: Event, endpoint: Endpoint, now: Date): Delivery {
  const at = now.toISOString();
  return {
    id: deliveryIdOf(event.id, endpoint.id),
    endpointId: endpoint.id,
    platformId: endpoint.platformId,
    applicationId: endpoint.applicationId,
    eventId: event.id,
    eventType: event.type,
    postId: event.postId,
    status: "pending",
    attempts: 0,
    nextAttemptAt: at,
    leaseUntil: null,
    lastStatusCode: null,
    lastError: null,
    durationMs: null,
    responseBody: null,
    redriveOf: null,
    redrivenAs: null,
    createdAt: at,
    deliveredAt: null,
    diedAt: null,
  };
}

/** Another delivery of the same event. */
export function redriveOf(before: Delivery, id: string, now: Date): Delivery {
  const at = now.toISOString();
  return {
    ...before,
    id,
    status: "pending",
    attempts: 0,
    nextAttemptAt: at,
    leaseUntil: null,
    lastStatusCode: null,
    lastError: null,
    durationMs: null,
    responseBody: null,
    redriveOf: before.id,
    redrivenAs: null,
    createdAt: at,
    deliveredAt: null,
    diedAt: null,
  };
}

/**
 * Puts a delivery on its way: the row that says when it is due, then the delivery, then the hint. False when it was on
 * its way already; a crash in between leaves what the timer finds, and a repeat by whoever asked finishes it.
 */
export async function queueDelivery(services: Services, delivery: Delivery): Promise<boolean> {
  const due = { place: placeOf(delivery), dueAt: delivery.createdAt };
  await addDueDelivery(services, due);
  const isNew = await services.deliveries.insertIfAbsent(delivery);
  if (isNew) await hintDueDelivery(services, due);
  return isNew;
}
