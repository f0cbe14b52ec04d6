import type { ProfileScope } from "../callers/scope.ts";
import type { Services } from "../services.ts";
import { toConnectionView, type ConnectionView } from "./connection.ts";

/** The profile's connections, one per network at most, in the order of the networks. */
export async function listConnections(
  services: Services,
  scope: ProfileScope,
): Promise<ConnectionView[]> {
  const connections = await services.connections.listOfProfile(scope.profileId);
  return connections.map(toConnectionView);
}
