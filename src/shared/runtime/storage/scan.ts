import { unlessDamaged } from "./damaged-row.ts";
import type { StoredRow } from "./row.ts";
import type { Table } from "./table.ts";

/** Rows that one listing reads at most before it returns where to continue. */
const SCAN_ROWS_MAX = 2_000;
const PAGE_ROWS_MAX = 1_000;

export interface Scanned<T> {
  readonly items: readonly T[];
  /** Where to continue; undefined at the end of the range. */
  readonly next: string | undefined;
}

interface Scan<T> {
  readonly partitionKey: string;
  /** Inclusive. */
  readonly from: string;
  /** Exclusive. */
  readonly before: string;
  readonly limit: number;
  /** Returns the item of a row, undefined to skip it, or "stop" when no later row can fit. */
  pick(stored: StoredRow): T | undefined | "stop";
}

/**
 * Reads a range in key order and picks from it. The number of rows read is bounded: with a narrow filter a listing may
 * be short, or empty, without being at the end. Leaves out damaged rows.
 */
export async function scan<T>(table: Table, options: Scan<T>): Promise<Scanned<T>> {
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
