import { networkOf, type NetworkName } from "../networks/lookup.ts";
import type { ConnectionsDeps } from "./deps.ts";
import {
  toConnectionView,
  type Connection,
  type ConnectionView,
  type QuotaView,
} from "./connection.ts";
import type { ProfileScope } from "../callers/scope.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { Page } from "../runtime/page.ts";

/** A quota of a network: how much of it an account may use in a rolling day. */
export interface Quota {
  readonly kind: string;
  readonly limit: number;
}

/** Returns the quota of a kind for an account. The network may allow it less than the settings do. */
export function quotaOfKind(
  services: ConnectionsDeps,
  kind: string,
  { network, limits }: Pick<Connection, "network" | "limits">,
): Quota | undefined {
  const configured = services.config.publishing.quotas[`${network}.${kind}`];
  if (configured === undefined) return undefined;
  const max = networkOf(network)?.quotaMaxOf?.(kind, limits);
  return { kind, limit: max === undefined ? configured : Math.min(configured, max) };
}

function kindsOf(services: ConnectionsDeps, network: NetworkName): string[] {
  const prefix = `${network}.`;
  return Object.keys(services.config.publishing.quotas)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
}

/** Reads how much of a quota the real account has used, whichever profiles it is linked to. Costs one read. */
export async function readQuota(
  services: ConnectionsDeps,
  { network, account }: Pick<Connection, "network" | "account">,
  { kind, limit }: Quota,
): Promise<QuotaView> {
  const now = services.clock.now();
  const real = { network, accountId: account.id };
  const { used, resetsAt } = await services.networkAccounts.readQuota(real, kind, now);
  return { used, limit, remaining: Math.max(0, limit - used), resetsAt };
}

async function tightestQuota(
  services: ConnectionsDeps,
  connection: Connection,
): Promise<QuotaView | null> {
  if (connection.status === "revoked") return null;
  const quotas = kindsOf(services, connection.network).flatMap(
    (kind) => quotaOfKind(services, kind, connection) ?? [],
  );
  const uses = await Promise.all(quotas.map((quota) => readQuota(services, connection, quota)));
  const [tightest = null] = uses.sort((left, right) => left.remaining - right.remaining);
  return tightest;
}

function missingScopes(services: ConnectionsDeps, connection: Connection): readonly string[] {
  const { network, scopes, status } = connection;
  if (status === "revoked") return [];
  return networkOf(network).missingScopes?.(scopes, services.config.networkApps[network]) ?? [];
}

/** Returns the connection as customers see it. Costs one read if the network has a quota. */
export async function viewConnection(
  services: ConnectionsDeps,
  connection: Connection,
): Promise<ConnectionView> {
  const quota = await tightestQuota(services, connection);
  return toConnectionView(connection, {
    quota,
    missingScopes: missingScopes(services, connection),
  });
}

/**
 * Lists the profile's connections, in the order of the networks. One page holds them all. Costs one query and, at the
 * same time, one read for each network with a quota.
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
