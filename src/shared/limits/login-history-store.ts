import { sha256Hex } from "../runtime/secrets.ts";
import { numberOf, textOf, type Columns, type Row } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { isForgotten, NO_FAILURES, type LoginHistory } from "./login-history.ts";

const PARTITION_PREFIX = "login|";
const PARTITIONS = 256;
const PURGED_ROWS_OF_PARTITION_MAX = 10_000;

/** Many rows share a partition, so that the purge can find them. */
function placeOf(email: string) {
  const hash = sha256Hex(email.trim().toLowerCase());
  return { partitionKey: PARTITION_PREFIX + hash.slice(0, 2), rowKey: hash };
}

const textOfTime = (time: number) => (time === 0 ? "" : new Date(time).toISOString());
const timeOfText = (text: string) => (text === "" ? 0 : Date.parse(text));

function toColumns({ failedAt, blocks, blockedUntil }: LoginHistory): Columns {
  return {
    failedAt: failedAt.map(textOfTime).join(","),
    blocks,
    blockedUntil: textOfTime(blockedUntil),
  };
}

function toHistory(row: Row): LoginHistory {
  const failedAt = textOf(row, "failedAt").split(",").filter(Boolean).map(timeOfText);
  const blockedUntil = timeOfText(textOf(row, "blockedUntil"));
  return { failedAt, blocks: numberOf(row, "blocks"), blockedUntil };
}

/** Failed log-ins by e-mail, known or not (table `ratewindows`). Only a hash of the e-mail is stored. */
export class LoginHistoryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async find(email: string): Promise<LoginHistory> {
    const { partitionKey, rowKey } = placeOf(email);
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
    const { partitionKey, rowKey } = placeOf(email);
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
    const { partitionKey, rowKey } = placeOf(email);
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
        if (!isForgotten(toHistory(row), now.getTime())) continue;
        if (await this.#table.delete(partitionKey, row.rowKey, etag)) purged += 1;
      }
    }
    return purged;
  }
}
