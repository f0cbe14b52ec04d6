import { setTimeout as wait } from "node:timers/promises";
import { serviceUnavailable } from "../errors.ts";
import type { ChangedRow, Row, RowChange, StoredRow } from "./row.ts";

/** The result of an attempt whose row was changed by another writer first. */
export const LOST = Symbol("lost race");

/** Enough for every instance of a large deployment to write the same row at the same moment. */
export const RACES_MAX = 20;
const PAUSE_MS = 10;
/** The pause stops growing here, so that an early writer does not wait longer than later ones. */
const PAUSES_GROWN_MAX = 10;

/** Waits for a random time that grows with each lost race, up to a tenth of a second. */
export function pauseAfter(races: number): Promise<void> {
  return wait(Math.random() * PAUSE_MS * Math.min(races, PAUSES_GROWN_MAX));
}

/**
 * Repeats a read, a decision and a conditional write until no race is lost. The first attempt has the number 1.
 * @throws AppError `service_unavailable` after 20 lost races
 */
export async function untilWon<T>(
  attempt: (attempts: number) => Promise<T | typeof LOST>,
): Promise<T> {
  for (let attempts = 1; attempts <= RACES_MAX; attempts += 1) {
    const result = await attempt(attempts);
    if (result !== LOST) return result;
    await pauseAfter(attempts);
  }
  throw serviceUnavailable();
}

/** The conditional writes of a single row. */
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

/** Writes a change of a row; undefined when the row was changed since it was read. */
export async function applyChange(
  table: ConditionalWrites,
  { partitionKey, rowKey }: RowKeys,
  stored: StoredRow | undefined,
  change: RowChange,
): Promise<ChangedRow | undefined> {
  if (change.kind === "leave") return { kind: "left", row: stored?.row };
  if (change.kind === "write") {
    const row = { ...change.columns, rowKey };
    if (stored !== undefined) {
      const etag = await table.replaceIfUnchanged(partitionKey, row, stored.etag);
      return etag === undefined ? undefined : { kind: "replaced", row };
    }
    const etag = await table.insertIfAbsent(partitionKey, row);
    return etag === undefined ? undefined : { kind: "created", row };
  }
  // There is nothing to merge into, or to remove.
  if (stored === undefined) return { kind: "left", row: undefined };
  if (change.kind === "remove") {
    const isRemoved = await table.delete(partitionKey, rowKey, stored.etag);
    return isRemoved ? { kind: "removed", row: undefined } : undefined;
  }
  const columns = { ...change.columns, rowKey };
  const etag = await table.mergeIfUnchanged(partitionKey, columns, stored.etag);
  return etag === undefined ? undefined : { kind: "merged", row: { ...stored.row, ...columns } };
}
