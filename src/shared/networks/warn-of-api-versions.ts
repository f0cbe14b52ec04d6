import type { Services } from "../services.ts";
import { linkedinVersionEnd } from "./api-version-end.ts";

const AHEAD_MS = 60 * 24 * 60 * 60 * 1000;

/**
 * Says so in the log while the configured version of a network's API may end soon. Meta tells the end of a Graph
 * version by mail and nowhere else: what is left then is the alert on legs that fail as `app_misconfigured`.
 */
export async function warnOfApiVersions({ config, clock, log }: Services): Promise<void> {
  const { linkedin } = config.networkApps;
  if (linkedin === undefined) return;
  const endsAt = linkedinVersionEnd(linkedin.version);
  if (endsAt.getTime() - clock.now().getTime() > AHEAD_MS) return;
  const { version } = linkedin;
  log.warn("network API version ends soon", {
    network: "linkedin",
    version,
    endsAt: endsAt.toISOString(),
  });
}
