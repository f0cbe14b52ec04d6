import type { ChangedRow, Row, RowChange, StoredRow } from "./row.ts";

interface ConditionalWrites {
  insertIfAbsent(partitionKey: string, row: Row): Promise<string | undefined>;
  replaceIfUnchanged(partitionKey: string, row: Row, etag: string): Promise<string | undefined>;
  mergeIfUnchanged(partitionKey: string, row: Row, etag: string): Promise<string | undefined>;
  delete(partitionKey: string, rowKey: string, etag: string): Promise<boolean>;
}

interface RowKeys {
  readonly partitionKey: string;
  readonly rowKey: string;
}

async function writeRow(
  table: ConditionalWrites,
  partitionKey: string,
  stored: StoredRow | undefined,
  row: Row,
): Promise<ChangedRow | undefined> {
  const etag =
    stored === undefined
      ? await table.insertIfAbsent(partitionKey, row)
      : await table.replaceIfUnchanged(partitionKey, row, stored.etag);
  if (etag === undefined) return undefined;
  return { kind: stored === undefined ? "created" : "replaced", row };
}

/** Writes a change of a row. The result is undefined when the row was changed since it was read. */
export async function applyChange(
  table: ConditionalWrites,
  { partitionKey, rowKey }: RowKeys,
  stored: StoredRow | undefined,
  change: RowChange,
): Promise<ChangedRow | undefined> {
  if (change.kind === "leave") return { kind: "left", row: stored?.row };
  if (change.kind === "write" || (change.kind === "keep" && stored === undefined))
    return writeRow(table, partitionKey, stored, { ...change.columns, rowKey });
  // An absent row can be neither merged nor removed.
  if (stored === undefined) return { kind: "left", row: undefined };
  if (change.kind === "remove") {
    const isRemoved = await table.delete(partitionKey, rowKey, stored.etag);
    return isRemoved ? { kind: "removed", row: undefined } : undefined;
  }
  const columns = { ...change.columns, rowKey };
  const etag = await table.mergeIfUnchanged(partitionKey, columns, stored.etag);
  return etag === undefined ? undefined : { kind: "merged", row: { ...stored.row, ...columns } };
}
