import * as z from "zod";
import { accessOperation, type Commit } from "../partition/partition.ts";
import { serviceUnavailable } from "../runtime/errors.ts";
import { shape } from "../runtime/shape.ts";
import { json, namesForm, rowCodec } from "../runtime/storage/codec.ts";
import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import type { MailValues } from "./mail-content.ts";
import type { OwnerNotice } from "./notice.ts";

/** Notices that wait to be reported in one mail. */
export interface WaitingNotice {
  readonly notice: string;
  readonly since: string;
  /** The number of incidents. Only the first ones are listed. */
  readonly count: number;
  readonly items: readonly MailValues[];
}

interface SentNotice {
  readonly notice: string;
  readonly at: string;
}

/** A platform's notices: those that are switched off, those that wait, and when the last mails were sent. */
export interface Notices {
  readonly off: readonly OwnerNotice[];
  readonly waiting: readonly WaitingNotice[];
  readonly sent: readonly SentNotice[];
}

export const noticesRow = rowCodec("notices", {
  off: json(namesForm<OwnerNotice>()),
  waiting: json<readonly WaitingNotice[]>(
    shape(() =>
      z.array(
        z.looseObject({
          notice: z.string(),
          since: z.string(),
          count: z.int(),
          items: z.array(z.record(z.string(), z.string())),
        }),
      ),
    ),
  ),
  sent: json<readonly SentNotice[]>(
    shape(() => z.array(z.looseObject({ notice: z.string(), at: z.string() }))),
  ),
});

/** Directly before the mails, so that one read has both. */
export const NOTICES_ROW = "M";

const NONE: Notices = { off: [], waiting: [], sent: [] };

/** A platform's notices with the version of their row, if there is one. */
export interface StoredNotices extends Notices {
  readonly etag?: string;
}

export function toNotices(stored: StoredRow | undefined): StoredNotices {
  if (stored === undefined) return NONE;
  return { ...noticesRow.decode(stored.row), etag: stored.etag };
}

/** Returns the write of changed notices. Its condition is that nobody else has changed them. */
export function noticesWrite({ etag }: StoredNotices, notices: Notices): RowWrite {
  const { off, waiting, sent } = notices;
  const row = { ...noticesRow.encode({ off, waiting, sent }), rowKey: NOTICES_ROW };
  return etag === undefined ? { kind: "create", row } : { kind: "merge", row, etag };
}

export class NoticeStore {
  readonly #core: Table;
  readonly #commit: Commit;

  constructor(core: Table, commit: Commit) {
    this.#core = core;
    this.#commit = commit;
  }

  async find(platformId: string): Promise<StoredNotices> {
    return toNotices(await this.#core.find(platformId, NOTICES_ROW));
  }

  /**
   * Writes rows of the platform together. Returns false when one has changed. @throws AppError `service_unavailable`
   */
  async write(platformId: string, writes: readonly RowWrite[]): Promise<boolean> {
    const result = await this.#core.transact(platformId, writes);
    if (result.kind === "in_doubt") throw serviceUnavailable(result.cause);
    return result.kind === "applied";
  }

  /** Switches notices on or off, and drops waiting ones that are off. Returns those that are now off. */
  switchOff(
    platformId: string,
    change: (off: readonly OwnerNotice[]) => readonly OwnerNotice[],
  ): Promise<readonly OwnerNotice[]> {
    return this.#commit<readonly OwnerNotice[]>(
      platformId,
      accessOperation([NOTICES_ROW], ({ row }) => {
        const stored = toNotices(row(NOTICES_ROW));
        const off = change(stored.off);
        if (off.join() === stored.off.join()) return { answer: off };
        const waiting = stored.waiting.filter(({ notice }) => !off.some((one) => one === notice));
        const writes = [noticesWrite(stored, { off, waiting, sent: stored.sent })];
        return { answer: off, writes, raises: false };
      }),
    );
  }
}
