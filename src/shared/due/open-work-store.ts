import { RecentMap } from "../runtime/recent-map.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { minuteOf, minutesFrom, youngestMinute } from "./due-store.ts";

const MINUTE_MS = 60_000;
const PAGE_ROWS = 1_000;
const REMEMBERED_MAX = 10_000;

/** That a platform or a webhook endpoint was marked in a minute as having open work. */
interface Mark {
  readonly minute: string;
  /** The id of the platform or endpoint. */
  readonly owner: string;
  readonly etag: string;
}

/** What rows begin with: the ids of platforms and of webhook endpoints. */
const [FIRST_OWNER, LAST_OWNER] = ["plt_", "whk_"] as const;

/**
 * The index of platforms and webhook endpoints with open work, by the minute in which they were marked (table `dirty`).
 * A platform is marked before it accepts work, so that a crash in between leaves at most a harmless entry. What the sweep has looked at is
 * removed, so all that is older than two minutes waits for it.
 */
export class OpenWorkStore {
  readonly #table: Table;
  readonly #marked = new RecentMap<string>(REMEMBERED_MAX);

  constructor(table: Table) {
    this.#table = table;
  }

  /** Marks a platform or an endpoint: at most one write a minute for each of them and process. */
  async mark(owner: string, now: Date): Promise<void> {
    const minute = minuteOf(now);
    if (this.#marked.get(owner) === minute) return;
    await this.#table.put(minute, { rowKey: owner });
    this.#marked.set(owner, minute);
  }

  /** Lists the young minutes, up to the one after the present, for clocks that run ahead. */
  youngMinutes(now: Date): string[] {
    return minutesFrom(youngestMinute(now), now.getTime() + MINUTE_MS + 1);
  }

  /** Returns whether nobody is marked in the minute any more, unless a clock is wrong. */
  isOld(minute: string, now: Date): boolean {
    return minute < youngestMinute(now);
  }

  /** Lists a page of the marks in old minutes, oldest first; it may be empty and not the last. */
  async listOld(
    now: Date,
    after: string | undefined,
  ): Promise<{ readonly items: readonly Mark[]; readonly next: string | undefined }> {
    const partitions = { before: youngestMinute(now) };
    const { rows, next } = await this.#table.select({ partitions, pageRows: PAGE_ROWS }, after);
    const items = rows.map(({ partitionKey, row, etag }) => ({
      minute: partitionKey,
      owner: row.rowKey,
      etag,
    }));
    return { items, next };
  }

  /** Lists a page of a minute's marks after the given one; "" for the first. */
  async listMinute(
    minute: string,
    after: string,
  ): Promise<{ readonly items: readonly Mark[]; readonly next: string | undefined }> {
    const rows = await this.#table.list({
      partitionKey: minute,
      from: after === "" ? FIRST_OWNER : `${after} `,
      before: afterPrefix(LAST_OWNER),
      limit: PAGE_ROWS,
    });
    const items = rows.map(({ row, etag }) => ({ minute, owner: row.rowKey, etag }));
    return { items, next: rows.length < PAGE_ROWS ? undefined : rows.at(-1)?.row.rowKey };
  }

  /** Removes a mark as it was listed, unless the owner was marked again since. */
  async remove({ minute, owner, etag }: Mark): Promise<void> {
    await this.#table.delete(minute, owner, etag);
  }
}
