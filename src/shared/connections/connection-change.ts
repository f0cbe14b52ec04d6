import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { Columns, RowWrite, StoredRow } from "../runtime/storage/row.ts";
import { connectionEvent, type EventContext } from "./connection-event.ts";
import { connectionRow } from "./connection-row.ts";
import { MARKS, type Connection } from "./connection.ts";

/** Returns the connection once it has ended. */
export function revokedAt(connection: Connection, now: Date): Connection {
  const { generation } = connection;
  const changes = { generation: generation + 1, updatedAt: now.toISOString(), expiresAt: null };
  return { ...connection, ...changes, status: "revoked" };
}

/** Returns the writes that mark a connection as refused, or with null as accepted again. */
export function markWrites(
  { row: { rowKey }, etag }: StoredRow,
  before: Connection,
  failure: { readonly code: LegErrorCode } | null,
  context: EventContext,
): RowWrite[] {
  const at = context.now.toISOString();
  const { status, type } = failure === null ? MARKS.accepted : MARKS.refused;
  const lastError = failure === null ? null : { code: failure.code, at };
  const changes = { status, lastError, updatedAt: at };
  const columns = connectionRow.encodePart({ ...changes, leaseUntil: "" });
  return [
    { kind: "merge", row: { ...columns, rowKey }, etag },
    connectionEvent(type, { ...before, ...changes }, context),
  ];
}

/** Returns the write of a whole row: a merge would keep the rest of longer credentials. */
export function rowWrite(
  rowKey: string,
  stored: StoredRow | undefined,
  columns: Columns,
): RowWrite {
  const row = { ...columns, rowKey };
  return stored === undefined
    ? { kind: "create", row }
    : { kind: "replace", row, etag: stored.etag };
}
