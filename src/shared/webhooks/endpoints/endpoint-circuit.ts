import type { WebhooksDeps } from "../deps.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import { addDueDelivery, hintDueDelivery } from "../deliveries/queue-delivery.ts";
import { releaseDue } from "../deliveries/release-waiting.ts";

type WhoseEndpoint = Pick<Delivery, "platformId" | "endpointId">;

/** Redrives and test events are sent at once, and a delivery that was attempted keeps its schedule. */
const canWait = ({ attempts, redriveOf, eventType }: Delivery) =>
  attempts === 0 && redriveOf === null && eventType !== "webhook.test";

/** Returns until when the endpoint's circuit delays a delivery; null when it may be attempted now. */
export async function waitUntil(
  services: WebhooksDeps,
  delivery: Delivery,
  isCircuitOpen: boolean,
): Promise<string | null> {
  if (!isCircuitOpen || !canWait(delivery)) return null;
  const { endpointId, createdAt, nextAttemptAt } = delivery;
  const waiting = { createdAt, waitsUntil: nextAttemptAt };
  const admission = await services.endpointHealth.admit(endpointId, waiting, services.clock.now());
  return admission.kind === "wait" ? admission.until : null;
}

/** Makes new deliveries to the endpoint wait. When a crash prevents it, the next failure does it. */
export async function openCircuit(
  services: WebhooksDeps,
  { platformId, endpointId }: WhoseEndpoint,
): Promise<void> {
  if (!(await services.endpoints.setCircuit(platformId, endpointId, true))) return;
  services.metrics.count("webhooks.circuits", { change: "opened" });
  services.log.warn("webhook circuit opened", { platformId, endpointId });
}

/**
 * Closes the circuit and sends the deliveries that waited. Call it after the endpoint's failures are cleared. After a
 * crash, the next success repeats it, or the due row does once the circuit is closed.
 */
export async function closeCircuit(
  services: WebhooksDeps,
  { platformId, endpointId }: WhoseEndpoint,
): Promise<void> {
  const due = releaseDue(endpointId, services.clock.now());
  await addDueDelivery(services, due);
  if (!(await services.endpoints.setCircuit(platformId, endpointId, false)))
    return services.dueDeliveries.remove(due);
  // The duration of its failures says nothing about its present speed.
  services.deliverySlots.forgetPace(endpointId);
  services.metrics.count("webhooks.circuits", { change: "closed" });
  services.log.info("webhook circuit closed", { platformId, endpointId });
  await hintDueDelivery(services, due);
}
