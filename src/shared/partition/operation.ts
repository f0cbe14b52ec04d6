import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";

/*
 * A change of a platform's partition, from a verb to storage:
 *
 *   the verb     makes a `PartitionOperation`: the rows that it reads, and `decide`, which says from them what to write
 *                and what to answer
 *   Partitions   has a group commit for each platform; the operation of a request that writes gets the second check of
 *                its caller's access (`checkedCommit`)
 *   GroupCommit  gathers operations, reads their rows, writes the transaction, and tries again what lost a race
 *   Batch        calls each `decide` on the rows as the operations before it leave them
 *   Partition    reads, finds and transacts
 */

/** The note of a process that writes: its id, and how long other processes should wait, or 0. */
export interface WriterLease {
  readonly by: string;
  readonly forMs: number;
}

/** The head of a partition. Each transaction replaces it, so its version is that of the whole partition. */
export interface Head {
  /**
   * Changes at random with each change of what may be published or of who may ask, and is "" before the first one. Rows
   * that were read after it are up to date as long as the head has it. `access-version.ts` says more.
   */
  readonly accessVersion: string;
  /** The note of the process that wrote last, or null before the first write. */
  readonly writer: WriterLease | null;
  /** "" while the partition has no head. */
  readonly etag: string;
  /** The rows that are read and cached with the head, by their keys. Only transactions of operations write them. */
  readonly rows: ReadonlyMap<string, StoredRow>;
}

/** What an operation sees: its rows and those of the head, after the earlier operations of the same transaction. */
export interface PartitionView {
  readonly accessVersion: string;
  readonly now: Date;
  readonly row: (rowKey: string) => StoredRow | undefined;
}

/** What an operation decides. */
export type PartitionDecision<Answer> =
  | {
      readonly kind: "write";
      readonly writes: readonly RowWrite[];
      readonly answer: Answer;
      /** The access version from now on. Absent when it stays. */
      readonly accessVersion?: string;
    }
  /** Nothing to write, because it was applied before or no longer applies. `isOwn`: certainly by this operation. */
  | { readonly kind: "done"; readonly answer: Answer; readonly isOwn?: boolean }
  | { readonly kind: "refuse"; readonly error: Error };

/** The latest try to write that an operation decided on. It may have been applied, although its answer was lost. */
export interface EarlierTry<Answer> {
  readonly answer: Answer;
}

/**
 * One change of a platform's partition. `decide` is pure and may run many times. From its rows it has to detect that an
 * earlier try was applied. It then returns `done`, with the answer of `tried` when the rows no longer show it.
 */
export interface PartitionOperation<Answer> {
  /** Concurrent operations with the same id share one answer. */
  readonly id: string;
  /** The rows that it reads, but for those of the head. */
  readonly rowKeys: readonly string[];
  /**
   * The rows as the caller has just read them, or assumes them to be, which saves the first read. A wrong guess costs a
   * second try on rows that are read. Use this only for rows that the operation writes under a condition, because they
   * are older than the head. They are never a reason for a refusal.
   */
  readonly known?: ReadonlyMap<string, StoredRow | undefined>;
  decide(view: PartitionView, tried?: EarlierTry<Answer>): PartitionDecision<Answer>;
}
