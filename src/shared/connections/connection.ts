import type { BoundedAccount } from "../networks/contract/bounded.ts";
import type { ProfileScope } from "../callers/scope.ts";
import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { Account } from "../networks/contract/link.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import type { Rejection, TryLater } from "../networks/contract/outcome.ts";
import type { Feature } from "../networks/features.ts";
import type { NetworkName } from "../networks/networks.ts";
import { inWords, type StoredFinding } from "../networks/wording.ts";
import { withDocUrl } from "../runtime/doc-url.ts";
import type { Locale } from "../runtime/locale.ts";

export interface ProfileRef {
  readonly platformId: string;
  readonly profileId: string;
}

/** Identifies a connection. A profile has at most one per network. */
export interface ConnectionRef extends ProfileRef {
  readonly network: NetworkName;
}

type ConnectionStatus = "active" | "needs_reauth" | "revoked";

/** The effects of a network's refusing a connection, or accepting it again. */
export const MARKS = {
  refused: { from: "active", status: "needs_reauth", type: "connection.needs_reauth" },
  accepted: { from: "needs_reauth", status: "active", type: "connection.linked" },
} as const;

/** Why a network refused an account, as its row has it. */
export interface ConnectionError extends Omit<StoredFinding<LegErrorCode>, "field"> {
  readonly at: string;
}

/** An account that an end user authorized for a profile, without its secrets. */
export interface Connection {
  readonly id: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  readonly network: NetworkName;
  readonly status: ConnectionStatus;
  readonly account: Account;
  /** Identifies what ends at the network together with this authorization. By default, only the account. */
  readonly grantId?: string;
  readonly instanceUrl: string | null;
  readonly scopes: readonly string[];
  readonly limits: NetworkData;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly lastError: ConnectionError | null;
  /** When the network last confirmed that the account is authorized, other than by a post. */
  readonly checkedAt: string | null;
  /** The `expiresAt` of the last warning to the customer. */
  readonly warnedExpiresAt: string | null;
  /** Increases with every change of the credentials, so that a holder of older ones knows to read them again. */
  readonly generation: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Identifies a connection and the account that it is linked to. */
export type NamedConnection = ConnectionRef & Pick<Connection, "id" | "applicationId">;

export interface OpenedConnection {
  readonly connection: Connection;
  /** Undefined when they were purged, or when their data key is gone. */
  readonly credentials: NetworkData | undefined;
}

/** A profile with its linked accounts, as they were when the request came. */
export interface PublishingScope extends ProfileScope {
  readonly connections: readonly Connection[];
}

/** The fields that linking writes. An account that the profile had before keeps its id. */
export interface LinkingFields extends ConnectionRef {
  readonly id: string;
  readonly applicationId: string;
  readonly linked: BoundedAccount;
}

/** Makes the connection for a link. If the account stays the same, so do its id and creation time. */
export function toConnection(
  linking: LinkingFields,
  before: Connection | undefined,
  now: Date,
): Connection {
  const { id, platformId, applicationId, profileId, network, linked } = linking;
  const isSame = before?.id === id;
  return {
    id,
    platformId,
    applicationId,
    profileId,
    network,
    status: "active",
    account: linked.account,
    ...(linked.grantId === undefined ? {} : { grantId: linked.grantId }),
    instanceUrl: linked.instanceUrl,
    scopes: linked.scopes,
    limits: linked.limits,
    expiresAt: linked.expiresAt,
    lastUsedAt: isSame ? before.lastUsedAt : null,
    lastError: null,
    checkedAt: now.toISOString(),
    warnedExpiresAt: null,
    generation: (before?.generation ?? 0) + 1,
    createdAt: isSame ? before.createdAt : now.toISOString(),
    updatedAt: now.toISOString(),
  };
}

/** Returns the id of the authorization. Accounts with the same id lose it together. */
export function grantIdOf({
  account,
  grantId,
}: {
  readonly account: Pick<Account, "id">;
  readonly grantId?: string | undefined;
}): string {
  return grantId ?? account.id;
}

/** How much of a network's quota an account has used in the last 24 hours. */
export interface QuotaView {
  readonly used: number;
  readonly limit: number;
  readonly remaining: number;
  readonly resetsAt: string | null;
}

/** Facts about a connection that aren't in its row. */
interface ConnectionFacts {
  /** The network's publishing quota of the account, or null if the network has none. */
  readonly quota: QuotaView | null;
  readonly missingScopes: readonly string[];
  readonly unavailableFeatures: readonly Feature[];
}

/** Facts about a connection that is no longer in use. */
export const NOTHING_BESIDE: ConnectionFacts = {
  quota: null,
  missingScopes: [],
  unavailableFeatures: [],
};

/** Returns a connection as events have it, without links to the reference. */
export function toConnectionRecord(
  connection: Connection,
  { quota, missingScopes, unavailableFeatures }: ConnectionFacts,
  locale: Locale = "en",
) {
  const { id, profileId, applicationId, status, account, instanceUrl, scopes, limits } = connection;
  const { expiresAt, lastUsedAt, lastError, createdAt, updatedAt } = connection;
  return {
    id,
    profileId,
    applicationId,
    platform: connection.network,
    status,
    account: { ...account, url: account.url || null },
    instanceUrl,
    scopes,
    missingScopes,
    unavailableFeatures,
    limits,
    quota,
    expiresAt,
    lastUsedAt,
    lastError: lastError && errorInWords(connection.network, lastError, locale),
    createdAt,
    updatedAt,
  };
}

function errorInWords(network: NetworkName, { at, ...found }: ConnectionError, locale: Locale) {
  const { field: _field, ...said } = inWords({ ...found, field: null }, { network, locale });
  return { ...said, at };
}

export type ConnectionRecord = ReturnType<typeof toConnectionRecord>;

/** Returns a connection as answers have it. */
export function toConnectionView(record: ConnectionRecord, baseUrl: string) {
  const { lastError } = record;
  return { ...record, lastError: lastError && withDocUrl(lastError, baseUrl) };
}

export type ConnectionView = ReturnType<typeof toConnectionView>;

/** A connection among those of all profiles. */
export interface ApplicationConnectionView extends ConnectionView {
  readonly profile: { readonly id: string; readonly title: string };
}

/** Credentials that were found usable, or were renewed. */
interface UsableCredentials {
  readonly kind: "usable";
  readonly credentials: NetworkData;
  /** The connection as it is now. Its generation is that of the credentials. */
  readonly connection: Connection;
}

export type FreshCredentials = UsableCredentials | TryLater | Rejection;
