import { sha256Hex } from "../runtime/secrets.ts";
import { integer, rowCodec, text } from "../runtime/storage/codec.ts";
import { DamagedRow, unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Columns, Row } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { inBatches } from "../runtime/promises.ts";

/** How long failures count. The doubling of blocks ends after as long without one. */
const WINDOW_MS = 15 * 60_000;
const FIRST_BLOCK_MS = 60_000;
const BLOCK_MS_MAX = 15 * 60_000;
const DOUBLINGS_MAX = 10;

/** The failed log-ins of an e-mail. Times are milliseconds since the epoch. */
export interface LoginHistory {
  readonly failedAt: readonly number[];
  readonly blocks: number;
  readonly blockedUntil: number;
}

export const NO_FAILURES: LoginHistory = { failedAt: [], blocks: 0, blockedUntil: 0 };

/** Returns the whole seconds until the next try is admitted; 0 for now. */
export function blockedSeconds({ blockedUntil }: LoginHistory, now: number): number {
  return Math.max(0, Math.ceil((blockedUntil - now) / 1000));
}

/** Adds a failure. After `attemptsMax` within the window, each one blocks log-ins: for a minute, then twice as long. */
export function afterFailure(
  history: LoginHistory,
  attemptsMax: number,
  now: number,
): LoginHistory {
  const isQuiet = now >= history.blockedUntil + WINDOW_MS;
  const blocks = isQuiet ? 0 : history.blocks;
  const failedAt = [...history.failedAt.filter((at) => at > now - WINDOW_MS), now].slice(
    -attemptsMax,
  );
  if (blocks === 0 && failedAt.length < attemptsMax)
    return { failedAt, blocks, blockedUntil: history.blockedUntil };
  const doubled = FIRST_BLOCK_MS * 2 ** Math.min(blocks, DOUBLINGS_MAX);
  return { failedAt, blocks: blocks + 1, blockedUntil: now + Math.min(BLOCK_MS_MAX, doubled) };
}

/** Returns whether nothing in it counts any more. */
export function isForgotten({ failedAt, blockedUntil }: LoginHistory, now: number): boolean {
  return Math.max(blockedUntil, ...failedAt) + WINDOW_MS <= now;
}

const REMOVALS_AT_ONCE = 16;
const PARTITION_PREFIX = "login|";

/** Returns the key. Many rows share a partition, so that the purge can find them. */
function keyOf(email: string) {
  const hash = sha256Hex(email.trim().toLowerCase());
  return { partitionKey: PARTITION_PREFIX + hash.slice(0, 2), rowKey: hash };
}

/** Failed log-ins; the hash of the e-mail is the row key. */
export const loginHistoryRow = rowCodec("login history", {
  /** Times, separated by commas. */
  failedAt: text(),
  blocks: integer(),
  /** "" if none was blocked yet. */
  blockedUntil: text(),
});

const textOfTime = (time: number) => (time === 0 ? "" : new Date(time).toISOString());
const timeOfText = (stored: string) => (stored === "" ? 0 : Date.parse(stored));

function toColumns({ failedAt, blocks, blockedUntil }: LoginHistory): Columns {
  return loginHistoryRow.encode({
    failedAt: failedAt.map(textOfTime).join(","),
    blocks,
    blockedUntil: textOfTime(blockedUntil),
  });
}

/** Decodes a history. @throws DamagedRow */
function toHistory(row: Row): LoginHistory {
  const { failedAt: failed, blocks, blockedUntil: until } = loginHistoryRow.decode(row);
  const failedAt = failed.split(",").filter(Boolean).map(timeOfText);
  const blockedUntil = timeOfText(until);
  const { kind } = loginHistoryRow;
  const damage = { kind, rowKey: row.rowKey, reason: "is no time" };
  if (failedAt.some(Number.isNaN)) throw new DamagedRow({ ...damage, column: "failedAt" });
  if (Number.isNaN(blockedUntil)) throw new DamagedRow({ ...damage, column: "blockedUntil" });
  return { failedAt, blocks, blockedUntil };
}

/** Stores failed log-ins by e-mail, known or not (table `ratewindows`). Only a hash of the e-mail is stored. */
export class LoginHistoryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns the history; an empty one if there is none. @throws DamagedRow */
  async find(email: string): Promise<LoginHistory> {
    const { partitionKey, rowKey } = keyOf(email);
    const stored = await this.#table.find(partitionKey, rowKey);
    return stored === undefined ? NO_FAILURES : toHistory(stored.row);
  }

  /**
   * Stores what `change` returns, and calls it again if another write came in between. If it returns undefined, nothing
   * is written. Returns the history that `change` was last given.
   */
  async change(
    email: string,
    change: (history: LoginHistory) => LoginHistory | undefined,
  ): Promise<LoginHistory> {
    const { partitionKey, rowKey } = keyOf(email);
    let history = NO_FAILURES;
    await this.#table.change(partitionKey, rowKey, (stored) => {
      history = stored === undefined ? NO_FAILURES : toHistory(stored.row);
      const changed = change(history);
      return changed === undefined
        ? { kind: "leave" }
        : { kind: "keep", columns: toColumns(changed) };
    });
    return history;
  }

  async clear(email: string): Promise<void> {
    const { partitionKey, rowKey } = keyOf(email);
    await this.#table.delete(partitionKey, rowKey);
  }

  /** Removes the histories of a page that no longer count. */
  async removeForgotten(now: Date, after: string | undefined) {
    const partitions = { from: PARTITION_PREFIX, before: afterPrefix(PARTITION_PREFIX) };
    const { rows, next } = await this.#table.select({ partitions }, after);
    const forgotten = rows.filter(({ row }) => {
      const history = unlessDamaged(() => toHistory(row));
      return history !== undefined && isForgotten(history, now.getTime());
    });
    const removed = await inBatches(forgotten, REMOVALS_AT_ONCE, ({ partitionKey, row, etag }) =>
      this.#table.delete(partitionKey, row.rowKey, etag),
    );
    return { removed: removed.filter(Boolean).length, next };
  }
}
