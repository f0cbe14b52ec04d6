import type { ProfileScope } from "../callers/scope.ts";
import { NETWORK_NAMES } from "../networks/network.ts";
import type { Page } from "../page.ts";
import type { Services } from "../services.ts";
import { toConnectionView, type ConnectionView } from "./connection.ts";

/** The profile's connections, in the order of the networks: one per network at most, so that one page holds them all. */
export async function listConnections(
  services: Services,
  scope: ProfileScope,
): Promise<Page<ConnectionView>> {
  const connections = await services.connections.listOfProfile(scope.profileId);
  return {
    items: connections.map(toConnectionView),
    nextCursor: null,
    limit: NETWORK_NAMES.length,
  };
}
