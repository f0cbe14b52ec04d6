import { AppError, serviceUnavailable } from "../runtime/errors.ts";
import {
  InvalidTransaction,
  type RowWrite,
  type TransactionResult,
} from "../runtime/storage/row.ts";
import { Batch } from "./batch.ts";
import { HEAD_KEY, headWrite } from "./head-row.ts";
import {
  goBack,
  isRepeat,
  newPending,
  forgetRows,
  type OperationOutcome,
  type PendingOperation,
} from "./pending.ts";
import { Contest, pause, RACE_PAUSE_MS_MAX } from "./contest.ts";
import type { Head, PartitionOperation } from "./operation.ts";
import type { Partition } from "./partition-store.ts";
import { outsideWork } from "../runtime/telemetry/work-context.ts";
import { RecentMap } from "../runtime/recent-map.ts";

const BATCH_OPERATIONS_MAX = 64;
/** A claim rarely loses its race, and after a successful one most callers need no second transaction. */
const CLAIM_OPERATIONS_MAX = 24;
/** Enough for the busiest minute of a process. */
export const TAKEN_KEYS_MAX = 20_000;
const HEAD_CACHE_MS = 2_000;
/** How often an operation is retried after a transaction of unknown outcome or a torn read. */
const DOUBTS_MAX = 12;
const DOUBT_PAUSE_MS_MAX = 500;
/** The pause after the service was overloaded, and how much longer it is for operations that have not waited yet. */
const BUSY_PAUSE_MS = 50;
const BUSY_PAUSE_MS_MAX = 350;
/** How long an operation is retried. */
const TRYING_MS_MAX = 8_000;

/**
 * Serializes the writes to one platform's partition in this process and writes them together. While one transaction is in
 * flight, the next operations gather. An idle partition is written immediately. Across processes, the head's ETag decides.
 * An answer that is lost, late or wrong is never trusted: the rows are read again and the operations decide again. An
 * operation that storage refuses is taken out of the transaction and fails alone.
 */
export class GroupCommit {
  readonly #partition: Pick<Partition, keyof Partition>;
  readonly #takenKeys: RecentMap<true>;
  readonly #queue: PendingOperation[] = [];
  readonly #byId = new Map<string, PendingOperation>();
  #isDraining = false;
  #cached: { readonly head: Head; readonly readAt: number } | undefined;
  readonly #contest = new Contest(async () => {
    this.#cached = undefined;
    return await this.#head();
  });

  /** `takenKeys`: of rows that this process saw stored recently, of any platform; to believe them absent costs a try. */
  constructor(
    partition: Pick<Partition, keyof Partition>,
    takenKeys = new RecentMap<true>(TAKEN_KEYS_MAX),
  ) {
    this.#partition = partition;
    this.#takenKeys = takenKeys;
  }

  #takenKey(rowKey: string): string {
    return `${this.#partition.platformId}\n${rowKey}`;
  }

  get idle(): boolean {
    return this.#byId.size === 0;
  }

  /**
   * Applies the operation exactly once.
   * @throws AppError the operation's own refusal, or `service_unavailable` when the outcome stays unknown
   */
  submit<Answer>(operation: PartitionOperation<Answer>): Promise<Answer> {
    const earlier = this.#byId.get(operation.id);
    // Limited, because later requests that join must not delay the first one's answer by their own reads.
    if (earlier !== undefined && performance.now() - earlier.submittedAt < TRYING_MS_MAX) {
      earlier.askedAt = performance.now();
      // Safe: operations with the same id are the same operation, with the same type of answer.
      return earlier.promise as Promise<Answer>;
    }
    const isGuessWrong = [...(operation.known ?? [])].some(
      ([rowKey, stored]) => stored === undefined && this.#takenKeys.has(this.#takenKey(rowKey)),
    );
    const pending = newPending(operation, isGuessWrong);
    this.#byId.set(operation.id, pending);
    if (isGuessWrong && isRepeat(pending)) void this.#answerRepeat(pending);
    else void outsideWork(this.#drain, [pending]);
    // Safe as above.
    return pending.promise as Promise<Answer>;
  }

  /**
   * Answers an operation that was done before without a transaction, so that the partition's other operations don't
   * wait for its reads. It has one row, which is conclusive whatever happens to the head meanwhile.
   */
  async #answerRepeat(pending: PendingOperation): Promise<void> {
    const { operation } = pending;
    forgetRows(pending);
    try {
      const read = async (rowKey: string) => [rowKey, await this.#partition.find(rowKey)] as const;
      const [head, ...found] = await Promise.all([
        this.#partition.readHead(),
        ...operation.rowKeys.map(read),
      ]);
      const batch = new Batch(head, performance.now(), () => this.#partition.now());
      const decision = operation.decide(batch.viewOn(new Map(found)), pending.tried);
      if (decision.kind === "done")
        return this.#answer(pending, { kind: "answer", answer: decision.answer });
    } catch {
      // The transaction finds out why.
    }
    void outsideWork(this.#drain, [pending]);
  }

  /** Answers the caller. A later request for the same starts a new operation. */
  #answer(pending: PendingOperation, outcome: OperationOutcome): void {
    pending.state = { kind: "answered" };
    const { id } = pending.operation;
    if (this.#byId.get(id) === pending) this.#byId.delete(id);
    if (outcome.kind === "answer") pending.resolve(outcome.answer);
    else pending.reject(outcome.error);
  }

  #fail(pending: PendingOperation, error: unknown): void {
    this.#answer(pending, { kind: "failure", error });
  }

  /**
   * Writes the queued operations and these, transaction by transaction, until none is left. Call it outside the work that
   * asks: callers' operations may join those of a worker, whose requests to storage would wait.
   */
  readonly #drain = async (more: readonly PendingOperation[]): Promise<void> => {
    this.#queue.push(...more);
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#contest.begin();
    while (this.#queue.length > 0) {
      let members: readonly PendingOperation[] | undefined;
      try {
        let count = BATCH_OPERATIONS_MAX;
        if (!this.#contest.isOurs && !(await this.#contest.untilOurs())) {
          // A claim of the partition writes the operations before the first that needs a read, or one.
          count = CLAIM_OPERATIONS_MAX;
          const slow = this.#queue.findIndex(({ state }) => state.kind !== "known");
          if (slow !== -1) count = Math.min(count, Math.max(1, slow));
        }
        members = this.#take(count);
        await this.#commitBatch(members);
      } catch (error) {
        this.#cached = undefined;
        const open = (members ?? this.#take()).filter((pending) => !this.#queue.includes(pending));
        if (this.#partition.isBusy(error)) {
          this.#contest.tooMuch();
          this.#queue.unshift(...this.#inTime(open));
        } else for (const pending of open) this.#fail(pending, error);
      }
    }
    this.#isDraining = false;
  };

  /** Takes the operations of the next transaction from the queue. */
  #take(count = BATCH_OPERATIONS_MAX): PendingOperation[] {
    const first = this.#queue[0]?.joins;
    const goesAlong = ({ joins }: PendingOperation) =>
      joins === "any" || (joins === "next" && first === joins);
    const barrier = this.#queue.findIndex((pending, index) => index > 0 && !goesAlong(pending));
    const length = first === "alone" ? 1 : barrier === -1 ? BATCH_OPERATIONS_MAX : barrier;
    const members = this.#queue.splice(0, Math.min(length, count));
    for (const pending of members) {
      pending.triedAt ??= performance.now();
      pending.joins = "any";
    }
    return members;
  }

  async #head(): Promise<Head> {
    if (this.#cached !== undefined && performance.now() - this.#cached.readAt < HEAD_CACHE_MS)
      return this.#cached.head;
    const readAt = performance.now();
    const head = await this.#partition.readHead();
    this.#cached = { head, readAt };
    return head;
  }

  /** Reads an operation's rows. If that fails, only its caller gets the error. */
  async #load(pending: PendingOperation, { etag }: Head): Promise<void> {
    const { state, operation } = pending;
    // Rows belong to the version of the head under which they were read.
    const isOfOlderHead = state.kind === "read" && state.etag !== etag;
    if (state.kind !== "unread" && !isOfOlderHead) return;
    const read = async (rowKey: string) => [rowKey, await this.#partition.find(rowKey)] as const;
    try {
      const rows = new Map(await Promise.all(operation.rowKeys.map(read)));
      pending.state = { kind: "read", rows, etag };
    } catch (error) {
      this.#fail(pending, error);
    }
  }

  /** Decides the operations and writes them. Those whose changes are not applied are queued again, or answered. */
  async #commitBatch(members: readonly PendingOperation[]): Promise<void> {
    const isHeadOld = ({ state }: PendingOperation) => state.kind === "unread" && state.isHeadOld;
    if (members.some(isHeadOld)) this.#cached = undefined;
    const head = await this.#head();
    // After the head, not in parallel: a transaction under its version is then decided on rows of that version.
    await Promise.all(members.map((pending) => this.#load(pending, head)));
    const batch = new Batch(head, this.#cached?.readAt ?? 0, () => this.#partition.now());
    this.#queue.unshift(...batch.decideAll(members));
    for (const { pending, error } of batch.unfit) this.#fail(pending, error);
    if (batch.isTorn) return this.#doubt(batch);
    if (batch.writers.length > 0) {
      const { accessVersion, writers } = batch;
      const startedAt = performance.now();
      const writer = this.#contest.lease(writers.length, this.#queue.length);
      batch.overlay.add(this.#partition.alongside(head.rows, batch.viewOn()));
      const writes = [headWrite(head, { accessVersion, writer }), ...batch.overlay.writes()];
      let result: TransactionResult;
      try {
        result = await this.#partition.transact(writes);
      } catch (error) {
        return this.#divide(batch, writes, error);
      }
      this.#partition.onBatch(writers.length, result.kind);
      if (result.kind === "in_doubt") {
        if (result.isBusy === true) this.#contest.tooMuch();
        for (const pending of writers) pending.doubtedEtag = head.etag;
        return this.#doubt(batch);
      }
      if (result.kind === "refused") {
        const outdated = batch.ownersOf(writes, result.at);
        return outdated.length === 0 ? this.#lose(batch) : this.#leaveOut(batch, outdated);
      }
      this.#contest.won(performance.now() - startedAt);
      const etag = result.etags.get(HEAD_KEY);
      const rows = batch.headRows(result.etags);
      this.#cached =
        etag === undefined
          ? etag
          : { head: { accessVersion, writer, etag, rows }, readAt: startedAt };
      this.#remember(writers);
    }
    for (const pending of batch.members) {
      const { state } = pending;
      if (state.kind !== "decided") continue;
      // Another request for the same may have arrived during the transaction.
      if (state.outcome.kind === "refusal" && batch.isOlderThan(pending)) {
        pending.state = { kind: "unread", isHeadOld: true };
        this.#queue.push(pending);
      } else this.#answer(pending, state.outcome);
    }
  }

  /** Remembers that rows which callers assume to be absent exist from now on. */
  #remember(members: readonly PendingOperation[]): void {
    for (const { operation } of members)
      for (const [rowKey, stored] of operation.known ?? [])
        if (stored === undefined) this.#takenKeys.set(this.#takenKey(rowKey), true);
  }

  /** Retries the batch after another process wrote the partition first. */
  async #lose({ members }: Batch): Promise<void> {
    this.#cached = undefined;
    this.#contest.lost();
    // A caller's rows are written under their own condition. Rows that were read belong to the head's old version.
    for (const pending of members) if (!goBack(pending, "known")) forgetRows(pending);
    const rest = this.#inTime(members);
    if (rest.length > 0) await pause(Math.random() * RACE_PAUSE_MS_MAX);
    this.#queue.unshift(...rest);
  }

  /** Retries operations with outdated rows in a later batch, and the others immediately with their rows. */
  #leaveOut({ members }: Batch, outdated: readonly PendingOperation[]): void {
    this.#remember(outdated);
    for (const pending of members) goBack(pending);
    const others = members.filter((pending) => !outdated.includes(pending));
    const changed = outdated.filter((pending) => !isRepeat(pending));
    for (const pending of changed) {
      forgetRows(pending);
      pending.joins = "next";
    }
    this.#queue.unshift(...this.#inTime(others), ...this.#inTime(changed));
    for (const pending of this.#inTime(outdated.filter(isRepeat))) void this.#answerRepeat(pending);
  }

  /** Divides a transaction that storage never accepts, until only the operations that cause it fail. */
  #divide(batch: Batch, writes: readonly RowWrite[], error: unknown): void {
    if (error instanceof AppError) throw error;
    const at = error instanceof InvalidTransaction ? error.at : undefined;
    const owners = batch.ownersOf(writes, at);
    const suspects = owners.length > 0 ? owners : batch.writers;
    const others = batch.members.filter((pending) => !suspects.includes(pending));
    for (const pending of batch.members) goBack(pending);
    if (batch.writers.length === 1) {
      for (const pending of batch.writers) this.#fail(pending, error);
      this.#queue.unshift(...others);
      return;
    }
    for (const pending of suspects) pending.joins = "alone";
    this.#queue.unshift(...others, ...suspects);
  }

  /** Reads all rows and decides again. After a while, it answers with an error that is safe to repeat. */
  async #doubt({ members, isTorn }: Batch): Promise<void> {
    this.#cached = undefined;
    for (const pending of members) {
      // A service that is overloaded says nothing new when it says so again.
      if (!this.#contest.isBusy) pending.doubts += 1;
      // If the write was applied after all, the condition of the caller's rows fails.
      if (isTorn || !goBack(pending, "known")) forgetRows(pending);
    }
    const rest = this.#inTime(members);
    const doubts = Math.max(0, ...rest.map((pending) => pending.doubts));
    const waitMs = this.#contest.isBusy
      ? BUSY_PAUSE_MS + this.#contest.latenessMs(BUSY_PAUSE_MS_MAX)
      : Math.random() * Math.min(DOUBT_PAUSE_MS_MAX, 10 * 2 ** doubts);
    if (rest.length > 0) await pause(waitMs);
    this.#queue.unshift(...rest);
  }

  /** Returns the operations that may be retried, and answers the others with an error that is safe to repeat. */
  #inTime(members: readonly PendingOperation[]): PendingOperation[] {
    return members.filter((pending) => {
      const { triedAt = 0, doubts } = pending;
      const isInTime = doubts < DOUBTS_MAX && performance.now() - triedAt <= TRYING_MS_MAX;
      if (!isInTime) this.#fail(pending, serviceUnavailable());
      return isInTime;
    });
  }
}
