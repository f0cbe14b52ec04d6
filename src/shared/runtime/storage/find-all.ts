import type { StoredRow } from "./row.ts";
import type { RowRange } from "./selection.ts";

interface Readable {
  find(partitionKey: string, rowKey: string): Promise<StoredRow | undefined>;
  list(range: RowRange): Promise<readonly StoredRow[]>;
}

/** Rows that a read may pass on its way, for each one that is wanted. */
const ROWS_OF_ONE = 2;

/**
 * Returns those of the rows that are there, by their keys. Rows whose keys lie close together take one read; each one
 * that lies apart takes one more.
 */
export async function findAll(
  table: Readable,
  partitionKey: string,
  rowKeys: readonly string[],
): Promise<ReadonlyMap<string, StoredRow>> {
  const found = new Map<string, StoredRow>();
  const [first, ...others] = rowKeys.toSorted();
  if (first === undefined) return found;
  let missing: readonly string[] = [first];
  if (others.length > 0) {
    const range = { from: first, before: `${others.at(-1)} ` };
    const limit = rowKeys.length * ROWS_OF_ONE;
    const rows = await table.list({ partitionKey, ...range, limit });
    for (const stored of rows)
      if (rowKeys.includes(stored.row.rowKey)) found.set(stored.row.rowKey, stored);
    const last = rows.at(-1)?.row.rowKey ?? "";
    missing = rows.length < limit ? [] : others.filter((rowKey) => rowKey > last);
  }
  await Promise.all(
    missing.map(async (rowKey) => {
      const stored = await table.find(partitionKey, rowKey);
      if (stored !== undefined) found.set(rowKey, stored);
    }),
  );
  return found;
}
