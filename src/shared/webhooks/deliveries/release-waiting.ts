import type { WebhooksDeps } from "../deps.ts";
import { refOf, type Delivery } from "./delivery.ts";
import { addDueDelivery, hintDueDelivery, type DueDelivery } from "./queue-delivery.ts";

/** Replaces a delivery's id; followed by the endpoint's id, so that two due at one time differ. */
const RELEASE_PREFIX = "waiting|";
const AT_ONCE = 16;
/** Deliveries that would be sent later than this are left to the next round; `secondsToWait` is at most a minute. */
const ROUND_SECONDS = 50;
/** An event is fanned out a little after its id was made, and clocks differ. */
const BEFORE_OPENING_MS = 60 * 60_000;

/** Returns the due row that sends an endpoint's waiting deliveries; the timer finds it like any other. */
export function releaseDue(endpointId: string, at: Date): DueDelivery {
  return {
    ref: { endpointId, deliveryId: RELEASE_PREFIX + endpointId },
    dueAt: at.toISOString(),
  };
}

export function isRelease({ deliveryId }: { readonly deliveryId: string }): boolean {
  return deliveryId.startsWith(RELEASE_PREFIX);
}

async function hintInTurn(services: WebhooksDeps, waiting: readonly Delivery[]): Promise<void> {
  const turns: (readonly [Delivery, number])[] = [];
  for (const delivery of waiting) {
    const seconds = services.deliverySlots.secondsToWait(delivery.endpointId);
    if (seconds >= ROUND_SECONDS) break;
    turns.push([delivery, seconds]);
  }
  for (let index = 0; index < turns.length; index += AT_ONCE)
    await Promise.all(
      turns.slice(index, index + AT_ONCE).map(([delivery, seconds]) => {
        // As its row has it, so that the row is removed with the attempt.
        const dueAt = delivery.nextAttemptAt ?? delivery.createdAt;
        return services.deliveryQueue.hint({ ...refOf(delivery), dueAt }, seconds);
      }),
    );
}

/**
 * Sends hints for the deliveries that waited for their endpoint, the oldest first and no faster than it takes them, and
 * repeats itself until none is left. Stops when the circuit opens again; the next success continues.
 */
export async function releaseWaiting(services: WebhooksDeps, due: DueDelivery): Promise<void> {
  const { endpointId } = due.ref;
  const since = await services.endpointHealth.releasableSince(endpointId);
  if (since === null) return services.dueDeliveries.remove(due);
  const from = new Date(Date.parse(since) - BEFORE_OPENING_MS);
  const waiting = await services.deliveries.listUntried(endpointId, from);
  await hintInTurn(services, waiting);
  // Deliveries created since are attempted at once; they need no further round.
  if (!waiting.some(({ lastError }) => lastError === "endpoint_failing")) {
    await services.endpointHealth.noteReleased(endpointId);
    return services.dueDeliveries.remove(due);
  }
  const at = new Date(services.clock.now().getTime() + ROUND_SECONDS * 1000);
  const next = releaseDue(endpointId, at);
  await addDueDelivery(services, next);
  await services.dueDeliveries.remove(due);
  await hintDueDelivery(services, next);
}
