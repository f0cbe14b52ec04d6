import { RecentMap } from "../runtime/recent-map.ts";
import { integer, rowCodec, text, textOrNull } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";

const MINUTE_MS = 60_000;
const PAGE_ROWS = 1_000;
/** How many of its own marks this process remembers, to make no second one in the same minute. */
const REMEMBERED_MAX = 10_000;

/**
 * How long a mark lasts. The owner's work is written directly after it, and a sweep leaves a mark that has not ended,
 * so the process may be suspended for two minutes in between.
 */
export const MARK_MS = 3 * MINUTE_MS;

/**
 * Wakes are for a scheduled post to start, an endpoint with a delivery to attempt, or a file whose time may be over. Marks are for a platform that may
 * have open work, an endpoint that may have deliveries without a message, or a platform that has mail.
 */
export type MarkKind = "platform" | "endpoint-check" | "mail";
export type WakeKind = "post" | "endpoint" | "file" | MarkKind;

/** Work that is due at a time. */
export interface Wake {
  readonly kind: WakeKind;
  readonly at: string;
  /** Id of the post, file, endpoint or platform. */
  readonly id: string;
  /** The platform of a post or file, or "" for other kinds. */
  readonly platformId: string;
  readonly profileId: string;
}

export const wakeRow = rowCodec("wake", {
  at: text(),
  id: text(),
  platformId: text(),
  profileId: text(),
  /** When the row was last written. */
  createdAt: text(),
  /** When the last hint becomes visible. Null as long as none was sent. */
  hintedAt: textOrNull(),
  /** The number of hints before the last one that had no effect. */
  lost: integer(),
});

export interface StoredWake extends Wake {
  readonly createdAt: string;
  readonly hintedAt: string | null;
  readonly lost: number;
  readonly etag: string;
}

/** A range of minutes: the first, and the last, which is included. */
export interface WakeRange {
  readonly from?: string;
  readonly to: string;
}

/** Returns the beginning of the minute that contains the time. */
export function minuteOf(time: string | number | Date): string {
  return new Date(Math.floor(new Date(time).getTime() / MINUTE_MS) * MINUTE_MS).toISOString();
}

export function wakeOf(kind: Exclude<WakeKind, "post" | "file">, id: string, at: string): Wake {
  return { kind, id, at, platformId: "", profileId: "" };
}

const wakePartition = ({ kind, at }: Wake) => `${kind}|${minuteOf(at)}`;
const rowKeyOf = ({ at, id }: Wake) => `${at}|${id}`;

/**
 * The wake index (table `wake`): which work is due, and when. Code that creates work writes its row here first, and
 * code that has finished the work removes the row. So all rows whose time has come are open work, however old they are.
 * A row is harmless when its work is done or was never written. A damaged row stays, and every check reports it.
 *
 * A scheduled post depends on its row here alone. The row is only removed when the post was started, has ended or got
 * another row, or when the post still doesn't exist ten minutes after it got its id.
 */
export class Wakes {
  readonly #table: Table;
  /** The minute in which this process last marked an owner. */
  readonly #marked = new RecentMap<string>(REMEMBERED_MAX);

  constructor(table: Table) {
    this.#table = table;
  }

  /** Writes a row before its work is written. After a crash in between, the row is dropped later. */
  async add(wake: Wake, now: Date): Promise<void> {
    await this.#put(wake, now, null);
  }

  /** Does the same for work whose writer sends the first hint, so that the timer doesn't send a second one. */
  async addHinted(wake: Wake, now: Date): Promise<void> {
    await this.#put(wake, now, now.toISOString());
  }

  /** Marks an owner for a check, with at most one write per minute, owner and process. */
  async mark(kind: MarkKind, id: string, now: Date): Promise<void> {
    const minute = minuteOf(now);
    if (this.#marked.get(id) === minute) return;
    const at = new Date(Date.parse(minute) + MARK_MS).toISOString();
    await this.add(wakeOf(kind, id, at), now);
    this.#marked.set(id, minute);
  }

  /** Notes that a hint was sent, and when it becomes visible, unless the row was removed or added again since. */
  async noteHint(wake: StoredWake, seenAt: Date, lost: number): Promise<void> {
    const columns = wakeRow.encodePart({ hintedAt: seenAt.toISOString(), lost });
    const row = { ...columns, rowKey: rowKeyOf(wake) };
    await this.#table.mergeIfUnchanged(wakePartition(wake), row, wake.etag);
  }

  async remove(wake: Wake): Promise<void> {
    await this.#table.delete(wakePartition(wake), rowKeyOf(wake));
  }

  /** Removes a row, unless it was added again since it was listed. */
  async removeIfUnchanged(wake: StoredWake): Promise<void> {
    await this.#table.delete(wakePartition(wake), rowKeyOf(wake), wake.etag);
  }

  /** Removes a row that was last added before the time. A row that is added again meanwhile stays. */
  async removeIfOld(wake: Wake, time: Date): Promise<void> {
    const stored = await this.#table.find(wakePartition(wake), rowKeyOf(wake));
    if (stored === undefined) return;
    const found = toStoredWake(wake.kind, stored);
    if (found.createdAt < time.toISOString()) await this.removeIfUnchanged(found);
  }

  /** Lists a page of a kind's rows, oldest first, without damaged ones. A page may be empty before the end. */
  async list(
    kind: WakeKind,
    { from = "", to }: WakeRange,
    after: string | undefined,
  ): Promise<{ readonly wakes: readonly StoredWake[]; readonly next: string | undefined }> {
    const partitions = { from: `${kind}|${from}`, before: `${kind}|${to}|` };
    const { rows, next } = await this.#table.select({ partitions, pageRows: PAGE_ROWS }, after);
    const wakes = rows.flatMap((stored) => unlessDamaged(() => [toStoredWake(kind, stored)]) ?? []);
    return { wakes, next };
  }

  #put(wake: Wake, now: Date, hintedAt: string | null): Promise<void> {
    const { at, id, platformId, profileId } = wake;
    const times = { createdAt: now.toISOString(), hintedAt, lost: 0 };
    const columns = wakeRow.encode({ at, id, platformId, profileId, ...times });
    return this.#table.put(wakePartition(wake), { ...columns, rowKey: rowKeyOf(wake) });
  }
}

function toStoredWake(kind: WakeKind, { row, etag }: { readonly row: Row; readonly etag: string }) {
  return { ...wakeRow.decode(row), kind, etag };
}
