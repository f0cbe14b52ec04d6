import { rowCodec, text } from "../runtime/storage/codec.ts";
import type { Table } from "../runtime/storage/table.ts";

const MINUTE_MS = 60_000;
const PARTITION = "watermark";
/** Clocks of instances may differ: minutes younger than this are read again by the next run. */
const SKEW_MINUTES = 2;
/** Where the very first run begins: what was written before it is not passed over. */
const FIRST_RUN_MINUTES = 60;

/** The minute from which the next run reads. */
export const watermarkRow = rowCodec("watermark", { minute: text() });

/** Returns the beginning of the minute that the time is in. */
export function minuteOf(time: string | Date): string {
  return new Date(Math.floor(new Date(time).getTime() / MINUTE_MS) * MINUTE_MS).toISOString();
}

const minutesBefore = (now: Date, minutes: number) =>
  minuteOf(new Date(now.getTime() - minutes * MINUTE_MS));

/** How far the runs over a table came whose partitions are minutes. The row lies in that table. */
export class WatermarkStore {
  readonly #table: Table;
  readonly #rowKey: string;

  constructor(table: Table, rowKey: string) {
    this.#table = table;
    this.#rowKey = rowKey;
  }

  /** Returns the minute from which the next run reads, or undefined before the first one. */
  async find(): Promise<string | undefined> {
    const stored = await this.#table.find(PARTITION, this.#rowKey);
    return stored === undefined ? undefined : watermarkRow.decode(stored.row).minute;
  }

  /** Returns where the first run begins. */
  first(now: Date): string {
    return minutesBefore(now, FIRST_RUN_MINUTES);
  }

  /** Keeps where the first run begins, so that one that leaves work behind is not followed by a later beginning. */
  async start(minute: string): Promise<void> {
    await this.#table.insertIfAbsent(PARTITION, this.#toRow(minute));
  }

  /** Lists the minutes from one to another, both included, oldest first. */
  minutes(from: string, to: Date, minutesMax: number): string[] {
    const last = Date.parse(minuteOf(to));
    const minutes: string[] = [];
    for (let at = Date.parse(from); at <= last && minutes.length < minutesMax; at += MINUTE_MS)
      minutes.push(new Date(at).toISOString());
    return minutes;
  }

  /** Notes that all minutes up to `through` were worked through. Returns false while that one is read again. */
  async advance(through: string, now: Date): Promise<boolean> {
    const youngest = minutesBefore(now, SKEW_MINUTES);
    const isOld = through < youngest;
    await this.#table.put(PARTITION, this.#toRow(isOld ? through : youngest));
    return isOld;
  }

  #toRow(minute: string) {
    return { ...watermarkRow.encode({ minute }), rowKey: this.#rowKey };
  }
}
