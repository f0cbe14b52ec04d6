import * as z from "zod";
import { LEASE_COLUMNS } from "../runtime/lease.ts";
import { shape } from "../runtime/shape.ts";
import {
  integer,
  json,
  longJsonOrNull,
  rowCodec,
  text,
  textOrNull,
} from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Table } from "../runtime/storage/table.ts";
import type { WalkCounts } from "../runtime/walk-step.ts";

const PARTITION = "walk";
const ROWS_MAX = 1_000;

const countsShape = shape((): z.ZodType<WalkCounts> => z.record(z.string(), z.number()));
const counts = () => json(countsShape);

/** Columns of a walk's row in table `housekeeping`. */
export const walkRow = rowCodec("walk", {
  /** Where the present round goes on, as the walk's steps say it; null at its beginning, and between two rounds. */
  position: longJsonOrNull(shape(() => z.unknown())),
  /** The lease of the run that continues the walk. */
  ...LEASE_COLUMNS,
  /** When the present round, or else the last one, began. */
  roundAt: text(),
  /** Null while a round is under way. */
  endedAt: textOrNull(),
  /** When the round rests until the next time of the schedule: since when. */
  restsSince: textOrNull(),
  /** When the last round that was ended had begun; null before the first end. */
  lastRoundAt: textOrNull(),
  /** Runs in a row that ended with an error. */
  failures: integer(),
  counts: counts(),
  lastCounts: counts(),
});
export type WalkState = ReturnType<typeof walkRow.decode>;

/** How far every walk is (table `housekeeping`). A damaged row is as none: its walk begins again. */
export class WalkStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async list(): Promise<ReadonlyMap<string, WalkState>> {
    const rows = await this.#table.list({ partitionKey: PARTITION, limit: ROWS_MAX });
    const states = new Map<string, WalkState>();
    for (const { row } of rows) {
      const state = unlessDamaged(() => walkRow.decode(row));
      if (state !== undefined) states.set(row.rowKey, state);
    }
    return states;
  }

  /** Writes what `decide` makes of a walk's state, again when somebody else wrote in between; undefined leaves it. */
  async change(
    name: string,
    decide: (state: WalkState | undefined) => WalkState | undefined,
  ): Promise<WalkState | undefined> {
    let written: WalkState | undefined;
    await this.#table.change(PARTITION, name, (stored) => {
      written = decide(stored && unlessDamaged(() => walkRow.decode(stored.row)));
      return written === undefined
        ? { kind: "leave" }
        : { kind: "keep", columns: walkRow.encode(written) };
    });
    return written;
  }
}
