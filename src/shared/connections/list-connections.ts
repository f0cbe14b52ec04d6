import type { ProfileScope } from "../callers/scope.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { Page } from "../runtime/page.ts";
import type { ConnectionsDeps } from "./deps.ts";
import type { ConnectionView } from "./connection.ts";
import { viewConnection } from "./quota.ts";

/**
 * The profile's connections, in the order of the networks: one per network at most, so that one page holds them all.
 * Costs one query, and at the same time one read for each network with a quota.
 */
export async function listConnections(
  services: ConnectionsDeps,
  scope: ProfileScope,
): Promise<Page<ConnectionView>> {
  const connections = await services.connections.listOfProfile(scope.profileId);
  return {
    items: await Promise.all(connections.map((connection) => viewConnection(services, connection))),
    nextCursor: null,
    limit: NETWORK_NAMES.length,
  };
}
