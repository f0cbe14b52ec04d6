import type { WebhooksDeps } from "../deps.ts";
import { circuitOf, type EndpointState } from "../endpoints/endpoint-health-store.ts";
import { isLeased } from "./endpoint-lease.ts";
import { hintEndpoint } from "./queue-delivery.ts";

/** A hint that had no effect for this long was lost. */
const HINT_LOST_MS = 60_000;

/** Returns when deliveries that are held can be sent; undefined when there are none. */
function heldUntil(state: EndpointState): string | undefined {
  if (state.heldSince === null && state.waitingSince === null) return undefined;
  return circuitOf(state)?.probeAt ?? state.heldSince ?? state.waitingSince ?? undefined;
}

/**
 * Looks whether an endpoint that was marked has deliveries that nobody would make: sends a hint for what is overdue, or
 * has no due row. Marks the endpoint again as long as that may still happen.
 */
export async function lookAtEndpoint(services: WebhooksDeps, endpointId: string): Promise<void> {
  const { state, pending } = await services.pending.read(endpointId, 1);
  const now = services.clock.now();
  const at = now.toISOString();
  const times = [pending[0]?.at ?? undefined, heldUntil(state)].filter((one) => one !== undefined);
  const [wakeAt] = times.toSorted();
  if (wakeAt === undefined) return;
  const { nextAt } = state;
  const isArmed = nextAt !== null && nextAt > at && nextAt <= wakeAt;
  if (isArmed) return;
  // First, so that a crash leaves the endpoint where the next sweep finds it.
  await services.openWork.mark(endpointId, now);
  const isOverdue = now.getTime() - Date.parse(wakeAt) > HINT_LOST_MS;
  if (!isLeased(state, now) && (isOverdue || wakeAt > at)) {
    services.log.info("deliveries hinted again", { endpointId });
    await hintEndpoint(services, endpointId);
  }
}
