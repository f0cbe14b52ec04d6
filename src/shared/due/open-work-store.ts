import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { minuteOf, WatermarkStore } from "./watermark-store.ts";

const MINUTE_MS = 60_000;
const PLATFORMS_OF_MINUTE_MAX = 100_000;
const REMEMBERED_MAX = 10_000;

/**
 * The index of platforms with open work, by the minute in which they were marked (table `dirty`). A platform is marked
 * before it accepts work, so that a crash in between leaves at most a harmless entry.
 */
export class OpenWorkStore {
  readonly #table: Table;
  readonly #watermark: WatermarkStore;
  readonly #marked = new Map<string, string>();

  constructor(table: Table) {
    this.#table = table;
    this.#watermark = new WatermarkStore(table, "sweep");
  }

  /** Marks a platform: at most one write a minute for a platform and process. */
  async mark(platformId: string, now: Date): Promise<void> {
    const minute = minuteOf(now);
    if (this.#marked.get(platformId) === minute) return;
    await this.#table.put(minute, { rowKey: platformId });
    if (this.#marked.size >= REMEMBERED_MAX) this.#marked.clear();
    this.#marked.set(platformId, minute);
  }

  /** Lists the minutes that the next sweep looks at, oldest first; after an outage all that were missed. */
  async minutes(now: Date, minutesMax: number): Promise<string[]> {
    const from = (await this.#watermark.find()) ?? this.#watermark.first(now);
    return this.#watermark.minutes(from, new Date(now.getTime() + MINUTE_MS), minutesMax);
  }

  /** Lists the marks in minutes that were worked through: they came too late to be seen there. */
  async listLeftBehind(): Promise<readonly { minute: string; platformId: string }[]> {
    const before = await this.#watermark.find();
    if (before === undefined) return [];
    const { rows } = await this.#table.select({ partitions: { before } }, undefined);
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

  /** Notes that all minutes up to `through` were worked through. Marks of old minutes are removed. */
  async advance(through: string, now: Date): Promise<void> {
    if (!(await this.#watermark.advance(through, now))) return;
    for (const platformId of await this.platformsOf(through))
      await this.#table.delete(through, platformId);
  }
}
