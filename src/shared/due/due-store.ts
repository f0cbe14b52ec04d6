import { integer, rowCodec, text, textOrNull, type RowCodec } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";

const MINUTE_MS = 60_000;
/** Clocks of instances may differ: minutes younger than this are looked at again. */
const SKEW_MINUTES = 2;

/** Returns the beginning of the minute that the time is in. */
export function minuteOf(time: string | Date): string {
  return new Date(Math.floor(new Date(time).getTime() / MINUTE_MS) * MINUTE_MS).toISOString();
}

/** Returns the minute that begins so many minutes before the present one. */
function minuteBefore(now: Date, minutes: number): string {
  return minuteOf(new Date(now.getTime() - minutes * MINUTE_MS));
}

/** Returns the first minute that is looked at each time. */
export function youngestMinute(now: Date): string {
  return minuteBefore(now, SKEW_MINUTES);
}

/** Lists the minutes that begin before a time, from the given one on. */
export function minutesFrom(first: string, before: number): string[] {
  const minutes: string[] = [];
  for (let at = Date.parse(first); at < before; at += MINUTE_MS)
    minutes.push(new Date(at).toISOString());
  return minutes;
}

/** Returns the minute after this one. */
export function minuteAfter(minute: string): string {
  return new Date(Date.parse(minute) + MINUTE_MS).toISOString();
}

const PAGE_ROWS = 1_000;
const WATERMARK = { partitionKey: "watermark", rowKey: "due" } as const;
/** Where the very first run begins: what was written before it is not passed over. */
const FIRST_RUN_MINUTES = 60;

/** The minute before which all work was done. */
export const watermarkRow = rowCodec("watermark", { minute: text() });

/** Something that is due at a time. */
export interface Due<Ref> {
  readonly ref: Ref;
  readonly dueAt: string;
}

/**
 * When a row of due work was written, when its last hint is seen (null as long as none was sent), and how many hints
 * were sent before that one and had no effect. A hint that could not be sent counts as none.
 */
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
  /** Returns whose work it is, where one owner's must not be in the way of another's. */
  ownerOf?(ref: Ref): string;
}

/**
 * What is due, by minute: a table for each kind of work. A row whose work is done or never came to be is harmless.
 *
 * Scheduled work stands on its row here alone, so the row is written, and the write answered, before the work is; it is
 * removed only after the work was done, ended or got another row, or when ten minutes after the work got its id there
 * still is none. What moves a row writes the new one first. A row that is damaged stays, and is reported with every look.
 */
export class DueStore<Ref> {
  readonly #table: Table;
  readonly #kind: DueKind<Ref>;

  constructor(table: Table, kind: DueKind<Ref>) {
    this.#table = table;
    this.#kind = kind;
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

  /** Notes that the hint which the row was written with was not sent, so that the timer's next run sends it. */
  async markUnsent(due: Due<Ref>): Promise<void> {
    await this.#table.update(minuteOf(due.dueAt), this.#rowKey(due), () => ({ hintedAt: "" }));
  }

  /**
   * Replaces a row by one of the present whose hint was sent, so that it can't keep the watermark back for good. `at` is
   * when the hint is seen.
   */
  async moveUp(due: StoredDue<Ref>, dueAt: string, at: Date): Promise<void> {
    await this.#put({ ...due, dueAt, hintedAt: at.toISOString(), lost: due.lost + 1 });
    await this.remove(due);
  }

  async remove(due: Due<Ref>): Promise<void> {
    await this.#table.delete(minuteOf(due.dueAt), this.#rowKey(due));
  }

  /** Removes a row that was last added before the time, and no row that is added again meanwhile. */
  async removeIfOld(due: Due<Ref>, time: Date): Promise<void> {
    const [partitionKey, rowKey] = [minuteOf(due.dueAt), this.#rowKey(due)];
    const stored = await this.#table.find(partitionKey, rowKey);
    if (stored === undefined || this.#toStored(stored.row).createdAt >= time.toISOString()) return;
    await this.#table.delete(partitionKey, rowKey, stored.etag);
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

  /** Lists the youngest minutes, which are looked at each time, up to those ahead. */
  presentMinutes(now: Date, aheadMs: number): string[] {
    return minutesFrom(youngestMinute(now), now.getTime() + aheadMs + 1);
  }

  /** Lists the minutes before those that may still have work, oldest first, from the given one on. */
  async pastMinutes(now: Date, from: string | undefined, minutesMax: number): Promise<string[]> {
    const first = from ?? (await this.#first(now));
    return minutesFrom(first, Date.parse(youngestMinute(now))).slice(0, minutesMax);
  }

  /**
   * Lists a page of rows in minutes that were worked through: whoever wrote them came too late, as after a process that
   * stood still between choosing a time and writing it. It may be empty and not the last.
   */
  async listLeftBehind(
    now: Date,
    after: string | undefined,
  ): Promise<{ readonly dues: readonly StoredDue<Ref>[]; readonly next: string | undefined }> {
    const partitions = { before: await this.#first(now) };
    const { rows, next } = await this.#table.select({ partitions, pageRows: PAGE_ROWS }, after);
    return { dues: this.#readable(rows), next };
  }

  /** Notes that all minutes before this one were worked through. */
  async advance(minute: string): Promise<void> {
    const { partitionKey, rowKey } = WATERMARK;
    await this.#table.put(partitionKey, { ...watermarkRow.encode({ minute }), rowKey });
  }

  async #first(now: Date): Promise<string> {
    const { partitionKey, rowKey } = WATERMARK;
    const stored = await this.#table.find(partitionKey, rowKey);
    if (stored !== undefined) return watermarkRow.decode(stored.row).minute;
    // Kept from the start: a first run that leaves work behind must not begin anew from the next one's present.
    const minute = minuteBefore(now, FIRST_RUN_MINUTES);
    await this.#table.insertIfAbsent(partitionKey, { ...watermarkRow.encode({ minute }), rowKey });
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

  /** Decodes a row. @throws DamagedRow */
  #toStored(row: Row): StoredDue<Ref> {
    const { dueAt, createdAt, hintedAt, lost, ...ref } = this.#kind.codec.decode(row);
    // Safe: the other columns are the reference's.
    return { ref: ref as Ref, dueAt, createdAt, hintedAt, lost };
  }
}
