import { networkOf, unavailableFeatures } from "../networks/networks.ts";
import type { Config } from "../config/config.ts";
import type { ConnectionsDeps } from "./deps.ts";
import {
  NOTHING_BESIDE,
  toConnectionRecord,
  toConnectionView,
  type Connection,
  type ConnectionRecord,
  type ConnectionView,
  type QuotaView,
} from "./connection.ts";
import type { ProfileScope } from "../callers/scope.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { Locale } from "../runtime/locale.ts";
import type { Page } from "../runtime/page.ts";

/** What showing a connection needs from the process. */
export type ViewDeps = Pick<ConnectionsDeps, "config" | "clock" | "readQuotaUse">;

/** A network's quota: how much of it an account may use in a rolling day. */
export interface Quota {
  readonly kind: string;
  readonly limit: number;
}

/** Returns the quota of a kind for an account. The network may allow the account less than the settings do. */
export function quotaOfKind(
  config: Config,
  kind: string,
  { network, limits }: Pick<Connection, "network" | "limits">,
): Quota | undefined {
  const configured = config.publishing.quotas[`${network}.${kind}`];
  if (configured === undefined) return undefined;
  const max = networkOf(network)?.quotaMaxOf?.(kind, limits);
  return { kind, limit: max === undefined ? configured : Math.min(configured, max) };
}

/** Reads how much of a quota the network account has used over all profiles that link it. Costs one read. */
export async function readQuota(
  services: Pick<ViewDeps, "clock" | "readQuotaUse">,
  { network, account }: Pick<Connection, "network" | "account">,
  { kind, limit }: Quota,
): Promise<QuotaView> {
  const now = services.clock.now();
  const real = { network, accountId: account.id };
  const { used, resetsAt } = await services.readQuotaUse(real, kind, now);
  return { used, limit, remaining: Math.max(0, limit - used), resetsAt };
}

type QuotedAccount = Pick<Connection, "network" | "account" | "limits">;

/** Returns the permissions that are requested today and that the authorization of a connection lacks. */
export function missingScopes(
  config: Config,
  { network, scopes }: Pick<Connection, "network" | "scopes">,
): readonly string[] {
  return networkOf(network).missingScopes?.(scopes, config.networkApps[network]) ?? [];
}

/**
 * Reads an account's quota and returns a function that shows its connection to customers, for use in a transaction.
 * Costs one read if the network has a quota.
 */
export async function viewerOf(
  services: ViewDeps,
  account: QuotedAccount,
  locale?: Locale,
): Promise<(connection: Connection) => ConnectionRecord> {
  const prefix = `${account.network}.`;
  const quotas = Object.keys(services.config.publishing.quotas)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .flatMap((kind) => quotaOfKind(services.config, kind, account) ?? []);
  const uses = await Promise.all(quotas.map((quota) => readQuota(services, account, quota)));
  const [tightest = null] = uses.sort((left, right) => left.remaining - right.remaining);
  const quota = tightest;
  return (connection) =>
    toConnectionRecord(
      connection,
      connection.status === "revoked"
        ? NOTHING_BESIDE
        : {
            quota,
            missingScopes: missingScopes(services.config, connection),
            unavailableFeatures: unavailableFeatures(connection.network, connection.scopes),
          },
      locale,
    );
}

/** Shows a connection to customers. Costs one read if it is in use and the network has a quota. */
export async function viewConnection(
  services: ViewDeps,
  connection: Connection,
  locale?: Locale,
): Promise<ConnectionView> {
  const record =
    connection.status === "revoked"
      ? toConnectionRecord(connection, NOTHING_BESIDE, locale)
      : (await viewerOf(services, connection, locale))(connection);
  return toConnectionView(record, services.config.publicBaseUrl);
}

/**
 * Lists the profile's connections in the order of the networks, all in one page. Costs one query and, in parallel, one
 * read for each network with a quota.
 */
export async function listConnections(
  services: ConnectionsDeps,
  scope: ProfileScope,
): Promise<Page<ConnectionView>> {
  const connections = await services.stores.connections.listOfProfile(scope, { reader: "people" });
  return {
    items: await Promise.all(
      connections.map((connection) => viewConnection(services, connection, scope.locale)),
    ),
    nextCursor: null,
    limit: NETWORK_NAMES.length,
  };
}
