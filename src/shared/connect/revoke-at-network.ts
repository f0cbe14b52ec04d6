import type { NetworkData, NetworkName } from "../networks/network.ts";
import { findNetwork } from "../networks/registry.ts";
import type { Services } from "../services.ts";
import { createNetworkTools } from "./network-tools.ts";

const LIMITS = { callMs: 5_000, totalMs: 10_000 };

/** An authorisation that we no longer need. */
export interface Unneeded {
  readonly network: NetworkName;
  readonly accountId: string;
  readonly instanceUrl: string | null;
  readonly credentials: NetworkData;
}

/**
 * Ends an authorisation at the network, best effort: our own copy of the secrets is gone either way. Left alone while
 * any profile has the account linked, for a network may have given all of them one token.
 */
export async function revokeAtNetwork(services: Services, unneeded: Unneeded): Promise<void> {
  const { accountId, credentials, instanceUrl } = unneeded;
  const network = findNetwork(unneeded.network);
  if (network === undefined) return;
  try {
    if (await services.connections.isLinked(network.name, accountId)) return;
    const tools = createNetworkTools(services, network.name, LIMITS);
    await network.revoke(credentials, instanceUrl, tools);
  } catch (error) {
    services.log.warn("an authorisation could not be ended", { network: network.name, error });
  }
}
