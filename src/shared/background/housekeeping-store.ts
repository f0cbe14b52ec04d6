import { sha256Hex } from "../runtime/secrets.ts";
import { integer, rowCodec, text } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Table } from "../runtime/storage/table.ts";

const POISON = "poison";
const TEXT_MAX = 4_000;

/** Columns of a message that was given up. */
export const poisonRow = rowCodec("poison message", {
  queue: text(),
  message: text(),
  count: integer(),
  firstAt: text(),
  lastAt: text(),
});

/** Messages that no worker could do (table `housekeeping`). */
export class HousekeepingStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Counts a message of a queue that was given up; the same message is one row. Answers how often it came. */
  async recordPoison(queue: string, message: string, now: Date): Promise<number> {
    const rowKey = `${queue}|${sha256Hex(message)}`;
    const at = now.toISOString();
    let count = 1;
    await this.#table.change(POISON, rowKey, (stored) => {
      // A damaged row is counted anew: the message itself must not be lost over it.
      const before = stored && unlessDamaged(() => poisonRow.decode(stored.row));
      count = (before?.count ?? 0) + 1;
      const kept = message.slice(0, TEXT_MAX);
      const firstAt = before?.firstAt ?? at;
      const columns = poisonRow.encode({ queue, message: kept, count, firstAt, lastAt: at });
      return { kind: "keep", columns };
    });
    return count;
  }

  /** Removes a page of the messages that did not come again since then. */
  removePoisonBefore(time: Date, after: string | undefined) {
    const olderThan = { property: "lastAt", time: time.toISOString() };
    return this.#table.removeSelected({ partitionKey: POISON, olderThan }, after);
  }
}
