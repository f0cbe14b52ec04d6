import type { NetworkName } from "../networks/networks.ts";
import { inverted, timeOfId } from "../runtime/ids.ts";
import { rowCodec, text } from "../runtime/storage/codec.ts";
import type { Row, RowWrite } from "../runtime/storage/row.ts";
import type { Connection } from "./connection.ts";
import { networkNamed } from "./connection-row.ts";

/*
 * The rows under which an application's connections are listed, whatever profile they belong to. Each is written in the
 * transaction of the change that it follows from, so no list is ever behind its connections. The row of a connection
 * says which of them it has, so a change knows without a read what to delete.
 */

const listedColumns = { profileId: text(), network: text() };

export const applicationConnectionRow = rowCodec("connection of an application", listedColumns);
export const attentionRow = rowCodec("connection that needs attention", listedColumns);

/** What a list finds in an index, from which it can tell whether it has to read the connection. */
export interface IndexedConnection {
  readonly id: string;
  readonly profileId: string;
  readonly network: NetworkName;
}

/** Reports whether people have to link an account again, or should do so because the authorization ends soon. */
export const needsAttention = ({
  status,
  warnedExpiresAt,
}: Pick<Connection, "status" | "warnedExpiresAt">) =>
  status === "needs_reauth" || warnedExpiresAt !== null;

export const CONNECTION_INDEXES = {
  application: {
    prefix: (applicationId: string) => `CA|${applicationId}|`,
    row: applicationConnectionRow,
    has: () => true,
  },
  attention: {
    prefix: (applicationId: string) => `CX|${applicationId}|`,
    row: attentionRow,
    has: needsAttention,
  },
} as const;
export type ConnectionIndexName = keyof typeof CONNECTION_INDEXES;

/** Returns what a row of an index says, or undefined for a network that this build doesn't have. @throws DamagedRow */
export function toIndexedConnection(
  name: ConnectionIndexName,
  row: Row,
): IndexedConnection | undefined {
  const { profileId, network: stored } = CONNECTION_INDEXES[name].row.decode(row, "people");
  const network = networkNamed(stored);
  const id = row.rowKey.slice(row.rowKey.lastIndexOf("|") + 1);
  return network === undefined ? undefined : { id, profileId, network };
}

/** Returns the rows that list a connection, newest first by the time in its id. */
function listingsOf(connection: Connection): Row[] {
  const { id, applicationId, profileId, network } = connection;
  const place = `${inverted(timeOfId("connection", id))}|${id}`;
  return Object.values(CONNECTION_INDEXES)
    .filter(({ has }) => has(connection))
    .map(({ prefix, row }) => ({
      ...row.encode({ profileId, network }),
      rowKey: prefix(applicationId) + place,
    }));
}

/**
 * Returns the writes that make the indexes list a changed connection. `before` is the connection as it is stored,
 * undefined for a new one. Its row, which the same transaction writes under its version, decides for these rows too.
 */
export function listingChange(
  before: Connection | undefined,
  after: Connection | undefined,
): RowWrite[] {
  const stored = before === undefined ? [] : listingsOf(before);
  const wanted = after === undefined ? [] : listingsOf(after);
  const without = (rows: readonly Row[], others: readonly Row[]) =>
    rows.filter(({ rowKey }) => !others.some((other) => other.rowKey === rowKey));
  return [
    ...without(stored, wanted).map(({ rowKey }) => ({ kind: "delete", rowKey }) as const),
    ...without(wanted, stored).map((row) => ({ kind: "create", row }) as const),
  ];
}
