import { setTimeout as wait } from "node:timers/promises";
import type { Log, LogFields } from "./log.ts";

/** Pauses between the tries, short at first since most failures are single. In all they outlast any lease. */
const PAUSES_MS = [250, 500, 1_000, 2_000, 4_000, ...Array.from({ length: 24 }, () => 5_000)];

interface ReleaseLog {
  readonly log: Log;
  readonly what: string;
  readonly fields: LogFields;
}

async function isReleased(given: ReleaseLog, attempt: () => Promise<void>): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch (error) {
    const { log, what, fields } = given;
    log.warn(`${what} not given back, trying again`, { ...fields, error });
    return false;
  }
}

async function retryRelease(given: ReleaseLog, attempt: () => Promise<void>): Promise<void> {
  for (const pauseMs of PAUSES_MS) {
    await wait(pauseMs, undefined, { ref: false });
    if (await isReleased(given, attempt)) return;
  }
  given.log.warn(`${given.what} left to run out`, given.fields);
}

/**
 * Gives back something that others wait for, such as a lease. If that fails, it is repeated in the background for as
 * long as the process lives and the lease could last: otherwise one failed write would make all others wait until the
 * lease expires. `attempt` must be safe to repeat, and must not touch what another worker has taken since. Resolves
 * after the first try and never throws.
 *
 * The number of leases that wait here has no limit, because each of them was taken by a successful write a moment
 * before.
 */
export async function releaseOrRetry(
  given: ReleaseLog,
  attempt: () => Promise<void>,
): Promise<void> {
  if (!(await isReleased(given, attempt))) void retryRelease(given, attempt);
}
