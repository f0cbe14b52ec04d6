import type { Due } from "../../due/due-store.ts";
import { enqueueDue, hintIfSoon, isSoon, type DueWork } from "../../due/enqueue-due.ts";
import type { WebhooksDeps } from "../deps.ts";
import type { DeliveryRef } from "./delivery.ts";

/** A delivery whose next attempt is due at a time (table `duedeliveries`). */
export type DueDelivery = Due<DeliveryRef>;

function dueDeliveries({
  dueDeliveries: store,
  deliveryQueue,
}: WebhooksDeps): DueWork<DeliveryRef> {
  return { store, hint: (due, delaySeconds) => deliveryQueue.hint(due, delaySeconds) };
}

/** Before the delivery's own row is written: no crash may leave it without a time at which somebody looks. */
export async function addDueDelivery(services: WebhooksDeps, due: DueDelivery): Promise<void> {
  const now = services.clock.now();
  if (isSoon(due, now)) await services.dueDeliveries.addHinted([due], now);
  else await services.dueDeliveries.add(due, now);
}

/** After it. What is not soon is the timer's. */
export function hintDueDelivery(services: WebhooksDeps, due: DueDelivery): Promise<void> {
  return hintIfSoon(services, dueDeliveries(services), due);
}

/** Sends a hint for every delivery that is due soon or was missed. Safe when missed, doubled or late. */
export function enqueueDueDeliveries(services: WebhooksDeps): Promise<void> {
  return enqueueDue(services, dueDeliveries(services));
}
