import type {
  CorePartition,
  StoredWallet,
  WrittenWallet,
} from "../../src/shared/partition/operation.ts";
import { EMPTY_WALLET, type LedgerEntry } from "../../src/shared/partition/wallet.ts";
import type { Wallet } from "../../src/shared/partition/partition.ts";
import type {
  Row,
  RowWrite,
  StoredRow,
  TransactionResult,
} from "../../src/shared/runtime/storage/row.ts";

/** Of every wallet here: nothing raises it. */
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

const LEDGER = "L|";
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

  get wallet(): Wallet {
    return this.#storedWallet().wallet;
  }

  rowsOf(prefix: string): Row[] {
    return [...this.rows.values()]
      .map(({ row }) => row)
      .filter(({ rowKey }) => rowKey.startsWith(prefix));
  }

  ledger(): Row[] {
    return this.rowsOf(LEDGER).sort(
      (left, right) => Number(left["sequence"]) - Number(right["sequence"]),
    );
  }

  /** The partition as one process reaches it. */
  seenBy(weather: Weather, now: () => Date): CorePartition {
    const read = async <T>(look: () => T): Promise<T> => {
      await wait(weather.delay());
      const found = look();
      await wait(weather.delay());
      return found;
    };
    return {
      readWallet: () => read(() => this.#storedWallet()),
      find: (rowKey) => read(() => this.rows.get(rowKey)),
      transact: (writes) => this.#transact(weather, writes),
      walletWrites: (from, to, entries) => ({
        wallet: to.wallet,
        writes: walletWrites(from, to, entries),
      }),
      now,
    };
  }

  #storedWallet(): StoredWallet {
    const stored = this.rows.get("W");
    return stored === undefined
      ? { wallet: { ...EMPTY_WALLET, accessVersion: ACCESS_VERSION }, writer: null, etag: "" }
      : { ...toWallet(stored.row), etag: stored.etag };
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
      if (write.kind === "create" && write.row.rowKey.startsWith(LEDGER))
        this.entered.push(String(write.row["label"]));
    return { kind: "applied", etags };
  }
}

function walletWrites(
  from: StoredWallet,
  to: WrittenWallet,
  entries: readonly LedgerEntry[],
): RowWrite[] {
  const row: Row = { rowKey: "W", wallet: JSON.stringify(to) };
  const wallet: RowWrite =
    from.etag === "" ? { kind: "create", row } : { kind: "replace", row, etag: from.etag };
  const ledger = entries.map((entry): RowWrite => {
    const { type, tokens, sequence, requestId, network } = entry;
    const rowKey = `${LEDGER}${sequence}`;
    const label = `${type}|${requestId}|${network ?? ""}`;
    return { kind: "create", row: { rowKey, label, type, tokens, sequence } };
  });
  return [wallet, ...ledger];
}

function toWallet(row: Row): WrittenWallet {
  return JSON.parse(String(row["wallet"])) as WrittenWallet;
}
