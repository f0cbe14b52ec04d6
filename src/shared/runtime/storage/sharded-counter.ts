import { serviceUnavailable } from "../errors.ts";
import { pauseAfter, RACES_MAX } from "../until-won.ts";
import { integer, rowCodec } from "./codec.ts";
import type { RowWrite, TransactionResult } from "./row.ts";
import { afterPrefix, type Table } from "./table.ts";

/** Serializes work on the same row within this process, so that it competes with other processes alone. */
export class RowQueues {
  readonly #last = new Map<string, Promise<void>>();

  isTaken(row: string): boolean {
    return this.#last.has(row);
  }

  /** Runs the work after all earlier work on the row. */
  async run<T>(row: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(row);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#last.set(row, ended);
    try {
      await before;
      return await work();
    } finally {
      end();
      if (this.#last.get(row) === ended) this.#last.delete(row);
    }
  }
}

/** Rows over which a count is spread, for concurrent changes. */
const SHARDS = 8;
const ROWS_MAX = 100_000;

/** One of the rows that a count is spread over. */
export const countRow = rowCodec("count", { count: integer() });

/** A count. Its rows are in the partition of the rows that it counts. */
export interface Counted {
  readonly partitionKey: string;
  /** What the keys of the count's rows begin with, and no others do. */
  readonly prefix: string;
}

export interface CountedChange {
  readonly by: 1 | -1;
  /** The counted rows' own writes: refused as a whole when they were made already. */
  readonly writes: readonly RowWrite[];
}

interface CountRow extends Counted {
  readonly rowKey: string;
}

/** Tries of one change, over all rows of the count. */
interface Tries {
  made: number;
}

const rowIdOf = ({ partitionKey, rowKey }: Pick<CountRow, "partitionKey" | "rowKey">) =>
  `${partitionKey}\n${rowKey}`;
const keysOf = (prefix: string) =>
  Array.from({ length: SHARDS }, (_, shard) => `${prefix}${shard}`);

/**
 * Counts rows in the transactions that create and delete them: the count is exact after each, also after a crash. One
 * row of a count may be negative, since a deletion may be counted on another row than the creation; the sum is right.
 */
export class ShardedCounter {
  readonly #table: Table;
  readonly #rowQueues = new RowQueues();

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Writes and counts in one transaction; repeats it after a lost race. After a try that was not applied, `settled`
   * reads the rows themselves: its result ends the tries and is returned, undefined continues them. Returns undefined
   * when the change was applied. @throws AppError `service_unavailable`
   */
  async commit<T>(
    counted: Counted,
    change: CountedChange,
    settled: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const tries: Tries = { made: 0 };
    while (tries.made < RACES_MAX) {
      const row = { ...counted, rowKey: this.#pick(counted, tries.made > 0) };
      const ended = await this.#rowQueues.run(rowIdOf(row), () =>
        this.#persist(row, tries, { change, settled }),
      );
      if (ended !== undefined) return ended.outcome;
    }
    throw serviceUnavailable();
  }

  /** Sums all counts whose row keys begin with the prefix: one request for each thousand rows. */
  async sum({ partitionKey, prefix }: Counted): Promise<number> {
    const rows = await this.#table.list({
      partitionKey,
      from: prefix,
      before: afterPrefix(prefix),
      limit: ROWS_MAX,
    });
    return rows.reduce((sum, { row }) => sum + countRow.decode(row).count, 0);
  }

  /** Tries the change on one row; undefined when another row of the count is free. */
  async #persist<T>(
    row: CountRow,
    tries: Tries,
    wanted: { readonly change: CountedChange; readonly settled: () => Promise<T | undefined> },
  ): Promise<{ readonly outcome: T | undefined } | undefined> {
    while (tries.made < RACES_MAX) {
      tries.made += 1;
      const result = await this.#try(row, wanted.change);
      if (result.kind === "applied") return { outcome: undefined };
      const outcome = await wanted.settled();
      if (outcome !== undefined) return { outcome };
      if (result.kind === "in_doubt") throw serviceUnavailable(result.cause);
      await pauseAfter(tries.made);
      // When every row is taken, changing to another one would only add a wait.
      if (this.#freeRows(row).length > 0) return undefined;
    }
    return undefined;
  }

  async #try(
    { partitionKey, rowKey }: CountRow,
    { by, writes }: CountedChange,
  ): Promise<TransactionResult> {
    const stored = await this.#table.find(partitionKey, rowKey);
    const count: RowWrite =
      stored === undefined
        ? { kind: "create", row: { ...countRow.encode({ count: by }), rowKey } }
        : {
            kind: "merge",
            row: { ...countRow.encode({ count: countRow.decode(stored.row).count + by }), rowKey },
            etag: stored.etag,
          };
    return await this.#table.transact(partitionKey, [...writes, count]);
  }

  #freeRows({ partitionKey, prefix }: Counted): string[] {
    return keysOf(prefix).filter(
      (rowKey) => !this.#rowQueues.isTaken(rowIdOf({ partitionKey, rowKey })),
    );
  }

  /** Picks the first free row, so that a quiet count has one row to read; any row after a lost race. */
  #pick(counted: Counted, isAnyRow: boolean): string {
    const free = this.#freeRows(counted);
    const [first] = free;
    if (first !== undefined && !isAnyRow) return first;
    const among = free.length > 0 ? free : keysOf(counted.prefix);
    return among[Math.floor(Math.random() * among.length)] ?? `${counted.prefix}0`;
  }
}
