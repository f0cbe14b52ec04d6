import { serviceUnavailable } from "../errors.ts";
import { pauseAfter, RACES_MAX } from "./retry-lost.ts";
import { integer, rowCodec } from "./codec.ts";
import type { RowWrite, TransactionResult } from "./row.ts";
import { afterPrefix, type Table } from "./table.ts";

/** Lets work on the same row go one at a time within this process, so that only other processes can be in its way. */
export class RowTurns {
  readonly #last = new Map<string, Promise<void>>();

  isTaken(row: string): boolean {
    return this.#last.has(row);
  }

  /** In the order in which they came. */
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

/** Rows that one count is spread over, so that many can be counted at the same time. */
const SHARDS = 8;
const ROWS_MAX = 100_000;

/** One of the rows that a count is spread over. */
export const countRow = rowCodec("count", { count: integer() });

/** What is counted: its rows lie in the partition of what they count. */
export interface Counted {
  readonly partitionKey: string;
  /** What the keys of the count's rows begin with, and no others do. */
  readonly prefix: string;
}

export interface CountedChange {
  readonly by: 1 | -1;
  /** What is counted: refused as a whole when it is there, or gone, already. */
  readonly writes: readonly RowWrite[];
}

interface Place extends Counted {
  readonly rowKey: string;
}

/** Of one change, over all the rows that it was tried on. */
interface Tries {
  made: number;
}

const turnOf = ({ partitionKey, rowKey }: Pick<Place, "partitionKey" | "rowKey">) =>
  `${partitionKey}\n${rowKey}`;
const keysOf = (prefix: string) =>
  Array.from({ length: SHARDS }, (_, shard) => `${prefix}${shard}`);

/**
 * Counts rows that come and go, in the very transactions in which they do: exact after each of them, whatever crashes.
 * A single row of a count may be negative, for a row need not be counted off where it was counted on; the sum is right.
 */
export class ShardedCounter {
  readonly #table: Table;
  readonly #turns = new RowTurns();

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Writes and counts, all or nothing, again and again while others are in the way. After a try that was not applied
   * `settled` looks at the rows themselves: what it finds ends the tries and is answered, undefined lets them go on.
   * Answers undefined when it was applied. @throws AppError `service_unavailable`
   */
  async commit<T>(
    counted: Counted,
    change: CountedChange,
    settled: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const tries: Tries = { made: 0 };
    while (tries.made < RACES_MAX) {
      const place = { ...counted, rowKey: this.#pick(counted, tries.made > 0) };
      const ended = await this.#turns.run(turnOf(place), () =>
        this.#persist(place, tries, { change, settled }),
      );
      if (ended !== undefined) return ended.outcome;
    }
    throw serviceUnavailable();
  }

  /** Of all counts whose rows begin with the prefix: one request, and one more for each thousand rows. */
  async sum({ partitionKey, prefix }: Counted): Promise<number> {
    const rows = await this.#table.list({
      partitionKey,
      from: prefix,
      before: afterPrefix(prefix),
      limit: ROWS_MAX,
    });
    return rows.reduce((sum, { row }) => sum + countRow.decode(row).count, 0);
  }

  /** Undefined when another row may do better. */
  async #persist<T>(
    place: Place,
    tries: Tries,
    wanted: { readonly change: CountedChange; readonly settled: () => Promise<T | undefined> },
  ): Promise<{ readonly outcome: T | undefined } | undefined> {
    while (tries.made < RACES_MAX) {
      tries.made += 1;
      const result = await this.#try(place, wanted.change);
      if (result.kind === "applied") return { outcome: undefined };
      const outcome = await wanted.settled();
      if (outcome !== undefined) return { outcome };
      if (result.kind === "in_doubt") throw serviceUnavailable(result.cause);
      await pauseAfter(tries.made);
      // With every row taken, a turn for another one would have to be waited for.
      if (this.#freeRows(place).length > 0) return undefined;
    }
    return undefined;
  }

  async #try(
    { partitionKey, rowKey }: Place,
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
      (rowKey) => !this.#turns.isTaken(turnOf({ partitionKey, rowKey })),
    );
  }

  /** The first free row, so that who is never in anybody's way has one to read; any after having met another process. */
  #pick(counted: Counted, isAnyRow: boolean): string {
    const free = this.#freeRows(counted);
    const [first] = free;
    if (first !== undefined && !isAnyRow) return first;
    const among = free.length > 0 ? free : keysOf(counted.prefix);
    return among[Math.floor(Math.random() * among.length)] ?? `${counted.prefix}0`;
  }
}
