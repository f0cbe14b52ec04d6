import { afterPrefix, type Table } from "../storage/table.ts";
import type { PostPlace } from "./post-store.ts";

const MINUTE_MS = 60_000;
const WATERMARK = { partitionKey: "watermark", rowKey: "due" } as const;
/** Clocks of instances may differ: minutes younger than this are read again by the next run. */
const SKEW_MINUTES = 2;
const PAGE_ROWS = 1_000;

/** A post that is due at a time. */
export interface Due {
  readonly place: PostPlace;
  readonly dueAt: string;
}

/** As it is stored: when it was written, and when a hint to fire was last sent. */
export interface StoredDue extends Due {
  readonly createdAt: string;
  readonly hintedAt: string | null;
}

export const minuteOf = (time: string): string =>
  new Date(Math.floor(Date.parse(time) / MINUTE_MS) * MINUTE_MS).toISOString();

const rowKeyOf = ({ place, dueAt }: Due) => `${dueAt}|${place.postId}`;

/** Which posts are due, by minute (table `due`). A row without a scheduled post is harmless. */
export class DueStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Written before the post is: a crash in between leaves a row that is dropped later. */
  async add(due: Due, now: Date): Promise<void> {
    await this.#put({ ...due, createdAt: now.toISOString(), hintedAt: null });
  }

  async markHinted(due: StoredDue, now: Date): Promise<void> {
    await this.#put({ ...due, hintedAt: now.toISOString() });
  }

  #put(due: StoredDue): Promise<void> {
    const { platformId, profileId, postId } = due.place;
    return this.#table.put(minuteOf(due.dueAt), {
      rowKey: rowKeyOf(due),
      platformId,
      profileId,
      postId,
      dueAt: due.dueAt,
      createdAt: due.createdAt,
      hintedAt: due.hintedAt ?? "",
    });
  }

  async remove(due: Due): Promise<void> {
    await this.#table.delete(minuteOf(due.dueAt), rowKeyOf(due));
  }

  /** A page of a minute's rows; `after` is the row key of the last one seen. */
  async listMinute(
    minute: string,
    after: string | undefined,
  ): Promise<{ readonly dues: readonly StoredDue[]; readonly next: string | undefined }> {
    const rows = await this.#table.list({
      partitionKey: minute,
      ...(after === undefined ? {} : { from: `${after} ` }),
      before: afterPrefix("9"),
      limit: PAGE_ROWS,
    });
    const dues = rows.map(({ row }): StoredDue => {
      const { platformId, profileId, postId, dueAt, createdAt, hintedAt } = row;
      return {
        place: {
          platformId: String(platformId),
          profileId: String(profileId),
          postId: String(postId),
        },
        dueAt: String(dueAt),
        createdAt: String(createdAt),
        hintedAt: hintedAt === "" ? null : String(hintedAt),
      };
    });
    return { dues, next: rows.length < PAGE_ROWS ? undefined : rows.at(-1)?.row.rowKey };
  }

  /** The minutes that a run has to look at, oldest first: all since the last run that got through, and those ahead. */
  async minutes(now: Date, aheadMs: number, minutesMax: number): Promise<string[]> {
    const stored = await this.#table.find(WATERMARK.partitionKey, WATERMARK.rowKey);
    const last = Date.parse(minuteOf(new Date(now.getTime() + aheadMs).toISOString()));
    const first =
      stored?.row["minute"] ?? minuteOf(new Date(now.getTime() - MINUTE_MS).toISOString());
    const minutes: string[] = [];
    for (
      let at = Date.parse(String(first));
      at <= last && minutes.length < minutesMax;
      at += MINUTE_MS
    )
      minutes.push(new Date(at).toISOString());
    return minutes;
  }

  /** All minutes up to `through` were worked through; the young ones are read again. */
  async advance(through: string, now: Date): Promise<void> {
    const youngest = minuteOf(new Date(now.getTime() - SKEW_MINUTES * MINUTE_MS).toISOString());
    const minute = through < youngest ? through : youngest;
    await this.#table.put(WATERMARK.partitionKey, { rowKey: WATERMARK.rowKey, minute });
  }
}
