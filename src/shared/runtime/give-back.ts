import { setTimeout as wait } from "node:timers/promises";
import type { Log, LogFields } from "./log.ts";

/** Pauses between the tries: short at first, as most lost writes are single ones, and in all longer than any lease. */
const PAUSES_MS = [250, 500, 1_000, 2_000, 4_000, ...Array.from({ length: 24 }, () => 5_000)];

/** What is given back, for the log. */
interface Given {
  readonly log: Log;
  readonly what: string;
  readonly fields: LogFields;
}

async function isGivenBack(given: Given, attempt: () => Promise<void>): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch (error) {
    const { log, what, fields } = given;
    log.warn(`${what} not given back, trying again`, { ...fields, error });
    return false;
  }
}

async function repeat(given: Given, attempt: () => Promise<void>): Promise<void> {
  for (const pauseMs of PAUSES_MS) {
    await wait(pauseMs, undefined, { ref: false });
    if (await isGivenBack(given, attempt)) return;
  }
  given.log.warn(`${given.what} left to run out`, given.fields);
}

/**
 * Gives back what others wait for, such as a lease. When that fails, repeats it in the background, for as long as the
 * process lives and the lease could last: one lost write would have everybody wait for the lease's end. `attempt` must
 * be safe to repeat, and leave what another worker has taken since. Resolves after the first try, and never throws.
 *
 * There is no bound on how many wait: each was taken with a write that storage had answered a moment before.
 */
export async function giveBack(given: Given, attempt: () => Promise<void>): Promise<void> {
  if (!(await isGivenBack(given, attempt))) void repeat(given, attempt);
}
