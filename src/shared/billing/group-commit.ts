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
  walletWrites(from: StoredWallet, to: Wallet, entries: readonly LedgerRow[]): RowWrite[];
  transact(writes: readonly RowWrite[]): Promise<TransactionResult>;
  now(): Date;
  /** Told of each try to write, for the record only. */
  onBatch?(operations: number, outcome: TransactionResult["kind"]): void;
}

export interface StoredWallet {
  readonly wallet: Wallet;
  /** "" while the platform has no wallet row yet. */
  readonly etag: string;
}

export type LedgerRow = LedgerEntry;

/** What an operation sees: the wallet and its rows, the earlier operations of the same transaction included. */
export interface CoreView {
  readonly wallet: Wallet;
  readonly now: Date;
  readonly row: (rowKey: string) => StoredRow | undefined;
}

export type Decision<Answer> =
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
   * writes under a condition: these are older than the wallet. A refusal is never told on them.
   */
  readonly known?: ReadonlyMap<string, StoredRow | undefined>;
  decide(view: CoreView): Decision<Answer>;
}

interface Pending {
  readonly operation: CoreOperation<unknown>;
  readonly submittedAt: number;
  /** When the last request that shares the answer came. */
  askedAt: number;
  readonly promise: Promise<unknown>;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
  rows: ReadonlyMap<string, StoredRow | undefined> | undefined;
  tries: number;
  /** On a wallet or rows that were older than the request: they are read anew before that is told. */
  isRefused: boolean;
  /** The wallet's version that a write of unknown outcome was conditional on. */
  doubtedEtag: string | undefined;
}

interface Batch {
  readonly stored: StoredWallet;
  /** When `stored` was read, or written by us. */
  readonly readAt: number;
  wallet: Wallet;
  readonly overlay: Overlay;
  readonly entries: LedgerRow[];
  readonly writers: Pending[];
  /** Settled once the transaction is: their decisions rest on what it writes. */
  readonly settle: (() => void)[];
  readonly members: Pending[];
  /** Wallet and rows are not read at one moment: together they may show a state that never was. */
  isTorn: boolean;
}

/** `full`: it does not fit into this transaction any more. `stale`: it was refused on what is older than its request. */
type Placing = "decided" | "full" | "stale";

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
 */
export class GroupCommit {
  readonly #partition: CorePartition;
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
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const forget = () => {
      if (this.#byId.get(operation.id) === pending) this.#byId.delete(operation.id);
    };
    const pending: Pending = {
      operation,
      submittedAt: performance.now(),
      askedAt: performance.now(),
      promise,
      resolve: (answer) => {
        forget();
        resolve(answer);
      },
      reject: (error) => {
        forget();
        reject(error);
      },
      rows: operation.known,
      tries: 0,
      isRefused: false,
      doubtedEtag: undefined,
    };
    this.#byId.set(operation.id, pending);
    this.#queue.push(pending);
    return pending;
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
        for (const pending of members) if (!this.#queue.includes(pending)) pending.reject(error);
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

  /** Whoever's rows can't be read is told so; the others go on. */
  async #load(pending: Pending): Promise<void> {
    if (pending.rows !== undefined) return;
    const read = async (rowKey: string) => [rowKey, await this.#partition.find(rowKey)] as const;
    try {
      pending.rows = new Map(await Promise.all(pending.operation.rowKeys.map(read)));
    } catch (error) {
      pending.reject(error);
    }
  }

  async #commit(members: readonly Pending[]): Promise<void> {
    if (members.some((pending) => pending.isRefused)) this.#cached = undefined;
    const stored = await this.#wallet();
    // After the wallet, not beside it: a transaction that its version lets through then rests on rows of that version.
    await Promise.all(members.map((pending) => this.#load(pending)));
    const loaded = members.filter((pending) => pending.rows !== undefined);
    const batch = this.#decideAll(stored, loaded);
    if (batch.isTorn) return this.#again(batch.members);
    if (batch.writers.length > 0 && !(await this.#write(batch))) return;
    for (const settle of batch.settle) settle();
  }

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
      writers: [],
      settle: [],
      members: [],
      isTorn: false,
    };
    const left: Pending[] = [];
    let isFull = false;
    for (const pending of members) {
      const placing: Placing = isFull ? "full" : this.#decide(batch, pending);
      if (placing === "decided") continue;
      isFull ||= placing === "full";
      left.push(pending);
      // Rows belong to the version of the wallet under which they were read, and that is about to end.
      if (placing === "stale" || pending.rows !== pending.operation.known) pending.rows = undefined;
    }
    this.#queue.unshift(...left);
    return batch;
  }

  #decide(batch: Batch, pending: Pending): Placing {
    const { operation } = pending;
    const now = this.#partition.now();
    let decision: Decision<unknown>;
    let next = { wallet: batch.wallet, entries: [] as LedgerRow[] };
    try {
      decision = operation.decide({
        wallet: batch.wallet,
        now,
        row: (rowKey) => batch.overlay.see(rowKey, pending.rows?.get(rowKey)),
      });
      if (decision.kind === "write") next = applyChange(batch.wallet, decision, now);
    } catch (error) {
      batch.isTorn ||= pending.tries < TORN_TRIES_MAX;
      batch.members.push(pending);
      batch.settle.push(() => pending.reject(error));
      return "decided";
    }
    if (decision.kind === "write" && !fits(batch, decision.writes, next.entries.length)) {
      if (batch.writers.length > 0) return "full";
      pending.reject(new Error("invariant broken: an operation is larger than a transaction"));
      return "decided";
    }
    if (decision.kind === "refuse") return this.#refuse(batch, pending, decision.error);
    batch.members.push(pending);
    switch (decision.kind) {
      case "write": {
        const { answer } = decision;
        batch.writers.push(pending);
        batch.overlay.add(decision.writes);
        batch.wallet = next.wallet;
        batch.entries.push(...next.entries);
        batch.settle.push(() => pending.resolve(answer));
        return "decided";
      }
      case "done": {
        const { answer } = decision;
        batch.settle.push(() => pending.resolve(answer));
        return "decided";
      }
    }
  }

  /** A refusal is told only on a wallet, and rows after it, that were read since the request came. */
  #refuse(batch: Batch, pending: Pending, error: AppError): Placing {
    const isStale = () => pending.askedAt > batch.readAt;
    if (isStale() || pending.rows === pending.operation.known) {
      pending.isRefused = true;
      return "stale";
    }
    const isDoubted = pending.doubtedEtag === batch.stored.etag;
    batch.members.push(pending);
    batch.settle.push(() => {
      // Somebody may have asked for the same while the transaction was under way.
      if (isStale()) this.#lookAgain(pending);
      else pending.reject(isDoubted ? serviceUnavailable() : error);
    });
    return "decided";
  }

  #lookAgain(pending: Pending): void {
    pending.isRefused = true;
    pending.rows = undefined;
    this.#queue.push(pending);
  }

  /** Reads everything anew and decides again; gives up after a while with an answer that is safe to repeat. */
  async #again(members: readonly Pending[]): Promise<void> {
    this.#cached = undefined;
    const rest: Pending[] = [];
    for (const pending of members) {
      pending.tries += 1;
      pending.rows = undefined;
      const tooLong = performance.now() - pending.submittedAt > TRYING_MS_MAX;
      if (pending.tries >= TRIES_MAX || tooLong) pending.reject(serviceUnavailable());
      else rest.push(pending);
    }
    const tries = Math.max(0, ...rest.map((pending) => pending.tries));
    const waitMs = Math.random() * Math.min(500, 10 * 2 ** tries);
    if (rest.length > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    this.#queue.unshift(...rest);
  }
}

function fits(batch: Batch, writes: readonly RowWrite[], entries: number): boolean {
  const rows = batch.overlay.size + batch.entries.length + writes.length + entries + 1;
  const characters = batch.overlay.characters + JSON.stringify(writes).length;
  return (
    rows <= BATCH_ROWS_MAX && (characters <= BATCH_CHARACTERS_MAX || batch.writers.length === 0)
  );
}
