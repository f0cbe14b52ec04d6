import { AppError } from "../runtime/errors.ts";
import { newId } from "../runtime/ids.ts";
import type { Row, RowWrite, StoredRow, TransactionResult } from "../runtime/storage/row.ts";
import { isBusy } from "../runtime/storage/failure.ts";
import { DamagedRow, NewerRow, undefinedIfDamaged } from "../runtime/storage/damaged-row.ts";
import type { Table } from "../runtime/storage/table.ts";
import type { AccessCheck } from "../callers/access-check.ts";
import { checkedCommit, raiseOperation } from "./access-version.ts";
import { budgetReachedOperation, withLowBalance, isAnnounced } from "./alerts.ts";
import type {
  PartitionOperation,
  CorePartition,
  StoredWallet,
  Partitions,
  WrittenWallet,
} from "./operation.ts";
import { GroupCommit, TAKEN_KEYS_MAX } from "./group-commit.ts";
import { RecentMap } from "../runtime/recent-map.ts";
import { entryKey, ledgerRow, walletRow } from "./wallet-row.ts";
import { EMPTY_WALLET, utcDay, type LedgerEntry, type Wallet } from "./wallet.ts";

export const WALLET_KEY = "W";

/** Beyond this many, committers of idle platforms are dropped. */
const COMMITTERS_MAX = 10_000;

/** Effects of wallet changes: events for customers, and metrics for operators. */
export interface WalletAlerts {
  readonly balanceLowTokens: number;
  /** Marks the platform as having open work, before a change of its wallet is written together with an event. */
  mark(platformId: string): Promise<void>;
  /** Follows an event that was written, or may have been. */
  onEvent(platformId: string): void;
  /** Observes each try of a transaction, with the number of its callers. */
  onBatch?(operations: number, outcome: TransactionResult["kind"]): void;
}

/** Returns the second check of the request under way on a platform; undefined when there is none to make. */
type OpenCheck = (platformId: string) => AccessCheck | undefined;

/**
 * The wallet and the ledger of every platform (table `core`). A change of a wallet and its ledger entry are one
 * transaction. Entries are numbered without gaps and never change.
 */
export class WalletStore implements Partitions {
  readonly #core: Table;
  readonly #now: () => Date;
  readonly #alerts: WalletAlerts;
  readonly #openCheckOf: OpenCheck;
  readonly #committers = new Map<string, GroupCommit>();
  readonly #takenKeys = new RecentMap<true>(TAKEN_KEYS_MAX);
  /** The access version of each platform that this process has read or raised last. */
  readonly #versions = new RecentMap<string>(COMMITTERS_MAX);
  /** The day for which this process knows that a platform's `billing.budget_reached` was emitted. */
  readonly #budgetReported = new RecentMap<string>(COMMITTERS_MAX);

  constructor(core: Table, now: () => Date, openCheckOf: OpenCheck, alerts: WalletAlerts) {
    this.#core = core;
    this.#now = now;
    this.#openCheckOf = openCheckOf;
    this.#alerts = alerts;
  }

  /**
   * Applies a change of the platform's partition exactly once, together with other changes under way. The change of a
   * request that writes is refused if the caller's access was taken away since it was checked; that of accepting a post
   * compares the access version itself, and gets no check here.
   */
  async commit<Answer>(platformId: string, operation: PartitionOperation<Answer>): Promise<Answer> {
    try {
      const check = this.#openCheckOf(platformId);
      if (check === undefined) return await this.#submit(platformId, operation);
      return await checkedCommit(check, operation, (one) => this.#submit(platformId, one));
    } catch (error) {
      if (error instanceof AppError) await this.noteRefusal(platformId, error);
      throw error;
    }
  }

  /**
   * Raises the access version of a platform, even of one that has none. Returns the new one, or "", which matches
   * nothing, when a later build has written the wallet.
   */
  async raiseAccess(platformId: string): Promise<string> {
    return (await undefinedIfDamaged(this.#submit(platformId, raiseOperation()))) ?? "";
  }

  /** Returns the access version that this process has read last, if any. It may have been raised since. */
  lastAccessVersion(platformId: string): string | undefined {
    return this.#versions.get(platformId);
  }

  /** Reads the stored access version. It is "", which matches nothing, when there is none. */
  async readAccessVersion(platformId: string): Promise<string> {
    const stored = await undefinedIfDamaged(this.#readStored(platformId));
    return stored?.wallet.accessVersion ?? "";
  }

  /** Records that a spend was refused, and emits `billing.budget_reached` once a day. */
  async noteRefusal(platformId: string, { code }: Pick<AppError, "code">): Promise<void> {
    const day = utcDay(this.#now());
    if (code !== "daily_budget_reached" || this.#budgetReported.get(platformId) === day) return;
    try {
      await this.#submit(platformId, budgetReachedOperation(day));
      this.#budgetReported.set(platformId, day);
    } catch {
      // The refusal is the answer in any case. The next one tries to emit the event again.
    }
  }

  #submit<Answer>(platformId: string, operation: PartitionOperation<Answer>): Promise<Answer> {
    let committer = this.#committers.get(platformId);
    if (committer === undefined) {
      this.#dropQuiet();
      committer = new GroupCommit(this.#partition(platformId), platformId, this.#takenKeys);
      this.#committers.set(platformId, committer);
    }
    return committer.submit(operation);
  }

  #dropQuiet(): void {
    if (this.#committers.size < COMMITTERS_MAX) return;
    for (const [platformId, committer] of this.#committers)
      if (committer.idle) this.#committers.delete(platformId);
  }

  #partition(platformId: string): CorePartition {
    return {
      readWallet: () => this.#readStored(platformId),
      find: (rowKey) => this.#core.find(platformId, rowKey),
      transact: async (writes) => {
        const hasEvent = writes.some(isAnnounced);
        // Before the write, because its answer may be lost, or the process may end.
        if (hasEvent) await this.#alerts.mark(platformId);
        const result = await this.#core.transact(platformId, writes);
        if (result.kind === "applied") this.#noteVersion(platformId, writes);
        if (hasEvent && result.kind !== "refused") this.#alerts.onEvent(platformId);
        return result;
      },
      walletWrites: (from, { wallet: changed, writer }, entries) => {
        const { balanceLowTokens } = this.#alerts;
        const { wallet, writes } = withLowBalance(
          from.wallet,
          changed,
          balanceLowTokens,
          this.#now(),
        );
        return { wallet, writes: [...walletWrites(from, { wallet, writer }, entries), ...writes] };
      },
      now: this.#now,
      isBusy: (error) => error instanceof AppError && isBusy(error.cause),
      onBatch: (operations, outcome) => this.#alerts.onBatch?.(operations, outcome),
    };
  }

  /** Records the access version that a transaction has stored. */
  #noteVersion(platformId: string, writes: readonly RowWrite[]): void {
    for (const write of writes)
      if (write.kind !== "delete" && write.row.rowKey === WALLET_KEY)
        this.#versions.set(platformId, String(write.row["accessVersion"]));
  }

  async #readStored(platformId: string): Promise<StoredWallet> {
    const stored = await this.#core.find(platformId, WALLET_KEY);
    if (stored === undefined) return { wallet: EMPTY_WALLET, writer: null, etag: "" };
    const read = decodeWallet(stored);
    this.#versions.set(platformId, read.wallet.accessVersion);
    return read;
  }

  /** Reads the stored wallet, which is empty for a platform that never had tokens. @throws DamagedRow */
  async read(platformId: string): Promise<Wallet> {
    const { wallet, damage } = await this.#readStored(platformId);
    if (damage !== undefined) throw damage;
    return wallet;
  }
}

/** Decodes a wallet. Of a damaged one it returns the access version, so that access can still be taken away. @throws NewerRow */
function decodeWallet({ row, etag }: StoredRow): StoredWallet {
  try {
    const { writer, ...wallet } = walletRow.decode(row);
    return { wallet, writer, etag };
  } catch (error) {
    if (!(error instanceof DamagedRow) || error instanceof NewerRow) throw error;
    const stored = row["accessVersion"];
    const accessVersion = typeof stored === "string" ? stored : "";
    return { wallet: { ...EMPTY_WALLET, accessVersion }, writer: null, etag, damage: error };
  }
}

function walletWrites(
  from: StoredWallet,
  { wallet: to, writer }: WrittenWallet,
  entries: readonly LedgerEntry[],
): RowWrite[] {
  const columns =
    from.damage === undefined
      ? walletRow.encode({ ...to, writer })
      : walletRow.encodePart({ accessVersion: to.accessVersion });
  const row: Row = { ...columns, rowKey: WALLET_KEY };
  const wallet: RowWrite =
    from.etag === "" ? { kind: "create", row } : { kind: "merge", row, etag: from.etag };
  return [wallet, ...entries.map((entry): RowWrite => ({ kind: "create", row: entryRow(entry) }))];
}

function entryRow(entry: LedgerEntry): Row {
  const id = newId("ledgerEntry", new Date(entry.createdAt));
  const { kind: actorKind, id: actorId } = entry.actor;
  const columns = ledgerRow.encode({ ...entry, id, actorKind, actorId });
  return { ...columns, rowKey: entryKey(entry.sequence) };
}
