import { recordAudit } from "../audit/record.ts";
import type { ProfileScope } from "../callers/scope.ts";
import { notFound } from "../runtime/errors.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { grantIdOf, toConnectionView, type ConnectionView } from "./connection.ts";
import { revokeAtNetwork } from "./revoke-at-network.ts";
import { emitPendingEvents } from "./emit-pending-events.ts";

/**
 * Unlinks an account: its secrets are purged first, then the network is told, best effort. May be repeated.
 * @throws AppError `not_found`
 */
export async function removeConnection(
  services: ConnectionsDeps,
  scope: ProfileScope,
  connectionId: string,
): Promise<ConnectionView> {
  const { profileId } = scope;
  const found = (await services.connections.listOfProfile(profileId)).find(
    ({ id }) => id === connectionId,
  );
  if (found === undefined) throw notFound();
  const { network } = found;
  const revoked = await services.connections.revoke(profileId, network, connectionId);
  if (revoked === undefined) throw notFound();
  const { connection, credentials } = revoked;
  const { instanceUrl } = connection;
  // Before the call to the network, which may take its time. By an earlier try it may not have been told.
  await emitPendingEvents(services, connection);
  if (credentials !== undefined) {
    const unneeded = { network, grantId: grantIdOf(connection), instanceUrl, credentials };
    await revokeAtNetwork(services, unneeded);
    const target = { type: "connection", id: connectionId };
    recordAudit(services, scope, { action: "connection.removed", target });
  }
  return toConnectionView(connection, null);
}
