import { AFTER_HEAD_ROWS, HEAD_KEY, headRow, toHead } from "../../src/shared/partition/head-row.ts";
import type { Partition } from "../../src/shared/partition/partition-store.ts";
import { ENTRY_ROWS, toEntry, toWallet, WALLET_KEY } from "../../src/shared/ledger/wallet-row.ts";
import type { Wallet } from "../../src/shared/ledger/ledger.ts";
import type {
  Row,
  RowWrite,
  StoredRow,
  TransactionResult,
} from "../../src/shared/runtime/storage/row.ts";

/** The partition as the group commit takes it. */
export type PartitionAccess = Pick<Partition, keyof Partition>;

/** Of every partition here: nothing raises it. */
export const ACCESS_VERSION = "a version";

/** What goes wrong with one transaction. */
export type Fault =
  /** Nothing was applied, the answer is lost. */
  | "error_before"
  /** Applied, the answer is lost. */
  | "error_after"
  /** The answer is lost and the write is applied later, if its conditions still hold then. */
  | "late"
  /** Applied, but answered as a lost race: what a repeat inside a client library makes of a lost answer. */
  | "false_412"
  /** Not applied, though nobody else wrote. */
  | "refused";

export interface Weather {
  /** Milliseconds that a call takes on its way there, and back. */
  delay(): number;
  transactionFault(): Fault | undefined;
}

/** Every call answers at once and right. */
export const CALM: Weather = {
  delay: () => 0,
  transactionFault: () => undefined,
};

const ROWS_MAX = 100;
const LATE_MS = 300;
const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const keyOf = (write: RowWrite) => (write.kind === "delete" ? write.rowKey : write.row.rowKey);

/** One platform's partition with the storage service's rules: conditions by ETag, all or nothing, each row once. */
export class MemoryPartition {
  readonly rows = new Map<string, StoredRow>();
  /** `type|request|network` of each ledger entry, in order: what was done, no matter who did it. */
  readonly entered: string[] = [];
  /** Rows of each transaction that was sent. */
  readonly sizes: number[] = [];
  #version = 0;

  constructor() {
    const row = {
      ...headRow.encode({ accessVersion: ACCESS_VERSION, writer: null }),
      rowKey: HEAD_KEY,
    };
    this.rows.set(HEAD_KEY, { row, etag: "v0" });
  }

  get wallet(): Wallet {
    return toWallet(this.rows.get(WALLET_KEY));
  }

  rowsOf(prefix: string): Row[] {
    return [...this.rows.values()]
      .map(({ row }) => row)
      .filter(({ rowKey }) => rowKey.startsWith(prefix));
  }

  ledger(): Row[] {
    return this.rowsOf(ENTRY_ROWS).sort(
      (left, right) => Number(left["sequence"]) - Number(right["sequence"]),
    );
  }

  /** The partition as one process reaches it. */
  seenBy(weather: Weather, now: () => Date): PartitionAccess {
    const read = async <T>(look: () => T): Promise<T> => {
      await wait(weather.delay());
      const found = look();
      await wait(weather.delay());
      return found;
    };
    return {
      platformId: "plt_test",
      readHead: () =>
        read(() => {
          const rows = [...this.rows.values()];
          return toHead(
            rows.filter(({ row }) => row.rowKey >= HEAD_KEY && row.rowKey < AFTER_HEAD_ROWS),
          );
        }),
      readAccessVersion: () => Promise.resolve(ACCESS_VERSION),
      find: (rowKey) => read(() => this.rows.get(rowKey)),
      alongside: () => [],
      transact: (writes) => this.#transact(weather, writes),
      now,
      isBusy: () => false,
      onBatch: () => undefined,
    };
  }

  async #transact(weather: Weather, writes: readonly RowWrite[]): Promise<TransactionResult> {
    this.sizes.push(writes.length);
    const apply = () => this.#apply(writes);
    await wait(weather.delay());
    const lost = { kind: "in_doubt", cause: new Error("no answer") } as const;
    switch (weather.transactionFault()) {
      case undefined: {
        const result = apply();
        await wait(weather.delay());
        return result;
      }
      case "error_before":
        return lost;
      case "refused":
        return { kind: "refused" };
      case "error_after":
        apply();
        return lost;
      case "false_412":
        apply();
        return { kind: "refused" };
      case "late":
        setTimeout(apply, LATE_MS);
        return lost;
    }
  }

  #holds(write: RowWrite): boolean {
    const stored = this.rows.get(keyOf(write));
    if (write.kind === "create") return stored === undefined;
    if (stored === undefined) return false;
    return write.kind === "delete" || write.etag === "*" || write.etag === stored.etag;
  }

  #apply(writes: readonly RowWrite[]): TransactionResult {
    const keys = writes.map(keyOf);
    if (new Set(keys).size !== keys.length) throw new Error(`a row twice: ${keys.join(", ")}`);
    if (keys.length > ROWS_MAX) throw new Error(`${keys.length} rows in one transaction`);
    const lost = writes.findIndex((write) => !this.#holds(write));
    if (lost !== -1) return { kind: "refused", at: lost };
    const etags = new Map<string, string>();
    for (const write of writes) {
      if (write.kind === "delete") {
        this.rows.delete(write.rowKey);
        continue;
      }
      this.#version += 1;
      const etag = `v${this.#version}`;
      const before = write.kind === "merge" ? this.rows.get(write.row.rowKey)?.row : undefined;
      this.rows.set(write.row.rowKey, { row: { ...before, ...write.row }, etag });
      etags.set(write.row.rowKey, etag);
    }
    for (const write of writes)
      if (write.kind === "create" && write.row.rowKey.startsWith(ENTRY_ROWS)) {
        const { type, requestId, network } = toEntry(write.row);
        this.entered.push(`${type}|${requestId}|${network ?? ""}`);
      }
    return { kind: "applied", etags };
  }
}
