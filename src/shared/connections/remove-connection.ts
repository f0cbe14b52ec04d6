import type { ProfileScope } from "../callers/scope.ts";
import { notFound } from "../runtime/errors.ts";
import type { ConnectionsDeps } from "./deps.ts";
import type { RemovalReason } from "./connection-event.ts";
import {
  grantIdOf,
  NOTHING_BESIDE,
  toConnectionRecord,
  toConnectionView,
  type Connection,
  type ConnectionView,
} from "./connection.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import { findAvailable, type NetworkName } from "../networks/networks.ts";
import { createNetworkTools } from "./network-tools.ts";

/**
 * Unlinks an account. First purges its secrets, then tries to end the authorization at the network. May be repeated.
 * @throws AppError `not_found`, `rate_limited`
 */
export async function removeConnection(
  services: ConnectionsDeps,
  scope: ProfileScope,
  connectionId: string,
): Promise<ConnectionView> {
  return await services.waits.run(scope.platformId, () =>
    removeLinkedConnection(services, scope, connectionId),
  );
}

async function removeLinkedConnection(
  services: ConnectionsDeps,
  scope: ProfileScope,
  connectionId: string,
): Promise<ConnectionView> {
  const found = (await services.stores.connections.listOfProfile(scope)).find(
    ({ id }) => id === connectionId,
  );
  if (found === undefined) throw notFound();
  const connection = await endConnection(services, scope, {
    connection: found,
    owner: scope.platformId,
  });
  if (connection === undefined) throw notFound();
  const record = toConnectionRecord(connection, NOTHING_BESIDE, scope.locale);
  return toConnectionView(record, services.config.publicBaseUrl);
}

/**
 * Ends a connection, then tries to end the authorization at the network. Undefined when another account has been linked
 * since. May be repeated.
 */
export async function endConnection(
  services: ConnectionsDeps,
  scope: Parameters<ConnectionsDeps["audit"]["record"]>[0],
  {
    connection: found,
    owner,
    reason,
  }: {
    readonly connection: Connection;
    /** The owner of the calls. */
    readonly owner: string;
    readonly reason?: RemovalReason;
  },
): Promise<Connection | undefined> {
  const revoked = await services.stores.connections.revoke(found, reason);
  if (revoked === undefined) return undefined;
  const { connection, credentials } = revoked;
  if (credentials !== undefined) {
    const { id, network, instanceUrl } = connection;
    const grantId = grantIdOf(connection);
    await revokeAtNetwork(services, { network, owner, grantId, instanceUrl, credentials });
    const target = { type: "connection", id };
    services.audit.record(scope, { action: "connection.removed", target });
  }
  return connection;
}

const LIMITS = { callMs: 5_000, totalMs: 10_000 };

export interface UnneededGrant {
  readonly network: NetworkName;
  /** The owner of the calls. */
  readonly owner: string;
  readonly grantId: string;
  readonly instanceUrl: string | null;
  readonly credentials: NetworkData;
}

/**
 * Tries to end an authorization at the network. Our own copy of the secrets is gone in any case. Does nothing while any
 * profile uses the authorization, with this or another account, because a network may have given them all one token.
 */
export async function revokeAtNetwork(
  services: ConnectionsDeps,
  unneeded: UnneededGrant,
): Promise<void> {
  const { owner, grantId, credentials, instanceUrl } = unneeded;
  const network = findAvailable(unneeded.network, services.config.networkApps);
  if (network === undefined) return;
  try {
    if (await services.stores.connections.isLinked(network.name, grantId)) return;
    const tools = createNetworkTools(services, network.name, { ...LIMITS, owner });
    await network.revoke(credentials, instanceUrl, tools);
  } catch (error) {
    services.log.warn("an authorization could not be ended", { network: network.name, error });
  }
}
