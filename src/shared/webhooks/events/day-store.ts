import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { json, rowCodec, text } from "../../runtime/storage/codec.ts";
import type { RowWrite, StoredRow } from "../../runtime/storage/row.ts";
import { findAll } from "../../runtime/storage/scan.ts";
import type { Table } from "../../runtime/storage/table.ts";
import type { DayCounts } from "./day-counts.ts";

/** After every day, so that one query has both. */
const END_ROW = "F";

const numbers = shape(() => z.record(z.string(), z.number()));
const countsForm = shape((): z.ZodType<DayCounts> =>
  z.looseObject({
    posts: z.looseObject({
      succeeded: z.number(),
      partial: z.number(),
      failed: z.number(),
      canceled: z.number(),
    }),
    legs: z.record(
      z.string(),
      z.looseObject({ succeeded: z.number(), failed: z.number(), failedBy: numbers() }),
    ),
  }),
);

/** What ended on a UTC day in an application. The row key is the day. */
export const dayRow = rowCodec("counts of a day", { ended: json(countsForm) });

/** The id of the last event that is in the counts of the days. Later ones aren't. */
export const countedEndRow = rowCodec("end of the counted events", { last: text() });

/** Up to which event the days count, with the version of that row, which is undefined before anything is counted. */
interface CountedEnd {
  readonly last: string;
  readonly etag: string | undefined;
}

const NOTHING_COUNTED: CountedEnd = { last: "", etag: undefined };

const partitionOf = (applicationId: string) => `${applicationId}|days`;

function toEnd(stored: StoredRow | undefined): CountedEnd {
  if (stored === undefined) return NOTHING_COUNTED;
  return { ...countedEndRow.decode(stored.row), etag: stored.etag };
}

/** Stores what ended in each application on each day, and up to which event that is counted (table `events`). */
export class DayStore {
  readonly #log: Table;

  constructor(log: Table) {
    this.#log = log;
  }

  /**
   * Reads the days from one on, by day, and up to which event they count. A bound after every day reads the end alone.
   * @throws DamagedRow when the row of the end is damaged
   */
  async read(
    applicationId: string,
    from = END_ROW,
  ): Promise<{ readonly end: CountedEnd; readonly days: ReadonlyMap<string, StoredRow> }> {
    const partitionKey = partitionOf(applicationId);
    const range = { partitionKey, from, before: `${END_ROW} ` };
    const page = await this.#log.select(range, undefined);
    // A page is of one moment. Days that are read after the end may have later events, but never lack earlier ones.
    const isWhole = page.next === undefined;
    const end = isWhole ? undefined : await this.#log.find(partitionKey, END_ROW);
    const stored = isWhole ? page.rows : await this.#log.list({ ...range, limit: 1_000 });
    const rows = new Map(stored.map(({ row, etag }) => [row.rowKey, { row, etag }]));
    const found = isWhole ? rows.get(END_ROW) : end;
    rows.delete(END_ROW);
    return { end: toEnd(found), days: rows };
  }

  /** Finds days, by day. */
  findDays(applicationId: string, days: readonly string[]) {
    return findAll(this.#log, partitionOf(applicationId), days);
  }

  /**
   * Writes days with the event up to which they count, in one transaction and in the versions that were read. Returns
   * false when another process has counted meanwhile, or may have, or when the outcome is unknown.
   */
  async write(
    applicationId: string,
    { last, etag }: CountedEnd,
    days: readonly {
      readonly day: string;
      readonly counts: DayCounts;
      readonly etag: string | undefined;
    }[],
  ): Promise<boolean> {
    const rows = [
      { row: { ...countedEndRow.encode({ last }), rowKey: END_ROW }, etag },
      ...days.map((of) => ({
        row: { ...dayRow.encode({ ended: of.counts }), rowKey: of.day },
        etag: of.etag,
      })),
    ];
    const writes = rows.map(({ row, etag: version }): RowWrite =>
      version === undefined ? { kind: "create", row } : { kind: "merge", row, etag: version },
    );
    return (await this.#log.transact(partitionOf(applicationId), writes)).kind === "applied";
  }

  /** Removes a page of the days before one. */
  removeBefore(applicationId: string, day: string, after: string | undefined) {
    return this.#log.removeSelected(
      { partitionKey: partitionOf(applicationId), before: day },
      after,
    );
  }

  /** Removes a page of everything that was counted. */
  removeAll(applicationId: string, after: string | undefined) {
    return this.#log.removeSelected({ partitionKey: partitionOf(applicationId) }, after);
  }
}
