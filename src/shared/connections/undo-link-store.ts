import type { RaiseAccess } from "../billing/access-version.ts";
import { serviceUnavailable } from "../runtime/errors.ts";
import type { Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import type { ConnectionIndexStore } from "./connection-index-store.ts";
import { connectionRow, fromConnectionRow } from "./connection-row.ts";
import { grantIdOf, type Connection } from "./connection.ts";

interface Parts {
  readonly table: Table;
  readonly index: ConnectionIndexStore;
  readonly raiseAccess: RaiseAccess;
}

interface Saved {
  readonly connection: Connection;
  readonly before: { readonly connection: Connection } | undefined;
}

/**
 * Takes a link back: the row before it, if there was one, is stored again, unless the row was changed since. May be
 * repeated.
 */
export async function undoLink(
  { table, index, raiseAccess }: Parts,
  { connection, before }: Saved,
  rowBefore: Row | undefined,
): Promise<void> {
  const { platformId } = connection;
  if (!(await putBack(table, connection, rowBefore))) return;
  // Other processes may have cached the link under the version that it raised.
  await raiseAccess(platformId);
  const kept = before?.connection.status === "revoked" ? undefined : before?.connection;
  if (kept === undefined) await index.remove(connection);
  else if (grantIdOf(kept) !== grantIdOf(connection)) await index.removeGrant(connection);
}

/** Returns false when the row has another link by now. @throws AppError `service_unavailable` when it just changed */
async function putBack(
  table: Table,
  connection: Connection,
  rowBefore: Row | undefined,
): Promise<boolean> {
  const { profileId, network, generation } = connection;
  const stored = await table.find(profileId, network);
  if (stored === undefined) return rowBefore === undefined;
  const present = fromConnectionRow(connection, stored.row).connection;
  if (present.id !== connection.id || present.generation !== generation) return false;
  // A generation of its own, so that none who read the link's credentials takes them for these.
  const columns = connectionRow.encodePart({ generation: generation + 1 });
  const isBack =
    rowBefore === undefined
      ? await table.delete(profileId, network, stored.etag)
      : await table.replaceIfUnchanged(profileId, { ...rowBefore, ...columns }, stored.etag);
  if (isBack === false || isBack === undefined) throw serviceUnavailable();
  return true;
}
