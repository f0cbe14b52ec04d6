import { serviceUnavailable, type AppError } from "../runtime/errors.ts";
import type { RowWrite, StoredRow, TransactionResult } from "../runtime/storage/row.ts";
import { createOverlay, type Overlay } from "./overlay.ts";
import { applyChange, type LedgerEntry, type Wallet, type WalletChange } from "./wallet.ts";

/** The platform's partition as the committer needs it. */
export interface CorePartition {
  readWallet(): Promise<StoredWallet>;
  find(rowKey: string): Promise<StoredRow | undefined>;
  /**
   * The writes that take the wallet from `from` to `to`, with its new ledger entries. The wallet's row is always one of
   * them: its version stands for the whole partition.
   */
  walletWrites(from: StoredWallet, to: Wallet, entries: readonly LedgerEntry[]): RowWrite[];
  transact(writes: readonly RowWrite[]): Promise<TransactionResult>;
  now(): Date;
  /** Called after each try to write, for the record only. */
  onBatch?(operations: number, outcome: TransactionResult["kind"]): void;
}

export interface StoredWallet {
  readonly wallet: Wallet;
  /** "" while the platform has no wallet row yet. */
  readonly etag: string;
}

/** What an operation sees: the wallet and its rows, the earlier operations of the same transaction included. */
export interface CoreView {
  readonly wallet: Wallet;
  readonly now: Date;
  readonly row: (rowKey: string) => StoredRow | undefined;
}

/** What an operation makes of what it sees. */
export type CoreDecision<Answer> =
  | (WalletChange & {
      readonly kind: "write";
      readonly writes: readonly RowWrite[];
      readonly answer: Answer;
    })
  /** Nothing to write: it was applied before, or it no longer applies. */
  | { readonly kind: "done"; readonly answer: Answer }
  | { readonly kind: "refuse"; readonly error: AppError };

/**
 * One change of a platform's partition. `decide` is pure and may run many times: it must find out from its rows that
 * an earlier try was applied, and then answer `done`.
 */
export interface CoreOperation<Answer> {
  /** Two operations with one id that are under way at once share one answer. */
  readonly id: string;
  readonly rowKeys: readonly string[];
  /**
   * The rows as the caller read them a moment ago, which saves the first reading. Only for rows that the operation
   * writes under a condition: these are older than the wallet. No refusal is answered on them.
   */
  readonly known?: ReadonlyMap<string, StoredRow | undefined>;
  decide(view: CoreView): CoreDecision<Answer>;
}

type Rows = ReadonlyMap<string, StoredRow | undefined>;

/** What an operation's caller is answered once its transaction is through. */
type Outcome =
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "refusal"; readonly error: AppError }
  /** It threw: on readings that never belonged together, or because it is wrong. */
  | { readonly kind: "failure"; readonly error: unknown };

/** Where an operation stands; the table above `GroupCommit` has the transitions. */
type State =
  | { readonly kind: "known"; readonly rows: Rows }
  | { readonly kind: "unread"; readonly isWalletOld: boolean }
  | { readonly kind: "read"; readonly rows: Rows }
  | { readonly kind: "decided"; readonly outcome: Outcome }
  | { readonly kind: "settled" };

interface Pending {
  readonly operation: CoreOperation<unknown>;
  readonly submittedAt: number;
  /** When the last request that shares the answer came. */
  askedAt: number;
  readonly promise: Promise<unknown>;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
  state: State;
  tries: number;
  /** The wallet's version that a write of unknown outcome was conditional on. */
  doubtedEtag: string | undefined;
}

interface Batch {
  readonly stored: StoredWallet;
  /** When `stored` was read, or written by us. */
  readonly readAt: number;
  wallet: Wallet;
  readonly overlay: Overlay;
  readonly entries: LedgerEntry[];
  /** Those that are decided: their outcomes rest on what the transaction writes. */
  readonly members: Pending[];
  readonly writers: Pending[];
}

const BATCH_OPERATIONS_MAX = 64;
/** Of 100 that a transaction may hold. */
const BATCH_ROWS_MAX = 90;
/** Of 4 MiB that a transaction may hold; the rest is for its own framing. */
const BATCH_CHARACTERS_MAX = 1024 * 1024;
const WALLET_CACHE_MS = 2_000;
const TRIES_MAX = 12;
/** A broken rule on this many fresh readings is a defect, not a torn one. */
const TORN_TRIES_MAX = 3;
const TRYING_MS_MAX = 8_000;

/**
 * Serialises the writes to one platform's wallet in this process and writes them together: while one transaction is
 * in flight the next operations gather; an idle wallet writes at once. Across processes the wallet's ETag decides.
 * An answer that is lost, late or wrong is never believed: the rows are read again and the operations decide anew.
 *
 * An operation's state, what happens, and its next state:
 *
 *   (submitted)  with rows that its caller has read            known
 *   (submitted)  without                                       unread
 *   unread       its rows are read, after the wallet           read
 *   unread       its rows can't be read                        settled: the error
 *   known, read  writes, is done, throws                       decided
 *   known        refuses: its rows are older than the wallet   unread, wallet old
 *   read         refuses, and was asked since the wallet was   unread, wallet old
 *   read         refuses on what was read since it was asked   decided
 *   known        the transaction is full                       known
 *   read         the transaction is full                       unread
 *   known, read  too large for a transaction of its own        settled: the error
 *   decided      the transaction is applied, or not needed     settled: answer, refusal or error
 *   decided      the same, a refusal, asked for meanwhile      unread, wallet old
 *   decided      the transaction is refused or in doubt        unread
 *   decided      somebody threw: wallet and rows are not of    unread
 *                one moment, and may show what never was
 *   decided      the same after 12 tries or 8 s                settled: `service_unavailable`
 *
 * `wallet old`: the cached wallet is dropped before the next transaction. A refusal while a write in doubt may still be
 * applied is answered as `service_unavailable`.
 */
export class GroupCommit {
  readonly #partition: CorePartition;
  /** Those that wait for a transaction, `known` or `unread`. */
  readonly #queue: Pending[] = [];
  readonly #byId = new Map<string, Pending>();
  #running = false;
  #cached: { readonly stored: StoredWallet; readonly readAt: number } | undefined;

  constructor(partition: CorePartition) {
    this.#partition = partition;
  }

  get idle(): boolean {
    return !this.#running && this.#queue.length === 0;
  }

  /**
   * Applies the operation exactly once.
   * @throws AppError the operation's own refusal, or `service_unavailable` when the outcome stays unknown
   */
  submit<Answer>(operation: CoreOperation<Answer>): Promise<Answer> {
    let pending = this.#byId.get(operation.id);
    // Bounded: requests that keep joining must not keep the first one waiting for the look that they are owed.
    if (pending === undefined || performance.now() - pending.submittedAt >= TRYING_MS_MAX) {
      pending = this.#enqueue(operation);
      void this.#run();
    } else {
      pending.askedAt = performance.now();
    }
    // Safe: operations with one id are the same operation, so the answer is of its type.
    return pending.promise as Promise<Answer>;
  }

  #enqueue(operation: CoreOperation<unknown>): Pending {
    const { known } = operation;
    const pending: Pending = {
      operation,
      submittedAt: performance.now(),
      askedAt: performance.now(),
      ...Promise.withResolvers<unknown>(),
      state:
        known === undefined
          ? { kind: "unread", isWalletOld: false }
          : { kind: "known", rows: known },
      tries: 0,
      doubtedEtag: undefined,
    };
    this.#byId.set(operation.id, pending);
    this.#queue.push(pending);
    return pending;
  }

  /** Answers the caller. Whoever asks for the same from now on starts an operation of their own. */
  #settle(pending: Pending, outcome: Outcome): void {
    pending.state = { kind: "settled" };
    const { id } = pending.operation;
    if (this.#byId.get(id) === pending) this.#byId.delete(id);
    if (outcome.kind === "answer") pending.resolve(outcome.answer);
    else pending.reject(outcome.error);
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    while (this.#queue.length > 0) {
      const members = this.#queue.splice(0, BATCH_OPERATIONS_MAX);
      try {
        await this.#commit(members);
      } catch (error) {
        this.#cached = undefined;
        for (const pending of members)
          if (!this.#queue.includes(pending)) this.#settle(pending, { kind: "failure", error });
      }
    }
    this.#running = false;
  }

  async #wallet(): Promise<StoredWallet> {
    if (this.#cached !== undefined && performance.now() - this.#cached.readAt < WALLET_CACHE_MS)
      return this.#cached.stored;
    const readAt = performance.now();
    const stored = await this.#partition.readWallet();
    this.#cached = { stored, readAt };
    return stored;
  }

  /** Reads the rows of one; where they can't be read, its caller alone gets the error. */
  async #load(pending: Pending): Promise<void> {
    if (pending.state.kind !== "unread") return;
    const read = async (rowKey: string) => [rowKey, await this.#partition.find(rowKey)] as const;
    try {
      const rows = new Map(await Promise.all(pending.operation.rowKeys.map(read)));
      pending.state = { kind: "read", rows };
    } catch (error) {
      this.#settle(pending, { kind: "failure", error });
    }
  }

  async #commit(members: readonly Pending[]): Promise<void> {
    const isWalletOld = ({ state }: Pending) => state.kind === "unread" && state.isWalletOld;
    if (members.some(isWalletOld)) this.#cached = undefined;
    const stored = await this.#wallet();
    // After the wallet, not beside it: a transaction that its version lets through then rests on rows of that version.
    await Promise.all(members.map((pending) => this.#load(pending)));
    const batch = this.#decideAll(stored, members);
    if (batch.members.some(isTorn)) return this.#again(batch.members);
    if (batch.writers.length > 0 && !(await this.#write(batch))) return;
    for (const pending of batch.members) this.#finish(batch, pending);
  }

  /** Returns whether the batch's changes were applied; where they were not, all of it is to be decided again. */
  async #write(batch: Batch): Promise<boolean> {
    const { stored, wallet } = batch;
    const startedAt = performance.now();
    const result = await this.#partition.transact([
      ...this.#partition.walletWrites(stored, wallet, batch.entries),
      ...batch.overlay.writes(),
    ]);
    this.#partition.onBatch?.(batch.writers.length, result.kind);
    if (result.kind === "applied") {
      const etag = result.etags.get("W");
      this.#cached =
        etag === undefined ? undefined : { stored: { wallet, etag }, readAt: startedAt };
      return true;
    }
    if (result.kind === "in_doubt")
      for (const pending of batch.writers) pending.doubtedEtag = stored.etag;
    await this.#again(batch.members);
    return false;
  }

  #decideAll(stored: StoredWallet, members: readonly Pending[]): Batch {
    const batch: Batch = {
      stored,
      readAt: this.#cached?.readAt ?? 0,
      wallet: stored.wallet,
      overlay: createOverlay(),
      entries: [],
      members: [],
      writers: [],
    };
    const left: Pending[] = [];
    let isFull = false;
    for (const pending of members) {
      const { state } = pending;
      if (state.kind !== "known" && state.kind !== "read") continue;
      if (!isFull) this.#decide(batch, pending, state.rows);
      // Undecided still: it did not fit, and nothing that came after it may go before it.
      isFull ||= pending.state === state;
      // Rows belong to the version of the wallet under which they were read, and that is about to end.
      if (pending.state.kind === "read") pending.state = { kind: "unread", isWalletOld: false };
      if (pending.state.kind === "known" || pending.state.kind === "unread") left.push(pending);
    }
    this.#queue.unshift(...left);
    return batch;
  }

  /** Moves an operation on, unless the transaction is too full for it. */
  #decide(batch: Batch, pending: Pending, rows: Rows): void {
    const now = this.#partition.now();
    let decision: CoreDecision<unknown>;
    let next = { wallet: batch.wallet, entries: [] as LedgerEntry[] };
    try {
      decision = pending.operation.decide({
        wallet: batch.wallet,
        now,
        row: (rowKey) => batch.overlay.see(rowKey, rows.get(rowKey)),
      });
      if (decision.kind === "write") next = applyChange(batch.wallet, decision, now);
    } catch (error) {
      return join(batch, pending, { kind: "failure", error });
    }
    if (decision.kind === "refuse") return this.#refuse(batch, pending, decision.error);
    const { answer } = decision;
    if (decision.kind === "done") return join(batch, pending, { kind: "answer", answer });
    if (!fits(batch, decision.writes, next.entries.length)) {
      if (batch.writers.length > 0) return;
      const error = new Error("invariant broken: an operation is larger than a transaction");
      return this.#settle(pending, { kind: "failure", error });
    }
    join(batch, pending, { kind: "answer", answer });
    batch.writers.push(pending);
    batch.overlay.add(decision.writes);
    batch.wallet = next.wallet;
    batch.entries.push(...next.entries);
  }

  /** Takes a refusal only on a wallet, and rows after it, that were read since the request came. */
  #refuse(batch: Batch, pending: Pending, error: AppError): void {
    if (isOlderThanRequest(batch, pending) || pending.state.kind === "known") {
      pending.state = { kind: "unread", isWalletOld: true };
      return;
    }
    const isDoubted = pending.doubtedEtag === batch.stored.etag;
    join(batch, pending, { kind: "refusal", error: isDoubted ? serviceUnavailable() : error });
  }

  #finish(batch: Batch, pending: Pending): void {
    const { state } = pending;
    if (state.kind !== "decided") return;
    // Somebody may have asked for the same while the transaction was under way.
    if (state.outcome.kind === "refusal" && isOlderThanRequest(batch, pending)) {
      pending.state = { kind: "unread", isWalletOld: true };
      this.#queue.push(pending);
    } else this.#settle(pending, state.outcome);
  }

  /** Reads everything anew and decides again; gives up after a while with an answer that is safe to repeat. */
  async #again(members: readonly Pending[]): Promise<void> {
    this.#cached = undefined;
    const rest: Pending[] = [];
    for (const pending of members) {
      pending.tries += 1;
      pending.state = { kind: "unread", isWalletOld: false };
      const tooLong = performance.now() - pending.submittedAt > TRYING_MS_MAX;
      if (pending.tries >= TRIES_MAX || tooLong)
        this.#settle(pending, { kind: "failure", error: serviceUnavailable() });
      else rest.push(pending);
    }
    const tries = Math.max(0, ...rest.map((pending) => pending.tries));
    const waitMs = Math.random() * Math.min(500, 10 * 2 ** tries);
    if (rest.length > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    this.#queue.unshift(...rest);
  }
}

function join(batch: Batch, pending: Pending, outcome: Outcome): void {
  pending.state = { kind: "decided", outcome };
  batch.members.push(pending);
}

/** Wallet and rows are not read at one moment: together they may show a state that never was. */
function isTorn({ state, tries }: Pending): boolean {
  return state.kind === "decided" && state.outcome.kind === "failure" && tries < TORN_TRIES_MAX;
}

function isOlderThanRequest(batch: Batch, pending: Pending): boolean {
  return pending.askedAt > batch.readAt;
}

function fits(batch: Batch, writes: readonly RowWrite[], entries: number): boolean {
  const rows = batch.overlay.size + batch.entries.length + writes.length + entries + 1;
  const characters = batch.overlay.characters + JSON.stringify(writes).length;
  return (
    rows <= BATCH_ROWS_MAX && (characters <= BATCH_CHARACTERS_MAX || batch.writers.length === 0)
  );
}
