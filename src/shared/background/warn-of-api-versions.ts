import { networkOf } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { BackgroundDeps } from "./deps.ts";

const AHEAD_MS = 60 * 24 * 60 * 60 * 1000;

/**
 * Logs a warning for every network whose configured API version may end within 60 days. For a network that does not
 * announce the end of a version there is only the alert on legs that fail with `app_misconfigured`.
 */
export async function warnOfApiVersions({
  config,
  clock,
  log,
}: Pick<BackgroundDeps, "config" | "clock" | "log">): Promise<void> {
  for (const network of NETWORK_NAMES) {
    const version = config.networkApps[network]?.version;
    const endsAt = version === undefined ? undefined : networkOf(network).versionEnd?.(version);
    if (endsAt === undefined || endsAt.getTime() - clock.now().getTime() > AHEAD_MS) continue;
    log.warn("network API version ends soon", { network, version, endsAt: endsAt.toISOString() });
  }
}
