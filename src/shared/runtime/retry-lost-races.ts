import { setTimeout as wait } from "node:timers/promises";
import { serviceUnavailable } from "./errors.ts";

/** The result of an attempt whose row was changed by another writer before it could write. */
export const LOST = Symbol("lost race");

/** Enough even when every instance of a large deployment writes the same row at the same moment. */
const RACES_MAX = 20;
const PAUSE_MS = 10;
/** The pause stops growing here, so that the first writers don't wait longer than those that came later. */
const PAUSES_GROWN_MAX = 10;

/** Waits for a random time that grows with each lost race, up to a tenth of a second. */
export function pauseAfter(races: number): Promise<void> {
  return wait(Math.random() * PAUSE_MS * Math.min(races, PAUSES_GROWN_MAX));
}

/**
 * Repeats a read, a decision and a conditional write until no race is lost. Attempts are counted from 1.
 * @throws AppError `service_unavailable` after 20 lost races
 */
export async function retryLostRaces<T>(
  attempt: (attempts: number) => Promise<T | typeof LOST>,
): Promise<T> {
  for (let attempts = 1; attempts <= RACES_MAX; attempts += 1) {
    const result = await attempt(attempts);
    if (result !== LOST) return result;
    await pauseAfter(attempts);
  }
  throw serviceUnavailable();
}
