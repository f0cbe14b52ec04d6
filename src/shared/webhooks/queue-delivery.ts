import type { Services } from "../services.ts";
import { deliveryIdOf, placeOf, type Delivery } from "./delivery.ts";
import { addDueDelivery, hintDueDelivery } from "./due-delivery.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Event } from "./event.ts";

/** What holds for every delivery that nobody has tried yet. */
function untried(now: Date) {
  const at = now.toISOString();
  return {
    status: "pending",
    attempts: 0,
    nextAttemptAt: at,
    leaseUntil: null,
    lastStatusCode: null,
    lastError: null,
    durationMs: null,
    responseBody: null,
    redrivenAs: null,
    createdAt: at,
    deliveredAt: null,
    diedAt: null,
  } as const;
}

/** The first delivery of an event to an endpoint. */
export function firstDelivery(event: Event, endpoint: Endpoint, now: Date): Delivery {
  return {
    id: deliveryIdOf(event.id, endpoint.id),
    endpointId: endpoint.id,
    platformId: endpoint.platformId,
    applicationId: endpoint.applicationId,
    eventId: event.id,
    eventType: event.type,
    profileId: event.profileId,
    postId: event.postId,
    origin: event.origin,
    redriveOf: null,
    ...untried(now),
  };
}

/** Another delivery of the same event. */
export function redriveOf(before: Delivery, id: string, now: Date): Delivery {
  return {
    ...before,
    id,
    redriveOf: before.id,
    ...untried(now),
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
