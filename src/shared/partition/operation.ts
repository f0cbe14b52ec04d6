import type { AppError } from "../runtime/errors.ts";
import type { DamagedRow } from "../runtime/storage/damaged-row.ts";
import type { RowWrite, StoredRow, TransactionResult } from "../runtime/storage/row.ts";
import type { LedgerEntry, Wallet, WalletChange } from "./wallet.ts";

/*
 * A change of a platform's partition, from a verb to storage:
 *
 *   the verb       makes a `CoreOperation`: the rows that it reads, and `decide`, which says from them what to write and
 *                  what to answer
 *   WalletStore    has a group commit for each platform; the operation of a request that writes gets the second check of
 *                  its caller's access (`checkedCommit`)
 *   GroupCommit    gathers operations, reads their rows, writes the transaction, and tries again what lost a race
 *   Batch          calls each `decide` on the rows as the operations before it leave them
 *   CorePartition  is what these need of storage; the wallet store implements it
 */

/** The parts of a platform's partition that the committer needs. */
export interface CorePartition {
  readWallet(): Promise<StoredWallet>;
  find(rowKey: string): Promise<StoredRow | undefined>;
  /**
   * Returns the wallet as it will be, and the writes that change it from `from` to that, with its new ledger entries.
   * The wallet's row is always one of them, because its version is the version of the whole partition.
   */
  walletWrites(
    from: StoredWallet,
    to: WrittenWallet,
    entries: readonly LedgerEntry[],
  ): { readonly wallet: Wallet; readonly writes: readonly RowWrite[] };
  transact(writes: readonly RowWrite[]): Promise<TransactionResult>;
  now(): Date;
  /** Reports whether a read failed because storage was overloaded. */
  isBusy?(error: unknown): boolean;
  /** Observes each try to write, for metrics. */
  onBatch?(operations: number, outcome: TransactionResult["kind"]): void;
}

/** The note of a process that writes: its id, and how long other processes should wait, or 0. */
export interface WriterLease {
  readonly by: string;
  readonly forMs: number;
}

export interface WrittenWallet {
  readonly wallet: Wallet;
  /** The note of the process that wrote the wallet last, or null before the first write. */
  readonly writer: WriterLease | null;
}

export interface StoredWallet extends WrittenWallet {
  /** "" while the platform has no wallet row. */
  readonly etag: string;
  /** What is wrong with the row. Only the wallet's access version can then be trusted. */
  readonly damage?: DamagedRow | undefined;
}

/** What an operation sees: the wallet and its rows, after the earlier operations of the same transaction. */
export interface PartitionView {
  /** @throws DamagedRow when its row is damaged. Operations that need no tokens, such as revoking a key, still work. */
  readonly wallet: Wallet;
  readonly accessVersion: string;
  readonly now: Date;
  readonly row: (rowKey: string) => StoredRow | undefined;
}

/** What an operation decides. */
export type PartitionDecision<Answer> =
  | (WalletChange & {
      readonly kind: "write";
      readonly writes: readonly RowWrite[];
      readonly answer: Answer;
    })
  /** Nothing to write, because it was applied before or no longer applies. `isOwn`: certainly by this operation. */
  | { readonly kind: "done"; readonly answer: Answer; readonly isOwn?: boolean }
  | { readonly kind: "refuse"; readonly error: Error };

/** The latest try to write that an operation decided on. It may have been applied, although its answer was lost. */
export interface Tried<Answer> {
  readonly answer: Answer;
}

/**
 * One change of a platform's partition. `decide` is pure and may run many times. From its rows it has to detect that an
 * earlier try was applied. It then returns `done`, with the answer of `tried` when the rows no longer show it.
 */
export interface PartitionOperation<Answer> {
  /** Concurrent operations with the same id share one answer. */
  readonly id: string;
  readonly rowKeys: readonly string[];
  /**
   * The rows as the caller has just read them, or assumes them to be, which saves the first read. A wrong guess costs a
   * second try on rows that are read. Use this only for rows that the operation writes under a condition, because they
   * are older than the wallet. They are never a reason for a refusal.
   */
  readonly known?: ReadonlyMap<string, StoredRow | undefined>;
  decide(view: PartitionView, tried?: Tried<Answer>): PartitionDecision<Answer>;
}

/** What other folders do with the partitions of platforms. */
export interface Partitions {
  /** Commits an operation to a platform's partition, exactly once. */
  commit<Answer>(platformId: string, operation: PartitionOperation<Answer>): Promise<Answer>;
  read(platformId: string): Promise<Wallet>;
  /** Notes that a spend was refused. */
  noteRefusal(platformId: string, refusal: Pick<AppError, "code">): Promise<void>;
  /** Returns the access version as this process knows it, if it does. */
  lastAccessVersion(platformId: string): string | undefined;
  /** Returns the access version as it is stored. */
  readAccessVersion(platformId: string): Promise<string>;
  /** Gives a platform an access version, and returns it. */
  raiseAccess(platformId: string): Promise<string>;
}

export type Commit = Partitions["commit"];
