import { heldBy, isHeld, LEASE_COLUMNS } from "../../runtime/lease.ts";
import { LOST, retryLostRaces } from "../../runtime/retry-lost-races.ts";
import { serviceUnavailable } from "../../runtime/errors.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import { rowCodec, text, truth } from "../../runtime/storage/codec.ts";
import type { Row, RowWrite } from "../../runtime/storage/row.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { NetworkAccount } from "./account-store.ts";
import type { PostRef } from "../post.ts";

const LEASE_KEY = "B";
/** The rows of queued legs follow directly after the lease, so that one read has both. */
const QUEUED = "B|";
/** Longer than the message of a called leg usually takes, so that no other leg gets in between. */
const CALLED_MS = 10_000;

/** A leg that waits for its account, and its post. */
export interface QueuedLeg {
  readonly legKey: string;
  readonly ref: PostRef;
}

/** The right to publish to an account, which one leg has at a time. */
export interface AccountLease {
  readonly account: NetworkAccount;
  readonly legKey: string;
  /** Undefined when it is unknown whether the lease was taken. */
  readonly etag: string | undefined;
  /** Whether other legs were already queued when it was taken. */
  readonly isAwaited: boolean;
  /** The end times that its worker has written or tried to write. Another worker of the same leg writes others. */
  readonly ends: Set<string>;
}

export type TakenAccount =
  | { readonly kind: "taken"; readonly lease: AccountLease }
  /** Another leg has the account until then, unless it gives it back or prolongs the lease. */
  | { readonly kind: "queued"; readonly heldUntil: string };

/** Makes the lease of a worker that took the account, or may have. */
export function leaseUntil(account: NetworkAccount, legKey: string, until: string): AccountLease {
  return { account, legKey, etag: undefined, isAwaited: true, ends: new Set([until]) };
}

/** What the tries to give back one account have in common. */
export interface HandOver {
  /** The leg that a try with a lost answer may have called. */
  called?: QueuedLeg;
}

type StoredLease = ReturnType<typeof accountLeaseRow.decode>;

const accountQueuePartition = ({ network, accountId }: NetworkAccount) =>
  `${network}|${sha256Hex(accountId)}`;

/** The leg that has an account, by its key in the lease. */
export const accountLeaseRow = rowCodec("account lease", {
  ...LEASE_COLUMNS,
  isAwaited: truth(),
});

/** A leg that waits for the account. Its key begins with the post's id, so that legs are in the order of acceptance. */
export const queuedLegRow = rowCodec("queued leg", {
  platformId: text(),
  profileId: text(),
  postId: text(),
});

const leaseToRow = (lease: StoredLease): Row => ({
  ...accountLeaseRow.encode(lease),
  rowKey: LEASE_KEY,
});

const isHeldBy = ({ legKey, ends }: AccountLease, stored: StoredLease) =>
  stored.leaseId === legKey && ends.has(stored.leaseUntil ?? "");

/**
 * The queue of each network account, over all tenants that link it (table `accounts`). One leg at a time has the
 * account's lease. The others wait, each with a row of its own, however many they are. A leg that ends calls the first
 * of them, so that a busy account is never idle, and a queued leg costs nothing until it is called.
 *
 * The columns are those of every lease, but it is taken and given back by other writes than those of `Lease`, because
 * it is never free while a leg waits. Giving it back hands it to the next leg, in the transaction that removes that leg
 * from the queue, and any worker of the same leg continues with it.
 *
 * A leg joins the queue and marks the lease's row in one transaction. The worker that gives the account back removes
 * that row only in the version it knows, so it checks again when another leg has joined since.
 */
export class AccountQueueStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Takes the account for a leg. When another leg has it, this leg is queued, and the worker that has the account calls
   * it. A leg that already has the account keeps it, because it was interrupted. After `until` another leg may take it,
   * in case the worker has crashed.
   * @throws AppError `service_unavailable` when it is unknown whether that was done; repeating the call is safe
   */
  take(
    account: NetworkAccount,
    leg: QueuedLeg,
    { now, until }: { readonly now: Date; readonly until: string },
  ): Promise<TakenAccount> {
    const { legKey } = leg;
    const partition = accountQueuePartition(account);
    const takenBy = (etag: string, isAwaited: boolean): TakenAccount => ({
      kind: "taken",
      lease: { ...leaseUntil(account, legKey, until), etag, isAwaited },
    });
    return retryLostRaces(async () => {
      const own = { leaseId: legKey, leaseUntil: until, isAwaited: false };
      const inserted = await this.#table.insertIfAbsent(partition, leaseToRow(own));
      if (inserted !== undefined) return takenBy(inserted, false);
      const stored = await this.#table.find(partition, LEASE_KEY);
      if (stored === undefined) return LOST;
      const lease = accountLeaseRow.decode(stored.row);
      if (lease.leaseId !== legKey && isHeld(lease, now)) {
        const isQueued = await this.#join(partition, leg);
        return isQueued ? { kind: "queued", heldUntil: lease.leaseUntil ?? until } : LOST;
      }
      const taken = leaseToRow({ ...lease, leaseId: legKey, leaseUntil: until });
      const etag = await this.#table.mergeIfUnchanged(partition, taken, stored.etag);
      return etag === undefined ? LOST : takenBy(etag, lease.isAwaited);
    });
  }

  /** Queues the leg. Returns false when the lease is gone. */
  async #join(partition: string, leg: QueuedLeg): Promise<boolean> {
    const row = { ...queuedLegRow.encode(leg.ref), rowKey: QUEUED + leg.legKey };
    const marked = { ...accountLeaseRow.encodePart({ isAwaited: true }), rowKey: LEASE_KEY };
    const result = await this.#table.transact(partition, [
      // In any version, because legs that join at the same time don't disturb each other.
      { kind: "merge", row: marked, etag: "*" },
      { kind: "put", row },
    ]);
    if (result.kind === "in_doubt") throw serviceUnavailable(result.cause);
    return result.kind === "applied";
  }

  /** Prolongs the lease, unless another leg, or another worker of this one, has taken it over. */
  async extend(lease: AccountLease, until: string): Promise<void> {
    lease.ends.add(until);
    await this.#table.update(accountQueuePartition(lease.account), LEASE_KEY, (row) =>
      isHeldBy(lease, accountLeaseRow.decode(row))
        ? accountLeaseRow.encodePart({ leaseUntil: until })
        : undefined,
    );
  }

  /**
   * Gives the account to the first queued leg and returns that leg, to be worked on. Without one, removes the lease.
   * May be repeated with the same `handOver`, however late. It never touches the lease of another leg, or of another
   * worker of the same leg.
   * @throws AppError `service_unavailable` when it is unknown whether that was done
   */
  async release(
    lease: AccountLease,
    now: Date,
    handOver: HandOver = {},
  ): Promise<QueuedLeg | undefined> {
    const { account, legKey, etag, isAwaited } = lease;
    const partition = accountQueuePartition(account);
    const isFirst = handOver.called === undefined && etag !== undefined && !isAwaited;
    if (isFirst && (await this.#table.delete(partition, LEASE_KEY, etag))) return undefined;
    const isOurs = (stored: StoredLease) => isHeldBy(lease, stored);
    return this.#passOn(partition, legKey, { now, handOver, isOurs });
  }

  /** Does what `release` does, for a leg that has ended, whichever worker took the account for it. */
  releaseOf(
    account: NetworkAccount,
    legKey: string,
    now: Date,
    handOver: HandOver = {},
  ): Promise<QueuedLeg | undefined> {
    const isOurs = (stored: StoredLease) => stored.leaseId === legKey;
    return this.#passOn(accountQueuePartition(account), legKey, { now, handOver, isOurs });
  }

  #passOn(
    partition: string,
    legKey: string,
    {
      now,
      handOver,
      isOurs,
    }: {
      readonly now: Date;
      readonly handOver: HandOver;
      readonly isOurs: (stored: StoredLease) => boolean;
    },
  ): Promise<QueuedLeg | undefined> {
    const range = { partitionKey: partition, from: LEASE_KEY, before: afterPrefix(QUEUED) };
    return retryLostRaces(async () => {
      const [first, behind] = await this.#table.list({ ...range, limit: 2 });
      if (first?.row.rowKey !== LEASE_KEY) return undefined;
      const lease = accountLeaseRow.decode(first.row);
      const { etag } = first;
      let next: QueuedLeg | undefined;
      if (behind !== undefined) {
        const { row: queued } = behind;
        const ref = unlessDamaged(() => queuedLegRow.decode(queued));
        next = ref && { legKey: queued.rowKey.slice(QUEUED.length), ref };
        // What the leg itself left while it waited, or a damaged row, whose leg the sweep finds. Others may follow it.
        if (next === undefined || next.legKey === legKey) {
          await this.#table.delete(partition, queued.rowKey);
          return LOST;
        }
      }
      const { called } = handOver;
      // Also when the answer to the call was lost.
      if (lease.leaseId === called?.legKey) return called;
      if (!isOurs(lease)) return undefined;
      if (next === undefined)
        return (await this.#table.delete(partition, LEASE_KEY, etag)) ? undefined : LOST;
      handOver.called = next;
      const row = leaseToRow({ ...lease, ...heldBy(next.legKey, now, CALLED_MS) });
      const writes: RowWrite[] = [
        { kind: "merge", row, etag },
        { kind: "delete", rowKey: QUEUED + next.legKey },
      ];
      return (await this.#table.transact(partition, writes)).kind === "applied" ? next : LOST;
    });
  }
}
