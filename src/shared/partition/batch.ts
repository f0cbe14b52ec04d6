import { serviceUnavailable, invariant } from "../runtime/errors.ts";
import { keyOfWrite, type RowWrite, type StoredRow, type Row } from "../runtime/storage/row.ts";
import { isHeadRow } from "./head-row.ts";
import type { Head, PartitionDecision, PartitionView } from "./operation.ts";
import type { OperationOutcome, PendingOperation, DecidableRows } from "./pending.ts";

function mergeRows(first: Row, second: Row): Row {
  return { ...first, ...second };
}

/** Merges two writes of one row: the condition of the first, and the content of the second. */
function combine(first: RowWrite, second: RowWrite): RowWrite | undefined {
  if (first.kind === "delete") {
    invariant(second.kind === "create", "a row is changed after it was deleted");
    // Like a delete, it requires that the row exists, in any version.
    return { kind: "replace", row: second.row, etag: "*" };
  }
  if (second.kind === "delete") return first.kind === "create" ? undefined : second;
  invariant(second.kind !== "create", "a row is created twice");
  const row = second.kind === "merge" ? mergeRows(first.row, second.row) : second.row;
  if (first.kind === "create") return { kind: "create", row };
  const kind = second.kind === "merge" ? first.kind : "replace";
  return { kind, row, etag: first.etag };
}

/** Creates a view of the rows that a transaction writes, as later operations of the transaction see them. */
export function createOverlay() {
  const byKey = new Map<string, RowWrite>();
  let characters = 0;
  return {
    get size() {
      return byKey.size;
    },
    get characters() {
      return characters;
    },
    has: (rowKey: string) => byKey.has(rowKey),
    /** Returns the row as it will be. `stored` is the row as it was read. */
    see(rowKey: string, stored: StoredRow | undefined): StoredRow | undefined {
      const write = byKey.get(rowKey);
      if (write === undefined) return stored;
      if (write.kind === "delete") return undefined;
      const etag = write.kind === "create" ? "" : write.etag;
      if (write.kind !== "merge") return { row: write.row, etag };
      return stored === undefined ? undefined : { row: mergeRows(stored.row, write.row), etag };
    },
    add(writes: readonly RowWrite[]): void {
      characters += JSON.stringify(writes).length;
      for (const write of writes) {
        const earlier = byKey.get(keyOfWrite(write));
        const combined = earlier === undefined ? write : combine(earlier, write);
        if (combined === undefined) byKey.delete(keyOfWrite(write));
        else byKey.set(keyOfWrite(write), combined);
      }
    },
    writes: () => [...byKey.values()],
  };
}

/** The service's limit is 100, and the event of a low balance comes on top. */
const BATCH_ROWS_MAX = 98;
/** The service's limit is 4 MiB, including the framing. */
const BATCH_CHARACTERS_MAX = 1024 * 1024;
/** If a rule is broken on this many reads, the cause is a defect and not a torn read. */
const TORN_TRIES_MAX = 3;

/** Operations that are decided in order, each on the result of the earlier ones, and then written together. */
export class Batch {
  readonly head: Head;
  accessVersion: string;
  readonly overlay = createOverlay();
  /** The decided operations, whose outcomes depend on the transaction. */
  readonly members: PendingOperation[] = [];
  readonly writers: PendingOperation[] = [];
  /** Operations that are too large for any transaction. */
  readonly unfit: { readonly pending: PendingOperation; readonly error: Error }[] = [];
  /** When the head was read, or written by this process. */
  readonly #readAt: number;
  readonly #now: () => Date;
  readonly #owners = new Map<string, PendingOperation[]>();

  constructor(head: Head, readAt: number, now: () => Date) {
    this.head = head;
    this.accessVersion = head.accessVersion;
    this.#readAt = readAt;
    this.#now = now;
  }

  /** Whether the read is torn: head and rows are read at different times and may show a state that never existed. */
  get isTorn(): boolean {
    return this.members.some(
      ({ state, doubts }) =>
        state.kind === "decided" && state.outcome.kind === "failure" && doubts < TORN_TRIES_MAX,
    );
  }

  isOlderThan({ askedAt }: PendingOperation): boolean {
    return askedAt > this.#readAt;
  }

  /** Decides the operations in turn. Returns those that are left for a later batch. */
  decideAll(pendings: readonly PendingOperation[]): PendingOperation[] {
    const left: PendingOperation[] = [];
    let isFull = false;
    for (const pending of pendings) {
      const { state } = pending;
      if (state.kind !== "known" && state.kind !== "read") continue;
      const isUnfit = !isFull && !this.#decide(pending, state);
      if (isUnfit) continue;
      // It did not fit and stays undecided. No later operation may overtake it.
      isFull ||= pending.state === state;
      // Rows belong to the head's version under which they were read, and this transaction replaces that version.
      if (pending.state.kind === "read") pending.state = { kind: "unread", isHeadOld: false };
      if (pending.state.kind === "known" || pending.state.kind === "unread") left.push(pending);
    }
    return left;
  }

  /** Returns what an operation after all of these sees of the head and of its rows. */
  viewOn(rows?: ReadonlyMap<string, StoredRow | undefined>): PartitionView {
    const { accessVersion, overlay, head } = this;
    const row = (rowKey: string) => overlay.see(rowKey, head.rows.get(rowKey) ?? rows?.get(rowKey));
    return { accessVersion, now: this.#now(), row };
  }

  /** Returns the rows of the head with the versions that the transaction has given them. */
  headRows(etags: ReadonlyMap<string, string>): Map<string, StoredRow> {
    const rows = new Map(this.head.rows);
    for (const write of this.overlay.writes()) {
      const rowKey = keyOfWrite(write);
      if (!isHeadRow(rowKey)) continue;
      const after = this.overlay.see(rowKey, rows.get(rowKey));
      if (after === undefined) rows.delete(rowKey);
      else rows.set(rowKey, { ...after, etag: etags.get(rowKey) ?? after.etag });
    }
    return rows;
  }

  /** Returns the operations that wrote this row, or none for a row of the head, which is read again with it. */
  ownersOf(writes: readonly RowWrite[], at: number | undefined): readonly PendingOperation[] {
    const write = at === undefined ? undefined : writes[at];
    return (write === undefined ? undefined : this.#owners.get(keyOfWrite(write))) ?? [];
  }

  /** Decides an operation if it fits into the transaction. Returns false when it fits into none. */
  #decide(pending: PendingOperation, basis: DecidableRows): boolean {
    let decision: PartitionDecision<unknown>;
    try {
      decision = pending.operation.decide(this.viewOn(basis.rows), pending.tried);
    } catch (error) {
      // The caller's rows may be older than the head, and together they show a state that never existed.
      if (basis.kind === "known") pending.state = { kind: "unread", isHeadOld: true };
      else this.#join(pending, basis, { kind: "failure", error });
      return true;
    }
    if (decision.kind === "refuse") {
      this.#refuse(pending, basis, decision.error);
      return true;
    }
    if (decision.kind === "write") {
      const { writes } = decision;
      const more = writes.filter((write) => !this.overlay.has(keyOfWrite(write))).length;
      const characters = this.overlay.characters + JSON.stringify(writes).length;
      const isFirst = this.writers.length === 0;
      if (
        this.overlay.size + more + 1 > BATCH_ROWS_MAX ||
        (characters > BATCH_CHARACTERS_MAX && !isFirst)
      ) {
        if (!isFirst) return true;
        const error = new Error("invariant broken: an operation is larger than a transaction");
        this.unfit.push({ pending, error });
        return false;
      }
      this.writers.push(pending);
      pending.tried = decision;
      this.overlay.add(writes);
      for (const rowKey of writes.map(keyOfWrite))
        if (!isHeadRow(rowKey))
          this.#owners.set(rowKey, [...(this.#owners.get(rowKey) ?? []), pending]);
      this.accessVersion = decision.accessVersion ?? this.accessVersion;
    }
    this.#join(pending, basis, { kind: "answer", answer: decision.answer });
    return true;
  }

  #join(pending: PendingOperation, basis: DecidableRows, outcome: OperationOutcome): void {
    pending.state = { kind: "decided", outcome, basis };
    this.members.push(pending);
  }

  /** Accepts a refusal only when head and rows were read after the request arrived. */
  #refuse(pending: PendingOperation, basis: DecidableRows, error: Error): void {
    if (this.isOlderThan(pending) || basis.kind === "known") {
      pending.state = { kind: "unread", isHeadOld: true };
      return;
    }
    const isDoubted = pending.doubtedEtag === this.head.etag;
    const answered = isDoubted ? serviceUnavailable() : error;
    this.#join(pending, basis, { kind: "refusal", error: answered });
  }
}
