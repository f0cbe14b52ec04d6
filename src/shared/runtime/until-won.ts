import { setTimeout as wait } from "node:timers/promises";
import { serviceUnavailable } from "./errors.ts";

/** The result of an attempt whose row was changed by another writer first. */
export const LOST = Symbol("lost race");

/** Enough for every instance of a large deployment to write the same row at the same moment. */
const RACES_MAX = 20;
const PAUSE_MS = 10;
/** The pause stops growing here, so that an early writer does not wait longer than later ones. */
const PAUSES_GROWN_MAX = 10;

/** Waits for a random time that grows with each lost race, up to a tenth of a second. */
export function pauseAfter(races: number): Promise<void> {
  return wait(Math.random() * PAUSE_MS * Math.min(races, PAUSES_GROWN_MAX));
}

/**
 * Repeats a read, a decision and a conditional write until no race is lost. The first attempt has the number 1.
 * @throws AppError `service_unavailable` after 20 lost races
 */
export async function untilWon<T>(
  attempt: (attempts: number) => Promise<T | typeof LOST>,
): Promise<T> {
  for (let attempts = 1; attempts <= RACES_MAX; attempts += 1) {
    const result = await attempt(attempts);
    if (result !== LOST) return result;
    await pauseAfter(attempts);
  }
  throw serviceUnavailable();
}
