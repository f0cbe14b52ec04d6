import {
  ENTRY_ROWS,
  entryKey,
  MARKER_ROWS,
  markerRow,
  type StoredEntry,
  toEntry,
  toWallet,
  WALLET_KEY,
} from "./wallet-row.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import { scan, type ScannedPage } from "../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import type { Row, RowPut, RowWrite } from "../runtime/storage/row.ts";
import type { Wallet } from "./wallet.ts";
import { addTotals, dayOf, totalsByDay } from "./day-totals.ts";
import { reconciledRow, totalsRow, type DayTotal } from "./totals-row.ts";

const MARK_KEY = "R";
const TOTALS_ROWS = "T|";
/** Parts of a day are numbered downwards, so that the last one is found first. */
const PARTS_MAX = 9_999;
/** A transaction's totals are at most a few megabytes. */
const DAYS_AT_ONCE = 16;
const ROWS_OF_PAGE = 100;
/** As many as one query returns. */
const ENTRIES_OF_PAGE = 1_000;

type Mark = ReturnType<typeof reconciledRow.decode>;

export interface EntryFilter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly operation?: string | undefined;
  readonly applicationId?: string | undefined;
  readonly profileId?: string | undefined;
  readonly postId?: string | undefined;
  /** Of these profiles alone. */
  readonly profileIds?: ReadonlySet<string> | undefined;
}

/** How far a ledger was checked, with the version of that row, or "" when there is none. */
export interface StoredMark {
  readonly mark: Mark;
  readonly etag: string;
}

const BEGINNING: Mark = {
  sequence: 0,
  balance: 0,
  reserved: 0,
  result: "moving",
  resultAt: null,
  checkedAt: null,
  watchedSince: null,
};

const isSpent = (row: Row) => markerRow.decode(row).operation !== "billing.credit";

/** The wallets and ledgers of all platforms, the marks of their reconciliation, and the totals of their days (table `core`). */
export class LedgerStore {
  readonly #core: Table;

  constructor(core: Table) {
    this.#core = core;
  }

  /** Reads the wallet, which is empty for a platform that never had tokens. @throws DamagedRow */
  async readWallet(platformId: string): Promise<Wallet> {
    return toWallet(await this.#core.find(platformId, WALLET_KEY));
  }

  /** Finds the mark. Without one, it is the mark of an empty ledger. @throws DamagedRow */
  async findMark(platformId: string): Promise<StoredMark> {
    const stored = await this.#core.find(platformId, MARK_KEY);
    if (stored === undefined) return { mark: BEGINNING, etag: "" };
    return { mark: reconciledRow.decode(stored.row), etag: stored.etag };
  }

  async find(platformId: string, sequence: number): Promise<StoredEntry | undefined> {
    const stored = await this.#core.find(platformId, entryKey(sequence));
    return stored === undefined ? undefined : toEntry(stored.row);
  }

  /** Lists entries that fit the filter, newest first; `after` is where the last listing stopped. */
  list(
    platformId: string,
    filter: EntryFilter,
    position: { readonly after: string | undefined; readonly limit: number },
  ): Promise<ScannedPage<StoredEntry>> {
    const { after, limit } = position;
    return scan(this.#core, {
      partitionKey: platformId,
      from: after ?? ENTRY_ROWS,
      before: afterPrefix(ENTRY_ROWS),
      limit,
      pick({ row }) {
        const entry = toEntry(row, "people");
        if (filter.from !== undefined && entry.createdAt < filter.from) return "stop";
        return fitsEntryFilter(entry, filter) ? entry : undefined;
      },
    });
  }

  /**
   * Removes a page of the markers of debits from before a time. Markers of credits stay: a reference credits once, however
   * late it is repeated.
   */
  async removeMarkersBefore(platformId: string, time: Date, after: string | undefined) {
    const { rows, next } = await this.#core.select(
      {
        partitionKey: platformId,
        from: MARKER_ROWS,
        before: afterPrefix(MARKER_ROWS),
        olderThan: { property: "createdAt", time: time.toISOString() },
      },
      after,
    );
    const spent = rows.filter(({ row }) => unlessDamaged(() => isSpent(row)));
    const rowKeys = spent.map(({ row }) => row.rowKey);
    await this.#core.deleteAll(platformId, rowKeys);
    return { removed: spent.length, next };
  }

  /** Lists the entries after one number up to another, in their order. @throws DamagedRow */
  async entries(platformId: string, after: number, upTo: number): Promise<StoredEntry[]> {
    if (upTo <= after) return [];
    const range = { from: entryKey(upTo), before: entryKey(after), limit: upTo - after };
    const rows = await this.#core.list({ partitionKey: platformId, ...range });
    return rows.map(({ row }) => toEntry(row)).toReversed();
  }

  /** Yields the entries from one number down to another (that one excluded), a page at a time, without damaged ones. */
  async *pages(
    platformId: string,
    { after, upTo }: { readonly after: number; readonly upTo: number },
  ): AsyncGenerator<readonly StoredEntry[]> {
    for (let last = upTo; last > after; last -= ENTRIES_OF_PAGE) {
      const end = Math.max(after, last - ENTRIES_OF_PAGE);
      const range = { from: entryKey(last), before: entryKey(end), limit: ENTRIES_OF_PAGE };
      const rows = await this.#core.list({ partitionKey: platformId, ...range });
      yield rows.flatMap(({ row }) => unlessDamaged(() => toEntry(row, "people")) ?? []);
    }
  }

  /** Returns the number of the newest entry, or 0 for an empty ledger. */
  async newest(platformId: string): Promise<number> {
    const range = { from: ENTRY_ROWS, before: afterPrefix(ENTRY_ROWS), limit: 1 };
    const [newest] = await this.#core.list({ partitionKey: platformId, ...range });
    return newest === undefined ? 0 : toEntry(newest.row).sequence;
  }

  /** Lists the entries of a post after a number, `limit` or a few more at most. */
  async entriesOfPost(
    platformId: string,
    postId: string,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<StoredEntry[]> {
    const selection = {
      partitionKey: platformId,
      from: ENTRY_ROWS,
      before: entryKey(after),
      property: "postId",
      values: [postId],
    };
    const entries: StoredEntry[] = [];
    let next: string | undefined;
    do {
      const page = await this.#core.select(selection, next);
      entries.push(...page.rows.map(({ row }) => toEntry(row)));
      ({ next } = page);
    } while (next !== undefined && entries.length < limit);
    return entries;
  }

  /**
   * Adds checked entries to the totals of their days and moves the mark behind them, in one transaction. So each entry
   * is added once, however often this is repeated. If the entries are of very many days, only the first are added.
   * Returns false when another process has moved the mark, or may have.
   */
  async fold(
    platformId: string,
    { mark, etag }: StoredMark,
    entries: readonly StoredEntry[],
  ): Promise<boolean> {
    const days = [...new Set(entries.map(dayOf))].slice(0, DAYS_AT_ONCE);
    const tooMany = entries.findIndex((entry) => !days.includes(dayOf(entry)));
    const folded = tooMany === -1 ? entries : entries.slice(0, tooMany);
    const last = folded.at(-1);
    if (last === undefined) return true;
    const parts: RowPut[] = [];
    for (const [day, totals] of totalsByDay(folded)) {
      const prefix = `${TOTALS_ROWS}${day}|`;
      const range = { from: prefix, before: afterPrefix(prefix), limit: 1 };
      const [newest] = await this.#core.list({ partitionKey: platformId, ...range });
      const lastPart =
        newest === undefined
          ? { part: 1, totals: [] }
          : {
              part: PARTS_MAX - Number(newest.row.rowKey.slice(prefix.length)),
              totals: totalsRow.decode(newest.row).totals,
            };
      for (const { part, totals: kept } of addTotals(lastPart, totals)) {
        const rowKey = prefix + String(PARTS_MAX - part).padStart(4, "0");
        parts.push({ kind: "put", row: { ...totalsRow.encode({ day, totals: kept }), rowKey } });
      }
    }
    const { sequence, balanceAfter: balance, reservedAfter: reserved } = last;
    const moved = { ...mark, sequence, balance, reserved };
    const row: Row = { ...reconciledRow.encode(moved), rowKey: MARK_KEY };
    const write: RowWrite = etag === "" ? { kind: "create", row } : { kind: "merge", row, etag };
    return (await this.#core.transact(platformId, [write, ...parts])).kind === "applied";
  }

  /** Stores the result of a check. Returns since when the platform has been wrong, or null when it is right. */
  async keepResult(platformId: string, result: Mark["result"], now: Date): Promise<string | null> {
    const at = now.toISOString();
    let uncheckedSince: string | null = null;
    await this.#core.change(platformId, MARK_KEY, (stored) => {
      const mark = stored === undefined ? BEGINNING : reconciledRow.decode(stored.row);
      const watchedSince = mark.watchedSince ?? at;
      const checkedAt = result === "checked" ? at : mark.checkedAt;
      uncheckedSince = result === "checked" ? null : (checkedAt ?? watchedSince);
      const columns = reconciledRow.encode({
        ...mark,
        result,
        resultAt: at,
        checkedAt,
        watchedSince,
      });
      return { kind: "keep", columns };
    });
    return uncheckedSince;
  }

  /** Yields the totals of a range of days (the end excluded), a page of rows at a time. */
  async *totals(
    platformId: string,
    {
      from = "",
      before,
    }: { readonly from?: string | undefined; readonly before?: string | undefined },
  ): AsyncGenerator<{ readonly day: string; readonly totals: readonly DayTotal[] }[]> {
    let start = TOTALS_ROWS + from;
    const end = before === undefined ? afterPrefix(TOTALS_ROWS) : TOTALS_ROWS + before;
    for (;;) {
      const range = { from: start, before: end, limit: ROWS_OF_PAGE };
      const rows = await this.#core.list({ partitionKey: platformId, ...range });
      yield rows.map(({ row }) => totalsRow.decode(row));
      const last = rows.at(-1);
      if (rows.length < ROWS_OF_PAGE || last === undefined) return;
      start = `${last.row.rowKey} `;
    }
  }
}

type FilteredEntry = Pick<
  StoredEntry,
  "operation" | "applicationId" | "profileId" | "postId" | "createdAt"
>;

/** Returns whether an entry fits a filter, but for its `from`. */
export function fitsEntryFilter(entry: FilteredEntry, filter: EntryFilter): boolean {
  const fits = (wanted: string | undefined, actual: string | null) =>
    wanted === undefined || wanted === actual;
  return (
    fits(filter.operation, entry.operation) &&
    fits(filter.applicationId, entry.applicationId) &&
    fits(filter.profileId, entry.profileId) &&
    fits(filter.postId, entry.postId) &&
    (filter.profileIds === undefined || filter.profileIds.has(entry.profileId ?? "")) &&
    (filter.to === undefined || entry.createdAt < filter.to)
  );
}
