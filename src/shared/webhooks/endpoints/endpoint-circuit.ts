import type { WebhooksDeps } from "../deps.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import { addDueDelivery, hintDueDelivery } from "../deliveries/queue-delivery.ts";
import { releaseDue } from "../deliveries/release-waiting.ts";

type WhoseEndpoint = Pick<Delivery, "platformId" | "endpointId">;

/** What somebody asked for by hand is sent at once, and what was begun keeps its schedule. */
const canWait = ({ attempts, redriveOf, eventType }: Delivery) =>
  attempts === 0 && redriveOf === null && eventType !== "webhook.test";

/** When a delivery that its endpoint's circuit holds back looks again; null when it may be made now. */
export async function heldUntil(
  services: WebhooksDeps,
  delivery: Delivery,
  isCircuitOpen: boolean,
): Promise<string | null> {
  if (!isCircuitOpen || !canWait(delivery)) return null;
  const { endpointId, createdAt, nextAttemptAt } = delivery;
  const waiting = { createdAt, waitsUntil: nextAttemptAt };
  const passage = await services.endpointHealth.pass(endpointId, waiting, services.clock.now());
  return passage.kind === "wait" ? passage.until : null;
}

/** From now on new deliveries wait. Lost, the next failure says it again. */
export async function openCircuit(
  services: WebhooksDeps,
  { platformId, endpointId }: WhoseEndpoint,
): Promise<void> {
  if (!(await services.endpoints.turnCircuit(platformId, endpointId, true))) return;
  services.metrics.count("webhooks.circuits", { change: "opened" });
  services.log.warn("webhook circuit opened", { platformId, endpointId });
}

/**
 * After the endpoint's failures are forgotten: sends what waited. Cut short before the endpoint says that it is closed,
 * the next success does it; after that, the row that says when the sending is due.
 */
export async function closeCircuit(
  services: WebhooksDeps,
  { platformId, endpointId }: WhoseEndpoint,
): Promise<void> {
  const due = releaseDue(endpointId, services.clock.now());
  await addDueDelivery(services, due);
  if (!(await services.endpoints.turnCircuit(platformId, endpointId, false)))
    return services.dueDeliveries.remove(due);
  // How long its failures took says nothing about now.
  services.deliverySlots.forgetPace(endpointId);
  services.metrics.count("webhooks.circuits", { change: "closed" });
  services.log.info("webhook circuit closed", { platformId, endpointId });
  await hintDueDelivery(services, due);
}
