import { isAnnounced } from "../events/events.ts";
import { AppError } from "../runtime/errors.ts";
import type { RecentMap } from "../runtime/recent-map.ts";
import { isOverloaded } from "../runtime/storage/failure.ts";
import type { RowWrite, StoredRow, TransactionResult } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { AFTER_HEAD_ROWS, HEAD_KEY, headRow, toHead } from "./head-row.ts";
import type { Head, PartitionView } from "./operation.ts";

/** More rows than are read with the head. */
const HEAD_ROWS_MAX = 10;

/** What a process does with the transactions of partitions, in addition to writing them. */
export interface PartitionHooks {
  /** Returns what a transaction writes in addition, because of what it changes in the rows of the head. */
  alongside(before: Head["rows"], after: PartitionView): readonly RowWrite[];
  /** Marks the platform as having open work, before a transaction that writes an announced event. */
  mark(platformId: string): Promise<void>;
  /** Follows an announced event that was written, or may have been. */
  onEvent(platformId: string): void;
  /** Observes each try of a transaction, with the number of its callers. */
  onBatch?(operations: number, outcome: TransactionResult["kind"]): void;
}

/** What the partitions of a process have in common. */
export interface PartitionParts {
  readonly core: Table;
  readonly now: () => Date;
  readonly hooks: PartitionHooks;
  /** The access version of each platform that this process has read or raised last. */
  readonly versions: RecentMap<string>;
}

/** The partition of one platform (table `core`), as the group commit reads and writes it. */
export class Partition {
  readonly platformId: string;
  readonly #parts: PartitionParts;

  constructor(platformId: string, parts: PartitionParts) {
    this.platformId = platformId;
    this.#parts = parts;
  }

  now(): Date {
    return this.#parts.now();
  }

  /** Reads the head and the rows that belong to it, in one request. @throws DamagedRow when the head is damaged */
  async readHead(): Promise<Head> {
    const range = { from: HEAD_KEY, before: AFTER_HEAD_ROWS, limit: HEAD_ROWS_MAX };
    const rows = await this.#parts.core.list({ partitionKey: this.platformId, ...range });
    const head = toHead(rows);
    this.#parts.versions.set(this.platformId, head.accessVersion);
    return head;
  }

  /** Reads the access version alone: "" when there is none. @throws DamagedRow when the head is damaged */
  async readAccessVersion(): Promise<string> {
    const stored = await this.find(HEAD_KEY);
    const version = stored === undefined ? "" : headRow.decode(stored.row).accessVersion;
    this.#parts.versions.set(this.platformId, version);
    return version;
  }

  find(rowKey: string): Promise<StoredRow | undefined> {
    return this.#parts.core.find(this.platformId, rowKey);
  }

  /** Returns what a transaction writes in addition, because of what it changes in the rows of the head. */
  alongside(before: Head["rows"], after: PartitionView): readonly RowWrite[] {
    return this.#parts.hooks.alongside(before, after);
  }

  /** Writes a transaction, and makes sure that somebody delivers its events. */
  async transact(writes: readonly RowWrite[]): Promise<TransactionResult> {
    const { core, hooks, versions } = this.#parts;
    const isAnnouncing = writes.some(isAnnounced);
    // Before the write, because its answer may be lost, or the process may end.
    if (isAnnouncing) await hooks.mark(this.platformId);
    const result = await core.transact(this.platformId, writes);
    if (result.kind === "applied")
      for (const write of writes)
        if (write.kind !== "delete" && write.row.rowKey === HEAD_KEY)
          versions.set(this.platformId, String(write.row["accessVersion"]));
    if (isAnnouncing && result.kind !== "refused") hooks.onEvent(this.platformId);
    return result;
  }

  /** Reports whether a read failed because storage was overloaded. */
  isBusy(error: unknown): boolean {
    return error instanceof AppError && isOverloaded(error.cause);
  }

  /** Observes a try of a transaction, for metrics. */
  onBatch(operations: number, outcome: TransactionResult["kind"]): void {
    this.#parts.hooks.onBatch?.(operations, outcome);
  }
}
