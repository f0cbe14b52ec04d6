import { unlessDamaged } from "./damaged-row.ts";
import type { StoredRow } from "./row.ts";
import type { RowRange } from "./selection.ts";
import type { Table } from "./table.ts";

/** Maximum number of rows that one listing reads before it returns where to continue. */
const SCAN_ROWS_MAX = 2_000;
const PAGE_ROWS_MAX = 1_000;

export interface ScannedPage<T> {
  readonly items: readonly T[];
  /** Where to continue. It is undefined at the end of the range. */
  readonly next: string | undefined;
}

interface Scan<T> {
  readonly partitionKey: string;
  /** Inclusive. */
  readonly from: string;
  /** Exclusive. */
  readonly before: string;
  readonly limit: number;
  /** Returns the item of a row, undefined to skip the row, or "stop" when no later row can fit. */
  pick(stored: StoredRow): T | undefined | "stop";
}

/**
 * Reads a range in key order and picks items from it. The number of rows read is limited, so a listing with a narrow
 * filter may be short or empty without being at the end. Damaged rows are left out.
 */
export async function scan<T>(table: Table, options: Scan<T>): Promise<ScannedPage<T>> {
  const { partitionKey, before, limit } = options;
  const items: T[] = [];
  let from = options.from;
  let read = 0;
  while (read < SCAN_ROWS_MAX) {
    const size = Math.min(PAGE_ROWS_MAX, Math.max(limit + 1, read));
    const rows = await table.list({ partitionKey, from, before, limit: size });
    for (const stored of rows) {
      if (items.length === limit) return { items, next: stored.row.rowKey };
      const item = unlessDamaged(() => options.pick(stored));
      if (item === "stop") return { items, next: undefined };
      if (item !== undefined) items.push(item);
      from = `${stored.row.rowKey} `;
    }
    if (rows.length < size) return { items, next: undefined };
    read += rows.length;
  }
  return { items, next: from };
}

interface RangeReader {
  find(partitionKey: string, rowKey: string): Promise<StoredRow | undefined>;
  list(range: RowRange): Promise<readonly StoredRow[]>;
}

/** How many rows a read may pass over for each one that is wanted. */
const ROWS_OF_ONE = 2;

/**
 * Returns the rows that exist, by their keys. Rows whose keys are close together take one read. Each row that is far
 * from the others takes one more.
 */
export async function findAll(
  table: RangeReader,
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
