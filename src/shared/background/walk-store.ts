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

/** Columns of a walk's row in the table `housekeeping`. */
export const walkRow = rowCodec("walk", {
  /** Where the present round continues, in the form of the walk's steps. Null at its beginning and between rounds. */
  position: longJsonOrNull(shape(() => z.unknown())),
  /** The lease of the run that continues the walk. */
  ...LEASE_COLUMNS,
  /** When the present round began, or else the last one. */
  roundAt: text(),
  /** Null during a round. */
  endedAt: textOrNull(),
  /** Since when the round rests until the next scheduled time. */
  restsSince: textOrNull(),
  /** When the last finished round began. Null before the first one ends. */
  lastRoundAt: textOrNull(),
  /** Runs in a row that ended with an error. */
  failures: integer(),
  counts: counts(),
  lastCounts: counts(),
});
export type WalkState = ReturnType<typeof walkRow.decode>;

/** Stores the progress of every walk (table `housekeeping`). A damaged row counts as none, so its walk begins again. */
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

  /** Reads the state of a walk, and the version of its row. */
  async find(name: string) {
    const stored = await this.#table.find(PARTITION, name);
    const state = stored && unlessDamaged(() => walkRow.decode(stored.row));
    return { state, etag: stored?.etag };
  }

  /**
   * Writes all columns of this version of a walk's row, since a long position is never written with a part of them.
   * Returns the new version, undefined when the row was changed since.
   */
  write(name: string, state: WalkState, etag: string | undefined): Promise<string | undefined> {
    const row = { ...walkRow.encode(state), rowKey: name };
    return etag === undefined
      ? this.#table.insertIfAbsent(PARTITION, row)
      : this.#table.mergeIfUnchanged(PARTITION, row, etag);
  }
}
