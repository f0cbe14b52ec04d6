import { RecentMap } from "../runtime/recent-map.ts";
import { integer, rowCodec, text, textOrNull } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";

const MINUTE_MS = 60_000;
const PAGE_ROWS = 1_000;
/** Marks that this process made, so that it makes no second one in the same minute. */
const REMEMBERED_MAX = 10_000;

/**
 * How long a mark lasts. Its owner's work is written right after it, and a sweep that comes before the end of the mark
 * leaves it, so a process may be suspended for two minutes in between.
 */
export const MARK_MS = 3 * MINUTE_MS;

/**
 * A wake is about a scheduled post that starts, or an endpoint that has a delivery to be attempted. Marks are about a
 * platform that may have open work, an endpoint that may have deliveries without a message, or a platform that has mail.
 */
export type MarkKind = "platform" | "endpoint-check" | "mail";
export type WakeKind = "post" | "endpoint" | MarkKind;

/** Something to be looked at from a time on. */
export interface Wake {
  readonly kind: WakeKind;
  readonly at: string;
  /** The post, endpoint or platform. */
  readonly id: string;
  /** Where a post is; "" for other kinds. */
  readonly platformId: string;
  readonly profileId: string;
}

export const wakeRow = rowCodec("wake", {
  at: text(),
  id: text(),
  platformId: text(),
  profileId: text(),
  /** When the row was written, again perhaps. */
  createdAt: text(),
  /** When the last hint is seen; null as long as none was sent. */
  hintedAt: textOrNull(),
  /** Hints before the last one that had no effect. */
  lost: integer(),
});

/** A wake as it is stored, with the version that a conditional write has to name. */
export interface StoredWake extends Wake {
  readonly createdAt: string;
  readonly hintedAt: string | null;
  readonly lost: number;
  readonly etag: string;
}

/** The times of wakes: the first minute that is listed, and the last one. */
export interface WakeRange {
  readonly from?: string;
  readonly to: string;
}

/** Returns the beginning of the minute that the time is in. */
export function minuteOf(time: string | number | Date): string {
  return new Date(Math.floor(new Date(time).getTime() / MINUTE_MS) * MINUTE_MS).toISOString();
}

export function wakeOf(kind: Exclude<WakeKind, "post">, id: string, at: string): Wake {
  return { kind, id, at, platformId: "", profileId: "" };
}

const partitionOf = ({ kind, at }: Wake) => `${kind}|${minuteOf(at)}`;
const rowKeyOf = ({ at, id }: Wake) => `${at}|${id}`;

/**
 * The wake index (table `wake`): what is to be looked at, and when. Code that makes work writes its row first, and code that
 * has done the work removes the row, so the rows whose time has come are what is left to do, however old they are. A row
 * whose work is done or never came to be is harmless. A damaged row stays, and is reported with every look.
 *
 * A scheduled post stands on its row here alone. The row goes only after the post was started, ended or got another row,
 * or when ten minutes after the post got its id there still is no post.
 */
export class WakeStore {
  readonly #table: Table;
  /** The minute in which this process marked an owner last. */
  readonly #marked = new RecentMap<string>(REMEMBERED_MAX);

  constructor(table: Table) {
    this.#table = table;
  }

  /** Writes a row before its work is written: a crash in between leaves a row that is dropped later. */
  async add(wake: Wake, now: Date): Promise<void> {
    await this.#put(wake, now, null);
  }

  /** Does the same for work whose writer sends the first hint, so that no timer sends a second one. */
  async addHinted(wake: Wake, now: Date): Promise<void> {
    await this.#put(wake, now, now.toISOString());
  }

  /** Has the owner looked at: at most one write a minute for each of them and process. */
  async mark(kind: MarkKind, id: string, now: Date): Promise<void> {
    const minute = minuteOf(now);
    if (this.#marked.get(id) === minute) return;
    const at = new Date(Date.parse(minute) + MARK_MS).toISOString();
    await this.add(wakeOf(kind, id, at), now);
    this.#marked.set(id, minute);
  }

  /** Notes that a hint was sent which is seen at a time, unless the row was removed or added again since. */
  async noteHint(wake: StoredWake, seenAt: Date, lost: number): Promise<void> {
    const columns = wakeRow.encodePart({ hintedAt: seenAt.toISOString(), lost });
    const row = { ...columns, rowKey: rowKeyOf(wake) };
    await this.#table.mergeIfUnchanged(partitionOf(wake), row, wake.etag);
  }

  async remove(wake: Wake): Promise<void> {
    await this.#table.delete(partitionOf(wake), rowKeyOf(wake));
  }

  /** Removes a row as it was listed, unless it was added again since. */
  async removeIfUnchanged(wake: StoredWake): Promise<void> {
    await this.#table.delete(partitionOf(wake), rowKeyOf(wake), wake.etag);
  }

  /** Removes a row that was last added before the time, and no row that is added again meanwhile. */
  async removeIfOld(wake: Wake, time: Date): Promise<void> {
    const stored = await this.#table.find(partitionOf(wake), rowKeyOf(wake));
    if (stored === undefined) return;
    const found = toStored(wake.kind, stored);
    if (found.createdAt < time.toISOString()) await this.removeIfUnchanged(found);
  }

  /** Lists a page of a kind's rows, oldest first. It may be empty and not the last. Damaged rows are left out. */
  async list(
    kind: WakeKind,
    { from = "", to }: WakeRange,
    after: string | undefined,
  ): Promise<{ readonly wakes: readonly StoredWake[]; readonly next: string | undefined }> {
    const partitions = { from: `${kind}|${from}`, before: `${kind}|${to}|` };
    const { rows, next } = await this.#table.select({ partitions, pageRows: PAGE_ROWS }, after);
    const wakes = rows.flatMap((stored) => unlessDamaged(() => [toStored(kind, stored)]) ?? []);
    return { wakes, next };
  }

  #put(wake: Wake, now: Date, hintedAt: string | null): Promise<void> {
    const { at, id, platformId, profileId } = wake;
    const times = { createdAt: now.toISOString(), hintedAt, lost: 0 };
    const columns = wakeRow.encode({ at, id, platformId, profileId, ...times });
    return this.#table.put(partitionOf(wake), { ...columns, rowKey: rowKeyOf(wake) });
  }
}

/** Decodes a row. @throws DamagedRow */
function toStored(kind: WakeKind, { row, etag }: { readonly row: Row; readonly etag: string }) {
  return { ...wakeRow.decode(row), kind, etag };
}
