import type { Services } from "../services.ts";

/** Removes counted minutes and failed log-ins that have no say any more. Once a day is enough. */
export async function purgeRateWindows({ clock, limits, log }: Services): Promise<void> {
  const windows = await limits.windows.purge(clock.now());
  const logins = await limits.logins.purge(clock.now());
  log.info("rate windows purged", { windows, logins });
}
