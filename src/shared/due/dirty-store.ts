import { textOf } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";

const MINUTE_MS = 60_000;
const WATERMARK = { partitionKey: "watermark", rowKey: "sweep" } as const;
/** Clocks of instances may differ: minutes younger than this are read again by the next sweep. */
const SKEW_MINUTES = 2;
const PLATFORMS_OF_MINUTE_MAX = 100_000;
const REMEMBERED_MAX = 10_000;

const minuteOf = (now: Date) =>
  new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS).toISOString();

/**
 * Which platforms have open work, by the minute in which they said so (table `dirty`). A platform announces itself
 * before it accepts work, so that a crash in between leaves at most a harmless entry.
 */
export class DirtyStore {
  readonly #table: Table;
  readonly #announced = new Map<string, string>();

  constructor(table: Table) {
    this.#table = table;
  }

  /** At most one write a minute for a platform and process. */
  async announce(platformId: string, now: Date): Promise<void> {
    const minute = minuteOf(now);
    if (this.#announced.get(platformId) === minute) return;
    await this.#table.put(minute, { rowKey: platformId });
    if (this.#announced.size >= REMEMBERED_MAX) this.#announced.clear();
    this.#announced.set(platformId, minute);
  }

  /** The minutes that the next sweep has to look at, oldest first; after an outage all that were missed. */
  async minutes(now: Date, minutesMax: number): Promise<string[]> {
    const stored = await this.#table.find(WATERMARK.partitionKey, WATERMARK.rowKey);
    const last = Date.parse(minuteOf(now));
    const since = String(stored?.row["minute"] ?? minuteOf(new Date(last - 60 * MINUTE_MS)));
    const minutes: string[] = [];
    for (
      let at = Date.parse(since);
      at <= last + MINUTE_MS && minutes.length < minutesMax;
      at += MINUTE_MS
    )
      minutes.push(new Date(at).toISOString());
    return minutes;
  }

  /** Announcements in minutes that were worked through: they came too late to be seen there. */
  async listLeftBehind(): Promise<readonly { minute: string; platformId: string }[]> {
    const stored = await this.#table.find(WATERMARK.partitionKey, WATERMARK.rowKey);
    if (stored === undefined) return [];
    const partitions = { before: textOf(stored.row, "minute") };
    const { rows } = await this.#table.select({ partitions }, undefined);
    return rows.map(({ partitionKey, row }) => ({ minute: partitionKey, platformId: row.rowKey }));
  }

  async removeLeftBehind(left: { readonly minute: string; readonly platformId: string }) {
    await this.#table.delete(left.minute, left.platformId);
  }

  async platformsOf(minute: string): Promise<string[]> {
    const rows = await this.#table.list({
      partitionKey: minute,
      before: afterPrefix("plt_"),
      limit: PLATFORMS_OF_MINUTE_MAX,
    });
    return rows.map(({ row }) => row.rowKey);
  }

  /** All minutes up to `through` were worked through. The young ones are kept for the next sweep, old ones removed. */
  async advance(through: string, now: Date): Promise<void> {
    const youngest = minuteOf(new Date(now.getTime() - SKEW_MINUTES * MINUTE_MS));
    const minute = through < youngest ? through : youngest;
    await this.#table.put(WATERMARK.partitionKey, { rowKey: WATERMARK.rowKey, minute });
    if (through >= youngest) return;
    for (const platformId of await this.platformsOf(through))
      await this.#table.delete(through, platformId);
  }
}
