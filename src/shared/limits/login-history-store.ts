import { sha256Hex } from "../runtime/secrets.ts";
import { integer, rowCodec, text } from "../runtime/storage/codec.ts";
import { DamagedRow, unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Columns, Row } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { isForgotten, NO_FAILURES, type LoginHistory } from "./login-history.ts";

const PARTITION_PREFIX = "login|";
const PARTITIONS = 256;
const PURGED_ROWS_OF_PARTITION_MAX = 10_000;

/** Many rows share a partition, so that the purge can find them. */
function keyOf(email: string) {
  const hash = sha256Hex(email.trim().toLowerCase());
  return { partitionKey: PARTITION_PREFIX + hash.slice(0, 2), rowKey: hash };
}

/** Failed log-ins; the hash of the e-mail is the row key. */
export const loginHistoryRow = rowCodec("login history", {
  /** Times, with commas between them. */
  failedAt: text(),
  blocks: integer(),
  /** "" when none was blocked yet. */
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

/** @throws DamagedRow */
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

/** Failed log-ins by e-mail, known or not (table `ratewindows`). Only a hash of the e-mail is stored. */
export class LoginHistoryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async find(email: string): Promise<LoginHistory> {
    const { partitionKey, rowKey } = keyOf(email);
    const stored = await this.#table.find(partitionKey, rowKey);
    return stored === undefined ? NO_FAILURES : toHistory(stored.row);
  }

  /**
   * Stores what `change` makes of the history, decided anew when somebody else wrote in between; `undefined` from it
   * leaves the history alone. Answers the history that `change` was last given.
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
        : { kind: "write", columns: toColumns(changed) };
    });
    return history;
  }

  async clear(email: string): Promise<void> {
    const { partitionKey, rowKey } = keyOf(email);
    await this.#table.delete(partitionKey, rowKey);
  }

  /** Removes what has no say any more; safe when missed, doubled or cut short. Answers how many rows there were. */
  async purge(now: Date): Promise<number> {
    let purged = 0;
    for (let index = 0; index < PARTITIONS; index += 1) {
      const partitionKey = PARTITION_PREFIX + index.toString(16).padStart(2, "0");
      const limit = PURGED_ROWS_OF_PARTITION_MAX;
      const rows = await this.#table.list({ partitionKey, before: afterPrefix(""), limit });
      for (const { row, etag } of rows) {
        const history = unlessDamaged(() => toHistory(row));
        if (history === undefined || !isForgotten(history, now.getTime())) continue;
        if (await this.#table.delete(partitionKey, row.rowKey, etag)) purged += 1;
      }
    }
    return purged;
  }
}
