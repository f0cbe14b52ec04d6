import { sha256Hex } from "../runtime/secrets.ts";
import { numberOf, textOf, textOrNull } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";

const POSITIONS = "position";
const POISON = "poison";
const TEXT_MAX = 4_000;

/** Long searches that are done piece by piece. */
export type Search = "forgotten_work" | "untold_events" | "purge_platforms" | "purge_endpoints";

/** What the service keeps of its own (table `housekeeping`): how far its searches came, and messages that no worker could do. */
export class HousekeepingStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Where a search goes on; undefined at its beginning. */
  async position(search: Search): Promise<string | undefined> {
    const stored = await this.#table.find(POSITIONS, search);
    return stored === undefined ? undefined : (textOrNull(stored.row, "after") ?? undefined);
  }

  async keepPosition(search: Search, after: string | undefined): Promise<void> {
    await this.#table.put(POSITIONS, { rowKey: search, after: after ?? "" });
  }

  /** Counts a message of a queue that was given up; the same message is one row. Answers how often it came. */
  async recordPoison(queue: string, message: string, now: Date): Promise<number> {
    const rowKey = `${queue}|${sha256Hex(message)}`;
    const at = now.toISOString();
    let count = 1;
    await this.#table.change(POISON, rowKey, (stored) => {
      count = stored === undefined ? 1 : numberOf(stored.row, "count") + 1;
      const firstAt = stored === undefined ? at : textOf(stored.row, "firstAt");
      const kept = message.slice(0, TEXT_MAX);
      return { kind: "write", columns: { queue, message: kept, count, firstAt, lastAt: at } };
    });
    return count;
  }

  /** Removes a page of the messages that did not come again since then. */
  removePoisonBefore(time: Date, after: string | undefined) {
    const olderThan = { property: "lastAt", time: time.toISOString() };
    return this.#table.removeSelected({ partitionKey: POISON, olderThan }, after);
  }
}
