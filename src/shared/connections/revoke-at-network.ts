import type { NetworkData } from "../networks/contract/network.ts";
import { findAvailable, type NetworkName } from "../networks/lookup.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { createNetworkTools } from "./network-tools.ts";

const LIMITS = { callMs: 5_000, totalMs: 10_000 };

/** An authorisation that we no longer need. */
export interface Unneeded {
  readonly network: NetworkName;
  readonly grantId: string;
  readonly instanceUrl: string | null;
  readonly credentials: NetworkData;
}

/**
 * Ends an authorisation at the network, best effort: our own copy of the secrets is gone either way. Left alone while
 * any profile lives by it, be it with this account or another one: a network may have given all of them one token.
 */
export async function revokeAtNetwork(
  services: ConnectionsDeps,
  unneeded: Unneeded,
): Promise<void> {
  const { grantId, credentials, instanceUrl } = unneeded;
  const network = findAvailable(unneeded.network, services.config.networkApps);
  if (network === undefined) return;
  try {
    if (await services.connections.isLinked(network.name, grantId)) return;
    const tools = createNetworkTools(services, network.name, LIMITS);
    await network.revoke(credentials, instanceUrl, tools);
  } catch (error) {
    services.log.warn("an authorisation could not be ended", { network: network.name, error });
  }
}
