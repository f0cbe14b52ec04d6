import { FREE, LEASE_COLUMNS } from "../runtime/lease.ts";
import * as z from "zod";
import type { Account } from "../networks/contract/link.ts";
import type { NetworkName } from "../networks/networks.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { shape } from "../runtime/shape.ts";
import {
  fieldsForm,
  integer,
  json,
  jsonOrNull,
  longJson,
  longText,
  namesForm,
  oneOf,
  type Reader,
  rowCodec,
  text,
  textOrNull,
} from "../runtime/storage/codec.ts";
import type { Columns, Row } from "../runtime/storage/row.ts";
import type { Connection, ConnectionError, ConnectionRef } from "./connection.ts";

const accountShape = shape((): z.ZodType<Account> =>
  z.looseObject({
    id: z.string(),
    username: z.string(),
    displayName: z.string(),
    avatarUrl: z.string().nullable(),
    url: z.string(),
    kind: z.string(),
  }),
);
const errorShape = shape(
  // Safe: a code that this build doesn't know is shown unchanged.
  () =>
    z.looseObject({
      code: z.string(),
      rule: z.string().nullable(),
      values: z.record(z.string(), z.union([z.string(), z.number()])),
      at: z.string(),
    }) as unknown as z.ZodType<ConnectionError>,
);

/** The columns of a connection. Its platform is the partition, and the row key has its profile and network. */
export const connectionRow = rowCodec("connection", {
  id: text(),
  applicationId: text(),
  status: oneOf(["active", "needs_reauth", "revoked"]),
  account: json(accountShape),
  grantId: textOrNull(),
  instanceUrl: textOrNull(),
  scopes: json(namesForm()),
  limits: longJson(fieldsForm),
  /** Sealed, or "" after they were purged. */
  credentials: longText(),
  expiresAt: textOrNull(),
  lastUsedAt: textOrNull(),
  lastError: jsonOrNull(errorShape),
  checkedAt: textOrNull(),
  warnedExpiresAt: textOrNull(),
  generation: integer(),
  /** Until when a process renews the credentials, or "" when none does. */
  // The lease of the process that renews the credentials.
  ...LEASE_COLUMNS,
  createdAt: text(),
  updatedAt: text(),
});

/** Finds the network of this name. Returns undefined when this build doesn't have it. */
export function networkNamed(name: unknown): NetworkName | undefined {
  return NETWORK_NAMES.find((known) => known === name);
}

export const CONNECTION_ROWS = "C|";

export const connectionsOfProfile = (profileId: string) => `${CONNECTION_ROWS}${profileId}|`;

export const connectionKey = ({ profileId, network }: ConnectionRef) =>
  connectionsOfProfile(profileId) + network;

/** Returns the connection that a row key names, or undefined for a network that this build doesn't have. */
export function refOfKey(platformId: string, rowKey: string): ConnectionRef | undefined {
  const [, profileId = "", name] = rowKey.split("|");
  const network = networkNamed(name);
  return network === undefined ? undefined : { platformId, profileId, network };
}

/** Returns the context that sealed credentials are bound to, so that they don't open in another row. */
export function credentialsBinding({ profileId, network }: ConnectionRef): string {
  return `connections|${profileId}|${network}|credentials`;
}

/** Returns the whole row, to replace the old one. A merge would leave the rest of longer credentials. */
export function toConnectionRow(connection: Connection, sealed: string): Columns {
  const { grantId = null, ...columns } = connection;
  return connectionRow.encode({ ...columns, grantId, credentials: sealed, ...FREE });
}

export function fromConnectionRow(
  { platformId, profileId, network }: ConnectionRef,
  row: Row,
  reader?: Reader,
) {
  const { credentials, leaseId, leaseUntil, grantId, ...columns } = connectionRow.decode(
    row,
    reader,
  );
  const connection: Connection = {
    ...columns,
    platformId,
    profileId,
    network,
    ...(grantId === null ? {} : { grantId }),
  };
  // The sealed credentials, or "" after they were purged.
  return { connection, sealed: credentials, lease: { leaseId, leaseUntil } };
}
