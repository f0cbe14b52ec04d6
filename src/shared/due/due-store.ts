import { integer, text, textOrNull, type RowCodec } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { minuteOf, WatermarkStore } from "./watermark-store.ts";

const PAGE_ROWS = 1_000;

/** Something that is due at a time. */
export interface Due<Ref> {
  readonly ref: Ref;
  readonly dueAt: string;
}

/** When a row of due work was written, when a hint was last sent, and how many hints were lost before this row. */
interface DueTimes {
  readonly dueAt: string;
  readonly createdAt: string;
  readonly hintedAt: string | null;
  readonly lost: number;
}

/** Something that is due, as it is stored. */
export interface StoredDue<Ref> extends Due<Ref>, DueTimes {}

/** The columns of every kind of due work, beside those that say what is due. */
export const DUE_COLUMNS = {
  dueAt: text(),
  createdAt: text(),
  hintedAt: textOrNull(),
  lost: integer(),
};

/** One kind of due work: how it is stored, and told apart. */
export interface DueKind<Ref> {
  readonly codec: RowCodec<Ref & DueTimes>;
  /** Tells apart what is due at one time. */
  idOf(ref: Ref): string;
  /** Whose work it is, where one's must not be in the way of another's. */
  ownerOf?(ref: Ref): string;
}

/** What is due, by minute: a table for each kind of work. A row whose work is done or never came to be is harmless. */
export class DueStore<Ref> {
  readonly #table: Table;
  readonly #kind: DueKind<Ref>;
  readonly #watermark: WatermarkStore;

  constructor(table: Table, kind: DueKind<Ref>) {
    this.#table = table;
    this.#kind = kind;
    this.#watermark = new WatermarkStore(table, "due");
  }

  idOf({ ref }: Due<Ref>): string {
    return this.#kind.idOf(ref);
  }

  /** Returns undefined where nobody has to be kept out of anybody's way. */
  ownerOf({ ref }: Due<Ref>): string | undefined {
    return this.#kind.ownerOf?.(ref);
  }

  /** Writes a row before its work is written: a crash in between leaves a row that is dropped later. */
  async add(due: Due<Ref>, now: Date): Promise<void> {
    await this.#put({ ...due, createdAt: now.toISOString(), hintedAt: null, lost: 0 });
  }

  /** Does the same for work whose first hints its writer sends at once, so that no timer sends second ones. */
  async addHinted(dues: readonly Due<Ref>[], now: Date): Promise<void> {
    const at = now.toISOString();
    const byMinute = Map.groupBy(dues, ({ dueAt }) => minuteOf(dueAt));
    for (const [minute, own] of byMinute) {
      const rows = own.map((due) => this.#toRow({ ...due, createdAt: at, hintedAt: at, lost: 0 }));
      await this.#table.putAll(minute, rows);
    }
  }

  /** Notes that a hint was sent. `at` is when the hint is seen. */
  async markHinted(due: StoredDue<Ref>, at: Date): Promise<void> {
    await this.#put({ ...due, hintedAt: at.toISOString() });
  }

  /** Moves a row to the present, so that it can't keep the watermark back for good. Returns what it is now. */
  async moveUp(due: StoredDue<Ref>, now: Date): Promise<StoredDue<Ref>> {
    const at = now.toISOString();
    const moved = { ...due, dueAt: at, hintedAt: at, lost: due.lost + 1 };
    await this.#put(moved);
    await this.remove(due);
    return moved;
  }

  async remove(due: Due<Ref>): Promise<void> {
    await this.#table.delete(minuteOf(due.dueAt), this.#rowKey(due));
  }

  /** Lists a page of a minute's rows; `after` is the row key of the last one seen. Damaged rows are left out. */
  async listMinute(
    minute: string,
    after: string | undefined,
  ): Promise<{ readonly dues: readonly StoredDue<Ref>[]; readonly next: string | undefined }> {
    const rows = await this.#table.list({
      partitionKey: minute,
      ...(after === undefined ? {} : { from: `${after} ` }),
      before: afterPrefix("9"),
      limit: PAGE_ROWS,
    });
    const next = rows.length < PAGE_ROWS ? undefined : rows.at(-1)?.row.rowKey;
    return { dues: this.#readable(rows), next };
  }

  /** Lists the minutes that a run looks at, oldest first: all since the last run that got through, and those ahead. */
  async minutes(now: Date, aheadMs: number, minutesMax: number): Promise<string[]> {
    const to = new Date(now.getTime() + aheadMs);
    return this.#watermark.minutes(await this.#first(now), to, minutesMax);
  }

  /**
   * Lists a page of rows in minutes that were worked through: whoever wrote them came too late, as after a process that
   * stood still between choosing a time and writing it.
   */
  async listLeftBehind(now: Date): Promise<StoredDue<Ref>[]> {
    const partitions = { before: await this.#first(now) };
    const { rows } = await this.#table.select({ partitions, pageRows: PAGE_ROWS }, undefined);
    return this.#readable(rows);
  }

  /** Notes that all minutes up to `through` were worked through; the young ones are read again. */
  async advance(through: string, now: Date): Promise<void> {
    await this.#watermark.advance(through, now);
  }

  async #first(now: Date): Promise<string> {
    const stored = await this.#watermark.find();
    if (stored !== undefined) return stored;
    const minute = this.#watermark.first(now);
    await this.#watermark.start(minute);
    return minute;
  }

  #put(due: StoredDue<Ref>): Promise<void> {
    return this.#table.put(minuteOf(due.dueAt), this.#toRow(due));
  }

  #rowKey(due: Due<Ref>): string {
    return `${due.dueAt}|${this.#kind.idOf(due.ref)}`;
  }

  #toRow(due: StoredDue<Ref>): Row {
    const { ref, ...times } = due;
    return { ...this.#kind.codec.encode({ ...ref, ...times }), rowKey: this.#rowKey(due) };
  }

  #readable(rows: readonly { readonly row: Row }[]): StoredDue<Ref>[] {
    const read = rows.map(({ row }) => unlessDamaged(() => this.#toStored(row)));
    return read.filter((due) => due !== undefined);
  }

  /** @throws DamagedRow */
  #toStored(row: Row): StoredDue<Ref> {
    const { dueAt, createdAt, hintedAt, lost, ...ref } = this.#kind.codec.decode(row);
    // Safe: the other columns are the reference's.
    return { ref: ref as Ref, dueAt, createdAt, hintedAt, lost };
  }
}
