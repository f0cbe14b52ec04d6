import type { NetworksDeps } from "../deps.ts";
import { NETWORK_NAMES, networkOf } from "../lookup.ts";

const AHEAD_MS = 60 * 24 * 60 * 60 * 1000;

/**
 * Says so in the log while the configured version of a network's API may end soon. A network that does not tell ahead
 * leaves the alert on legs that fail as `app_misconfigured`.
 */
export async function warnOfApiVersions({ config, clock, log }: NetworksDeps): Promise<void> {
  for (const network of NETWORK_NAMES) {
    const version = config.networkApps[network]?.version;
    const endsAt = version === undefined ? undefined : networkOf(network).versionEnd?.(version);
    if (endsAt === undefined || endsAt.getTime() - clock.now().getTime() > AHEAD_MS) continue;
    log.warn("network API version ends soon", { network, version, endsAt: endsAt.toISOString() });
  }
}
