import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { textOf } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";

const KEY = { partitionKey: "upkeep", rowKey: "walk" } as const;

const walkShape = shape(() =>
  z.object({
    /** When the present round over all accounts began. */
    roundAt: z.string(),
    isDone: z.boolean(),
    /** Where the page of platforms begins that is being walked; "" for the first. */
    platforms: z.string(),
    /** The platform of that page that is being walked; "" for the first. */
    platformId: z.string(),
    /** The last of its connections that was checked; "" for none yet. */
    connection: z.string(),
    /** Checked in this round so far, and in the whole round before. */
    connections: z.number(),
    connectionsBefore: z.number(),
    /** Sealed texts that were seen in this round, by the key that they are sealed with by now. */
    sealed: z.record(z.string(), z.number()),
  }),
);
export type Walk = ShapeOf<typeof walkShape>;

/** The walk under the lease of one run. */
export interface HeldWalk {
  readonly walk: Walk;
  readonly etag: string;
}

function firstRound(now: Date, before: number): Walk {
  const roundAt = now.toISOString();
  const start = { roundAt, isDone: false, platforms: "", platformId: "", connection: "" };
  return { ...start, connections: 0, connectionsBefore: before, sealed: {} };
}

/** How far the daily walk over all accounts is (one row of table `connections`). One run at a time goes on with it. */
export class WalkStore {
  readonly #connections: Table;

  constructor(connections: Table) {
    this.#connections = connections;
  }

  /**
   * The walk where the last run left it, or a new round when the last one began long enough ago. Undefined when nothing
   * is to be done, or when another run has it: two that ask at once don't both get it.
   */
  async take(now: Date, leaseMs: number, roundMs: number): Promise<HeldWalk | undefined> {
    const stored = await this.#connections.find(KEY.partitionKey, KEY.rowKey);
    const leaseUntil = new Date(now.getTime() + leaseMs).toISOString();
    if (stored === undefined) {
      const walk = firstRound(now, 0);
      const row = this.#row(walk, leaseUntil);
      const etag = await this.#connections.insertIfAbsent(KEY.partitionKey, row);
      return etag === undefined ? undefined : { walk, etag };
    }
    if (textOf(stored.row, "leaseUntil") > now.toISOString()) return undefined;
    const last = walkShape().parse(JSON.parse(textOf(stored.row, "walk")));
    const isOver = now.getTime() - Date.parse(last.roundAt) >= roundMs;
    if (last.isDone && !isOver) return undefined;
    const walk = last.isDone ? firstRound(now, last.connections) : last;
    return this.#save(walk, leaseUntil, stored.etag);
  }

  /** Undefined when another run took it meanwhile. The lease ends with the last save of a run. */
  async save(
    { etag }: HeldWalk,
    walk: Walk,
    leaseUntil: Date | null,
  ): Promise<HeldWalk | undefined> {
    return this.#save(walk, leaseUntil?.toISOString() ?? "", etag);
  }

  async #save(walk: Walk, leaseUntil: string, etag: string): Promise<HeldWalk | undefined> {
    const row = this.#row(walk, leaseUntil);
    const written = await this.#connections.replaceIfUnchanged(KEY.partitionKey, row, etag);
    return written === undefined ? undefined : { walk, etag: written };
  }

  #row(walk: Walk, leaseUntil: string) {
    return { rowKey: KEY.rowKey, walk: JSON.stringify(walk), leaseUntil };
  }
}
