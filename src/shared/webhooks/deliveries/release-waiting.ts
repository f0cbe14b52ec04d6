import type { WebhooksDeps } from "../deps.ts";
import { refOf, type Delivery } from "./delivery.ts";
import { addDueDelivery, hintDueDelivery, type DueDelivery } from "./queue-delivery.ts";

/** In the place of a delivery's id: the endpoint's name tells two apart that are due at one time. */
const RELEASE_PREFIX = "waiting|";
const AT_ONCE = 16;
/** What has its turn later than this is left to the next round. Turns are given for a minute at most. */
const ROUND_SECONDS = 50;
/** An event is fanned out a little after its id was made, and clocks differ. */
const BEFORE_OPENING_MS = 60 * 60_000;

/** When what waited at an endpoint is to be sent: work like a delivery, and found again like one. */
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
 * Tells the deliveries that waited for their endpoint to be well, the oldest first and no faster than it takes them,
 * and looks again until none is left. Stops when the circuit opens anew: the next success begins where it stopped.
 */
export async function releaseWaiting(services: WebhooksDeps, due: DueDelivery): Promise<void> {
  const { endpointId } = due.ref;
  const since = await services.endpointHealth.releasableSince(endpointId);
  if (since === null) return services.dueDeliveries.remove(due);
  const from = new Date(Date.parse(since) - BEFORE_OPENING_MS);
  const waiting = await services.deliveries.listUntried(endpointId, from);
  await hintInTurn(services, waiting);
  // New ones that come meanwhile are tried at once; they don't keep this going.
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
