import type { Services } from "../services.ts";
import { toldNow, type NewEvent } from "./event.ts";

/**
 * Tells of something that happened outside the platform's own transactions. Written after the change that it tells of,
 * which must not fail because nobody can be told: an outage of storage right between the two loses the event.
 */
export async function emitEvent(
  services: Services,
  platformId: string,
  event: NewEvent,
): Promise<void> {
  const now = services.clock.now();
  try {
    // First, so that the sweeper finds the event should its hint be lost.
    await services.dirty.announce(platformId, now);
    await services.events.add(platformId, toldNow(event, now));
  } catch (error) {
    services.log.error("event lost", { platformId, type: event.type, error });
    return;
  }
  await services.fanOutQueue.hint(platformId);
}
