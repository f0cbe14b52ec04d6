import { sha256Hex } from "../runtime/secrets.ts";
import { DamagedRow } from "../runtime/storage/damaged-row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { WINDOW_MS } from "./sliding-window.ts";

/** How long rows are kept. They count for two minutes. The rest allows for clocks that differ. */
const KEPT_MS = 3600 * 1000;
const SHARDS = "0123456789abcdef";
const COLUMN_PREFIX = "n";

/** Counts by column. Every process has its own column. */
export type WindowCounts = ReadonlyMap<string, number>;

/** Rows that a window uses to exchange counts with other instances. */
export interface RateWindowRows {
  publish(subject: string, minute: number, column: string, count: number): Promise<void>;
  read(subject: string, minute: number): Promise<WindowCounts>;
}

const windowPartition = (shard: string, time: number) =>
  `${shard}|${new Date(time).toISOString().slice(0, 10)}`;

/** Makes the key. The day lets the purge find old rows, and the shard spreads a day over the servers. */
function windowKey(subject: string, minute: number) {
  const time = minute * WINDOW_MS;
  const shard = sha256Hex(subject).slice(0, 1);
  return { partitionKey: windowPartition(shard, time), rowKey: `${subject}|${minute}` };
}

/** Stores requests by subject and minute (table `ratewindows`). In each row, every process has a column of its own. */
export class RateWindowStore implements RateWindowRows {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Writes the process's column without changing the others. A caller must have only one write per row running, because
   * the older of two might be applied last.
   */
  async publish(subject: string, minute: number, column: string, count: number): Promise<void> {
    const { partitionKey, rowKey } = windowKey(subject, minute);
    await this.#table.putProperties(partitionKey, { rowKey, [COLUMN_PREFIX + column]: count });
  }

  /** Reads the counts of all processes. @throws DamagedRow */
  async read(subject: string, minute: number): Promise<WindowCounts> {
    const { partitionKey, rowKey } = windowKey(subject, minute);
    const stored = await this.#table.find(partitionKey, rowKey);
    const counts = new Map<string, number>();
    for (const [column, value] of Object.entries(stored?.row ?? {})) {
      if (!column.startsWith(COLUMN_PREFIX)) continue;
      if (typeof value !== "number" || !Number.isInteger(value)) {
        const reason = "is no whole number";
        throw new DamagedRow({ kind: "rate window", rowKey, column, reason });
      }
      counts.set(column.slice(COLUMN_PREFIX.length), value);
    }
    return counts;
  }

  /**
   * Counts one of a UTC day exactly, or several, unless that exceeds the limit. Returns whether it did. The purge removes
   * the row together with the day's other rows.
   */
  async countOfDay(subject: string, now: number, max: number, by = 1): Promise<boolean> {
    const shard = sha256Hex(subject).slice(0, 1);
    const changed = await this.#table.change(windowPartition(shard, now), subject, (stored) => {
      const count = stored?.row[COLUMN_PREFIX] ?? 0;
      if (typeof count !== "number" || count + by > max) return { kind: "leave" };
      return { kind: "keep", columns: { [COLUMN_PREFIX]: count + by } };
    });
    return changed.kind !== "left";
  }

  /** Removes a page of the rows of past days, shard by shard. */
  async removeOld(now: Date, after: string | undefined) {
    const [shard = SHARDS.charAt(0), ...rest] = after?.split("|") ?? [];
    const token = rest.join("|");
    const before = windowPartition(shard, now.getTime() - KEPT_MS);
    const { removed, next } = await this.#table.removeSelected(
      { partitions: { from: `${shard}|`, before } },
      token === "" ? undefined : token,
    );
    if (next !== undefined) return { removed, next: `${shard}|${next}` };
    const following = SHARDS.charAt(SHARDS.indexOf(shard) + 1);
    return { removed, next: following === "" ? undefined : `${following}|` };
  }
}
