import { setTimeout as wait } from "node:timers/promises";
import type { WebhooksDeps } from "../deps.ts";
import type { Event } from "./event.ts";

const TRIES_MAX = 5;
const WAIT_MS = 100;

/** Adds the event under one id, so that a repeat after a lost answer adds it once. */
async function add(services: WebhooksDeps, platformId: string, event: Event): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      // First, so that the sweep finds the event when its hint is lost.
      await services.openWork.mark(platformId, services.clock.now());
      return await services.events.add(platformId, event);
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
      await wait(WAIT_MS * 2 ** tries);
    }
  }
}

/**
 * Emits an event of something that happened outside the platform's own transactions. Returns whether it is pending now.
 * A caller notes the event, with its id, in the write that it reports, and removes the note only after true: then no
 * crash and no outage loses it. A repeat under the same id makes no second event and no second delivery.
 */
export async function emitEvent(
  services: WebhooksDeps,
  platformId: string,
  event: Event,
): Promise<boolean> {
  try {
    await add(services, platformId, event);
  } catch (error) {
    services.log.warn("event not emitted yet", { platformId, type: event.type, error });
    return false;
  }
  await services.fanOutQueue.hint(platformId);
  return true;
}
