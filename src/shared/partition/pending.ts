import type { StoredRow } from "../runtime/storage/row.ts";
import type { PartitionOperation, EarlierTry } from "./operation.ts";

/*
 * An operation's state, what happens, and its next state:
 *
 *   (submitted)  with rows that its caller has read            known
 *   (submitted)  without, or this process knows better         unread
 *   unread       known to be a repeat, checked first: it    answered: answer
 *                was done before
 *   unread       its rows are read, after the head             read
 *   unread       its rows can't be read                        answered: the error
 *   read         the head has another version by now           unread
 *   known, read  writes, is done                               decided
 *   known        refuses or throws: its rows may be older      unread, head old
 *   read         throws                                        decided
 *   read         refuses, and was asked since the head was read unread, head old
 *   read         refuses on what was read since it was asked   decided
 *   known        the transaction is full                       known
 *   read         the transaction is full                       unread
 *   known, read  too large for a transaction of its own        answered: the error
 *   decided      the transaction is applied, or not needed     answered: answer, refusal or error
 *   decided      the same, a refusal, asked for meanwhile      unread, head old
 *   decided      another process wrote the head first          known as before, or unread
 *   decided      a row of its own was another one              unread, in a later batch, or
 *                                                              aside as a repeat
 *   decided      a row of another operation was another one    as before it was decided
 *   decided      the transaction is in doubt                   known as before, or unread
 *   decided      a decision threw; head and rows may be        unread
 *                from different moments
 *   decided      the same 12 times, or 8 s of any of these     answered: `service_unavailable`
 *   decided      storage never accepts the transaction        as before it was decided, alone
 *   decided      the same, and it was alone                    answered: the error
 *
 * `head old`: the cached head is dropped before the next transaction. A refusal while a write in doubt may still be
 * applied is answered as `service_unavailable`.
 */

type ReadRows = ReadonlyMap<string, StoredRow | undefined>;

/** The answer to an operation's caller once its transaction is applied. */
export type OperationOutcome =
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "refusal"; readonly error: Error }
  /** The decision threw, because of a torn read or a defect. */
  | { readonly kind: "failure"; readonly error: unknown };

/** The rows on which an operation can be decided. `etag` is the version of the head under which they were read. */
export type DecidableRows =
  | { readonly kind: "known"; readonly rows: ReadRows }
  | { readonly kind: "read"; readonly rows: ReadRows; readonly etag: string };

/** The state of an operation. The table above has the transitions. */
type State =
  | DecidableRows
  | { readonly kind: "unread"; readonly isHeadOld: boolean }
  | { readonly kind: "decided"; readonly outcome: OperationOutcome; readonly basis: DecidableRows }
  | { readonly kind: "answered" };

/** An operation that waits for its answer. */
export interface PendingOperation {
  readonly operation: PartitionOperation<unknown>;
  readonly submittedAt: number;
  /** When the last request that shares the answer arrived. */
  askedAt: number;
  readonly promise: Promise<unknown>;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
  state: State;
  /** `next`: not before the next batch. `alone`: in a transaction of its own. */
  joins: "any" | "next" | "alone";
  /** The latest write that it was decided on. */
  tried: EarlierTry<unknown> | undefined;
  /** When it was first part of a batch. */
  triedAt: number | undefined;
  /** Number of its batches with an unknown outcome or torn reads. */
  doubts: number;
  /** The version of the head that a write of unknown outcome was conditional on. */
  doubtedEtag: string | undefined;
}

/** Makes a pending operation. `isGuessWrong`: this process knows better than the rows that the caller has read. */
export function newPending(
  operation: PartitionOperation<unknown>,
  isGuessWrong: boolean,
): PendingOperation {
  const { known } = operation;
  return {
    operation,
    submittedAt: performance.now(),
    askedAt: performance.now(),
    ...Promise.withResolvers<unknown>(),
    state:
      known === undefined || isGuessWrong
        ? { kind: "unread", isHeadOld: false }
        : { kind: "known", rows: known },
    joins: "any",
    tried: undefined,
    triedAt: undefined,
    doubts: 0,
    doubtedEtag: undefined,
  };
}

export function forgetRows(pending: PendingOperation): void {
  pending.state = { kind: "unread", isHeadOld: false };
}

/** Reports whether the operation would create the one row that it reads, so that only this row decides. */
export function isRepeat({ operation: { known, rowKeys } }: PendingOperation): boolean {
  const [rowKey = ""] = rowKeys;
  return rowKeys.length === 1 && known?.has(rowKey) === true && known.get(rowKey) === undefined;
}

/** Undoes a decision that was made on rows of this kind. Returns whether there was one. */
export function goBack(pending: PendingOperation, kind?: "known"): boolean {
  const { state } = pending;
  if (state.kind !== "decided" || (kind !== undefined && state.basis.kind !== kind)) return false;
  pending.state = state.basis;
  return true;
}
