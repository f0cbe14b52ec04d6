import { numberOf, textOf, textOrNull, type Row, type RowValue } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";

const MINUTE_MS = 60_000;
const WATERMARK = { partitionKey: "watermark", rowKey: "due" } as const;
/** Clocks of instances may differ: minutes younger than this are read again by the next run. */
const SKEW_MINUTES = 2;
/** Where the very first run begins: what was written before it ran is not passed over. */
const FIRST_RUN_MINUTES = 60;
const PAGE_ROWS = 1_000;

/** Something that is due at a time. */
export interface Due<Place> {
  readonly place: Place;
  readonly dueAt: string;
}

/** As it is stored: when it was written, when a hint was last sent, and how many were sent before this row. */
export interface StoredDue<Place> extends Due<Place> {
  readonly createdAt: string;
  readonly hintedAt: string | null;
  readonly lost: number;
}

/** How the places of one kind of work are kept. */
export interface DueKind<Place> {
  /** Tells places apart that are due at one time. */
  idOf(place: Place): string;
  /** Whose work it is, where one's must not be in the way of another's. */
  ownerOf?(place: Place): string;
  toProperties(place: Place): Readonly<Record<string, RowValue>>;
  toPlace(row: Row): Place;
}

export const minuteOf = (time: string): string =>
  new Date(Math.floor(Date.parse(time) / MINUTE_MS) * MINUTE_MS).toISOString();

/** What is due, by minute: a table for each kind of work. A row whose work is done or never came to be is harmless. */
export class DueStore<Place> {
  readonly #table: Table;
  readonly #kind: DueKind<Place>;

  constructor(table: Table, kind: DueKind<Place>) {
    this.#table = table;
    this.#kind = kind;
  }

  idOf({ place }: Due<Place>): string {
    return this.#kind.idOf(place);
  }

  /** Undefined where nobody has to be kept out of anybody's way. */
  ownerOf({ place }: Due<Place>): string | undefined {
    return this.#kind.ownerOf?.(place);
  }

  /** Written before the work is: a crash in between leaves a row that is dropped later. */
  async add(due: Due<Place>, now: Date): Promise<void> {
    await this.#put({ ...due, createdAt: now.toISOString(), hintedAt: null, lost: 0 });
  }

  /** The same for work whose first hints its writer sends at once, so that no timer sends second ones. */
  async addHinted(dues: readonly Due<Place>[], now: Date): Promise<void> {
    const at = now.toISOString();
    const byMinute = Map.groupBy(dues, ({ dueAt }) => minuteOf(dueAt));
    for (const [minute, own] of byMinute) {
      const rows = own.map((due) => this.#toRow({ ...due, createdAt: at, hintedAt: at, lost: 0 }));
      await this.#table.putAll(minute, rows);
    }
  }

  /** `at` is when the hint is seen. */
  async markHinted(due: StoredDue<Place>, at: Date): Promise<void> {
    await this.#put({ ...due, hintedAt: at.toISOString() });
  }

  /** Into the present, so that one stubborn row can't hold the watermark back. Answers what it is now. */
  async moveUp(due: StoredDue<Place>, now: Date): Promise<StoredDue<Place>> {
    const at = now.toISOString();
    const moved = { ...due, dueAt: at, hintedAt: at, lost: due.lost + 1 };
    await this.#put(moved);
    await this.remove(due);
    return moved;
  }

  #put(due: StoredDue<Place>): Promise<void> {
    return this.#table.put(minuteOf(due.dueAt), this.#toRow(due));
  }

  #toRow(due: StoredDue<Place>): Row {
    return {
      ...this.#kind.toProperties(due.place),
      rowKey: this.#rowKey(due),
      dueAt: due.dueAt,
      createdAt: due.createdAt,
      hintedAt: due.hintedAt ?? "",
      lost: due.lost,
    };
  }

  async remove(due: Due<Place>): Promise<void> {
    await this.#table.delete(minuteOf(due.dueAt), this.#rowKey(due));
  }

  #rowKey(due: Due<Place>): string {
    return `${due.dueAt}|${this.#kind.idOf(due.place)}`;
  }

  /** A page of a minute's rows; `after` is the row key of the last one seen. */
  async listMinute(
    minute: string,
    after: string | undefined,
  ): Promise<{ readonly dues: readonly StoredDue<Place>[]; readonly next: string | undefined }> {
    const rows = await this.#table.list({
      partitionKey: minute,
      ...(after === undefined ? {} : { from: `${after} ` }),
      before: afterPrefix("9"),
      limit: PAGE_ROWS,
    });
    const dues = rows.map(({ row }) => this.#toStored(row));
    return { dues, next: rows.length < PAGE_ROWS ? undefined : rows.at(-1)?.row.rowKey };
  }

  /** The minutes that a run has to look at, oldest first: all since the last run that got through, and those ahead. */
  async minutes(now: Date, aheadMs: number, minutesMax: number): Promise<string[]> {
    const last = Date.parse(minuteOf(new Date(now.getTime() + aheadMs).toISOString()));
    const first = await this.#watermark(now);
    const minutes: string[] = [];
    for (let at = Date.parse(first); at <= last && minutes.length < minutesMax; at += MINUTE_MS)
      minutes.push(new Date(at).toISOString());
    return minutes;
  }

  /**
   * A page of rows in minutes that were worked through: whoever wrote them came too late, as after a process that stood
   * still between choosing a time and writing it.
   */
  async listLeftBehind(now: Date): Promise<StoredDue<Place>[]> {
    const partitions = { before: await this.#watermark(now) };
    const { rows } = await this.#table.select({ partitions, pageRows: PAGE_ROWS }, undefined);
    return rows.map(({ row }) => this.#toStored(row));
  }

  #toStored(row: Row): StoredDue<Place> {
    return {
      place: this.#kind.toPlace(row),
      dueAt: textOf(row, "dueAt"),
      createdAt: textOf(row, "createdAt"),
      hintedAt: textOrNull(row, "hintedAt"),
      lost: numberOf(row, "lost"),
    };
  }

  async #watermark(now: Date): Promise<string> {
    const { partitionKey, rowKey } = WATERMARK;
    const stored = await this.#table.find(partitionKey, rowKey);
    if (stored !== undefined) return textOf(stored.row, "minute");
    // Kept from the start: a first run that leaves work behind must not begin anew from the next one's present.
    const minute = minuteOf(new Date(now.getTime() - FIRST_RUN_MINUTES * MINUTE_MS).toISOString());
    await this.#table.insertIfAbsent(partitionKey, { rowKey, minute });
    return minute;
  }

  /** All minutes up to `through` were worked through; the young ones are read again. */
  async advance(through: string, now: Date): Promise<void> {
    const youngest = minuteOf(new Date(now.getTime() - SKEW_MINUTES * MINUTE_MS).toISOString());
    const minute = through < youngest ? through : youngest;
    await this.#table.put(WATERMARK.partitionKey, { rowKey: WATERMARK.rowKey, minute });
  }
}
