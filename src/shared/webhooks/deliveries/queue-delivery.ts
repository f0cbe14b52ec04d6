import type { WebhooksDeps } from "../deps.ts";
import { deliveryIdOf, refOf, type Delivery, type DeliveryRef } from "./delivery.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import type { Event } from "../events/event.ts";
import type { Due } from "../../due/due-store.ts";
import { hintDueWork, hintIfSoon, isSoon, type DueWork } from "../../due/enqueue-due.ts";
import type { TakeStep } from "../../runtime/walk-step.ts";

/** A delivery whose next attempt is due at a time (table `duedeliveries`). */
export type DueDelivery = Due<DeliveryRef>;

function dueDeliveries({
  dueDeliveries: store,
  deliveryQueue,
}: WebhooksDeps): DueWork<DeliveryRef> {
  return {
    store,
    hint: ({ ref, dueAt }, seconds) => deliveryQueue.hint({ ...ref, dueAt }, seconds),
  };
}

/** Adds a due row. Call it before the delivery's own row is written, so that a crash never leaves it without one. */
export async function addDueDelivery(services: WebhooksDeps, due: DueDelivery): Promise<void> {
  const now = services.clock.now();
  if (isSoon(due, now)) await services.dueDeliveries.addHinted([due], now);
  else await services.dueDeliveries.add(due, now);
}

/** Sends a hint when the delivery is due soon; the timer sends the others. Call it after the delivery is written. */
export function hintDueDelivery(services: WebhooksDeps, due: DueDelivery): Promise<void> {
  return hintIfSoon(services, dueDeliveries(services), due);
}

/** Makes the steps that send a hint for every delivery that is due soon or was missed. */
export function hintDueDeliveries(services: WebhooksDeps): TakeStep {
  return hintDueWork(services, dueDeliveries(services));
}

/** Returns the fields of a delivery without an attempt. */
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

/** Returns the first delivery of an event to an endpoint. */
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

/** Returns a new delivery of the same event. */
export function redriveOf(before: Delivery, id: string, now: Date): Delivery {
  return {
    ...before,
    id,
    redriveOf: before.id,
    ...untried(now),
  };
}

/**
 * Queues deliveries: writes the due rows, then the deliveries, then sends the hints. Returns those that were not queued
 * already. After a crash in between, the timer finds what was written, and a repeat by the caller finishes it.
 */
export async function queueDeliveries(
  services: WebhooksDeps,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> {
  const dueOf = (delivery: Delivery) => ({
    ref: refOf(delivery),
    dueAt: delivery.createdAt,
  });
  await services.dueDeliveries.addHinted(deliveries.map(dueOf), services.clock.now());
  const byEndpoint = [...Map.groupBy(deliveries, ({ endpointId }) => endpointId)];
  const added = await Promise.all(
    byEndpoint.map(async ([endpointId, own]) => {
      const absent = await services.deliveries.insertAbsent(endpointId, own);
      await Promise.all(absent.map((delivery) => hintDueDelivery(services, dueOf(delivery))));
      return absent;
    }),
  );
  return added.flat();
}

/** Queues one delivery; false when it was queued already. */
export async function queueDelivery(services: WebhooksDeps, delivery: Delivery): Promise<boolean> {
  return (await queueDeliveries(services, [delivery])).length > 0;
}
