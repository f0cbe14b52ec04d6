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

/** The platform's partition as the committer needs it. */
export interface CorePartition {
  readWallet(): Promise<StoredWallet>;
  find(rowKey: string): Promise<StoredRow | undefined>;
  /**
   * Returns the writes that change the wallet from `from` to `to`, with its new ledger entries. The wallet's row is
   * always one of them: its version is the version of the whole partition.
   */
  walletWrites(from: StoredWallet, to: WrittenWallet, entries: readonly LedgerEntry[]): RowWrite[];
  transact(writes: readonly RowWrite[]): Promise<TransactionResult>;
  now(): Date;
  /** Returns whether a read failed because storage had too much to do. */
  isBusy?(error: unknown): boolean;
  /** Takes note of each try to write, for metrics. */
  onBatch?(operations: number, outcome: TransactionResult["kind"]): void;
}

/** The note of a process that writes: its id, and how long other processes should wait; 0 for not at all. */
export interface WriterLease {
  readonly by: string;
  readonly forMs: number;
}

export interface WrittenWallet {
  readonly wallet: Wallet;
  /** The note of the process that wrote the wallet last; null before the first one. */
  readonly writer: WriterLease | null;
}

export interface StoredWallet extends WrittenWallet {
  /** "" while the platform has no wallet row yet. */
  readonly etag: string;
  /** What is wrong with the row. Of the wallet, only its access version is the stored one then. */
  readonly damage?: DamagedRow | undefined;
}

/** What an operation sees: the wallet and its rows, the earlier operations of the same transaction included. */
export interface CoreView {
  /** @throws DamagedRow when its row is damaged: what needs no tokens, such as revoking a key, is possible all the same */
  readonly wallet: Wallet;
  readonly accessVersion: string;
  readonly now: Date;
  readonly row: (rowKey: string) => StoredRow | undefined;
}

/** What an operation decides. */
export type CoreDecision<Answer> =
  | (WalletChange & {
      readonly kind: "write";
      readonly writes: readonly RowWrite[];
      readonly answer: Answer;
    })
  /** Nothing to write: it was applied before, or it no longer applies. `isOwn`: certainly by this very operation. */
  | { readonly kind: "done"; readonly answer: Answer; readonly isOwn?: boolean }
  | { readonly kind: "refuse"; readonly error: Error };

/** The newest try to write that an operation decided on. It may have been applied, although its answer was lost. */
export interface Tried<Answer> {
  readonly answer: Answer;
}

/**
 * One change of a platform's partition. `decide` is pure and may run many times: it has to detect by its rows that an
 * earlier try was applied, and then return `done`, with what `tried` says of it where the rows no longer do.
 */
export interface CoreOperation<Answer> {
  /** Two operations with one id that are under way at once share one answer. */
  readonly id: string;
  readonly rowKeys: readonly string[];
  /**
   * The rows as the caller has just read them, or takes them to be, which saves the first read: a wrong guess costs a
   * second try on rows that are read. Only for rows that the operation writes under a condition, since these are older
   * than the wallet. They are never a reason for a refusal.
   */
  readonly known?: ReadonlyMap<string, StoredRow | undefined>;
  decide(view: CoreView, tried?: Tried<Answer>): CoreDecision<Answer>;
}

/** Commits an operation to a platform's partition, exactly once: `WalletStore.commit`. */
export type Commit = <Answer>(
  platformId: string,
  operation: CoreOperation<Answer>,
) => Promise<Answer>;
