import { AsyncLocalStorage } from "node:async_hooks";
import type { Walk } from "../../../src/shared/background/walk.ts";
import { WALKS } from "../../../src/shared/background/walks.ts";
import type { PartitionOperation } from "../../../src/shared/partition/partition.ts";
import { ENTRY_ROWS, WALLET_KEY } from "../../../src/shared/ledger/wallet-row.ts";
import type { Services } from "../../../src/shared/compose.ts";
import { CONNECTION_INDEXES } from "../../../src/shared/connections/connection-index.ts";
import type { Leg } from "../../../src/shared/publishing/leg.ts";
import type { PostOperation } from "../../../src/shared/publishing/post-change.ts";
import { applicationPostRow, scheduledPostRow } from "../../../src/shared/publishing/post-index.ts";
import { toLeg, toLegRow, toPost, toPostRow } from "../../../src/shared/publishing/post-row.ts";
import { postKey } from "../../../src/shared/publishing/post-store.ts";
import type { Post, PostRef } from "../../../src/shared/publishing/post.ts";
import {
  keyOfWrite,
  type RowWrite,
  type StoredRow,
  type TransactionResult,
} from "../../../src/shared/runtime/storage/row.ts";
import { profileNameKey } from "../../../src/shared/tenants/profiles/profile-store.ts";
import { unlessDamaged } from "../../../src/shared/runtime/storage/damaged-row.ts";
import { Table } from "../../../src/shared/runtime/storage/table.ts";
import type { WakeKind, WakeRange, Wakes } from "../../../src/shared/wake/wake.ts";
import { replaceIn } from "../../setup/replace-in.ts";
import type { Mutant } from "./mutant.ts";

/* Ways to take a safeguard away, without a switch in the product: other verbs of its modules, or faults of storage. */

/** The store with other methods in the place of some. `Reflect` because its own fields are out of reach. */
export function withMethods<Store extends object>(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const changed: unknown = Reflect.get(methods, name);
      if (changed !== undefined) return changed;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** The partitions with another way to commit. */
export function committing(
  services: Services,
  change: <T>(operation: PartitionOperation<T>) => PartitionOperation<T>,
): void {
  replaceIn(services.ledger.partitions, (former) => ({
    commit: (platformId, operation) => former.commit(platformId, change(operation)),
  }));
}

type See = (row: StoredRow | undefined, rowKey: string) => StoredRow | undefined;

/** Returns the operation with another view of the rows that it decides on. */
export const seeing = <T>(operation: PartitionOperation<T>, see: See): PartitionOperation<T> => ({
  ...operation,
  decide: (view, tried) =>
    operation.decide({ ...view, row: (key) => see(view.row(key), key) }, tried),
});

/** Returns the operation with other writes where it decides to write. */
export const writing = <T>(
  operation: PartitionOperation<T>,
  change: (writes: readonly RowWrite[]) => readonly RowWrite[],
): PartitionOperation<T> => ({
  ...operation,
  decide(view, tried) {
    const decision = operation.decide(view, tried);
    return decision.kind === "write" ? { ...decision, writes: change(decision.writes) } : decision;
  },
});

/** Returns whether the row says that the operation was applied before: it reads it to find out. */
export const isOwnRow = ({ rowKeys }: PartitionOperation<unknown>, write: RowWrite) =>
  rowKeys.includes(keyOfWrite(write));

/** Returns whether the write is of the wallet or its ledger. */
const isOfWallet = (write: RowWrite) =>
  keyOfWrite(write) === WALLET_KEY || keyOfWrite(write).startsWith(ENTRY_ROWS);

const listings = new Set<string>();

/** Returns whether the write is of a row that lists a post. One that is deleted was written before. */
export function isListing(write: RowWrite): boolean {
  const rowKey = keyOfWrite(write);
  if (write.kind === "delete") return listings.has(rowKey);
  // The other lists have these columns, and more.
  const isOne = unlessDamaged(() => scheduledPostRow.decode(write.row)) !== undefined;
  if (isOne) listings.add(rowKey);
  return isOne;
}

/** Returns whether the write lists a scheduled post by its time. Other lists have more columns. */
export const isScheduling = (write: RowWrite): boolean =>
  write.kind !== "delete" &&
  isListing(write) &&
  unlessDamaged(() => applicationPostRow.decode(write.row)) === undefined;

/** Returns whether a write is of a row whose key begins as this one, which needs no more than the kind of row. */
const isOfKindOf = (rowKey: string) => (write: RowWrite) =>
  keyOfWrite(write).startsWith(rowKey.slice(0, rowKey.indexOf("|") + 1));

/** Return whether the write is of a row that lists a connection, that lists one that needs attention, or that names a profile. */
export const isListingAccount = isOfKindOf(CONNECTION_INDEXES.application.prefix(""));
export const isListingAttention = isOfKindOf(CONNECTION_INDEXES.attention.prefix(""));
export const isNaming = isOfKindOf(profileNameKey({ id: "", applicationId: "" }, ""));

/** The partitions without the writes of a kind in what operations decide. */
export const dropping = (services: Services, isDropped: (write: RowWrite) => boolean): void =>
  committing(services, (operation) =>
    writing(operation, (writes) => writes.filter((write) => !isDropped(write))),
  );

/** Returns an operation that writes whatever row says that another one came first. */
export const overwriting = <T>(operation: PartitionOperation<T>): PartitionOperation<T> =>
  writing(operation, (writes) =>
    // Safe: the table puts rows; a commit of the product never does.
    writes.map((write) =>
      isOwnRow(operation, write) ? ({ ...write, kind: "put" } as never) : write,
    ),
  );

/** The partitions with the operations of a kind in two transactions, the second of which has these writes. */
export function committingApart(
  services: Services,
  kind: string,
  isLater: (write: RowWrite, operation: PartitionOperation<unknown>) => boolean,
): void {
  // Tokens are spent or returned in the first.
  const isLaterRow = (write: RowWrite, operation: PartitionOperation<unknown>) =>
    !isOfWallet(write) && isLater(write, operation);
  const committing = async <T>(
    partitions: Services["ledger"]["partitions"],
    platformId: string,
    operation: PartitionOperation<T>,
  ): Promise<T> => {
    if (!operation.id.startsWith(kind)) return await partitions.commit(platformId, operation);
    let later: readonly RowWrite[] = [];
    const first = writing(operation, (writes) => {
      later = writes.filter((write) => isLaterRow(write, operation));
      return writes.filter((write) => !isLaterRow(write, operation));
    });
    const answer = await partitions.commit(platformId, first);
    const decision = { kind: "write", writes: later, answer: undefined } as const;
    const second = { id: `${operation.id}|later`, rowKeys: [], decide: () => decision };
    if (later.length > 0) await partitions.commit(platformId, second);
    return answer;
  };
  replaceIn(services.ledger.partitions, (former) => ({
    commit: (platformId, operation) => committing(former, platformId, operation),
  }));
}

/** The operations of a kind with another view of the post that they change. */
export const seeingPost =
  (kind: string, see: (post: Post, id: string) => Post) =>
  <T>(operation: PartitionOperation<T>): PartitionOperation<T> => {
    if (!operation.id.startsWith(kind)) return operation;
    // Safe: operations of these kinds are a post's.
    const { ref } = operation as PostOperation<T>;
    return seeing(operation, (found, key) => {
      if (found === undefined || key !== postKey(ref)) return found;
      const post = see(toPost(ref.platformId, found.row), operation.id);
      return { row: toPostRow(key, post), etag: found.etag };
    });
  };

/** The posts with other ways to write a leg, of which the worker that writes it learns nothing. */
export function writingLegs(
  services: Services,
  change: (leg: Leg, write: LegWrite) => Promise<readonly [leg: Leg, etag: string]>,
): void {
  replaceIn(services.publishing.stores.posts, (posts) => ({
    replaceLegIfUnchanged: async (ref, leg, etag) => {
      const changed = await change(leg, { ref, etag, posts });
      const written = await posts.replaceLegIfUnchanged(ref, ...changed);
      return written && { leg, etag: written.etag };
    },
  }));
}

interface LegWrite {
  readonly ref: PostRef;
  readonly etag: string;
  readonly posts: Services["publishing"]["stores"]["posts"];
}

/** The operations of a kind with other legs in what they write. */
export const writingLegsOf =
  (kind: string, change: (leg: Leg) => Leg) =>
  <T>(operation: PartitionOperation<T>): PartitionOperation<T> => {
    if (!operation.id.startsWith(kind)) return operation;
    return writing(operation, (writes) =>
      writes.map((write) => {
        if (write.kind !== "merge") return write;
        const { row } = write;
        const leg = unlessDamaged(() => toLeg(row));
        return leg === undefined ? write : { ...write, row: toLegRow(row.rowKey, change(leg)) };
      }),
    );
  };

export const lastOf = (id: string) => id.split("|").at(-1) ?? "";

/** For the time of a run, every table with another way to do one thing. */
export function withTable<Name extends "find" | "transact" | "list" | "select">(
  name: Name,
  change: (
    original: Table[Name],
  ) => (this: Table, ...given: Parameters<Table[Name]>) => ReturnType<Table[Name]>,
): () => void {
  const original = Table.prototype[name];
  Object.assign(Table.prototype, { [name]: change(original) });
  return () => void Object.assign(Table.prototype, { [name]: original });
}

/** For the time of a run, transactions that end otherwise than storage says. */
export const withResults = (
  change: (made: Promise<TransactionResult>) => Promise<TransactionResult>,
): (() => void) =>
  withTable(
    "transact",
    (transact) =>
      function (this: Table, ...given) {
        return change(transact.apply(this, given));
      },
  );

const folding = new AsyncLocalStorage<true>();

/** A mutant whose processes use tables in another way while they add a ledger to its totals. */
export const folded = <Name extends "transact" | "list">(
  name: Name,
  change: (original: Table[Name], ...given: Parameters<Table[Name]>) => ReturnType<Table[Name]>,
): Pick<Mutant, "services" | "install"> => ({
  services({ ledger: { stores } }) {
    replaceIn(stores.ledger, (former) => ({
      fold: (...given) => folding.run(true, () => former.fold(...given)),
    }));
  },
  install: () =>
    withTable(
      name,
      (original) =>
        function (this: Table, ...given) {
          // Safe: a method of the table, bound to it.
          const own = (original as (...all: unknown[]) => unknown).bind(this) as Table[Name];
          return folding.getStore() === true
            ? change(own, ...given)
            : Reflect.apply(own, this, given);
        },
    ),
});

type WakePage = Awaited<ReturnType<Wakes["list"]>>;

/** The wake index with other pages of a kind. */
export function listing(
  { webhooks: { wakes } }: Services,
  kind: WakeKind,
  change: (page: WakePage, range: WakeRange) => WakePage,
): void {
  replaceIn(wakes, (former) => ({
    list: async (asked, range, after) => {
      const page = await former.list(asked, range, after);
      return asked === kind ? change(page, range) : page;
    },
  }));
}

/** For the time of a run, walks whose names begin so with other steps. */
export function withWalk(
  name: string,
  change: (begin: Walk["begin"], walk: string) => Walk["begin"],
) {
  const walks = WALKS.filter((walk) => walk.name.startsWith(name));
  const restore = walks.map((walk) => {
    const { ...before } = walk;
    const begin: Walk["begin"] = (services, system) => before.begin(services, system);
    Object.assign(walk, { begin: change(begin, walk.name) });
    return () => Object.assign(walk, before);
  });
  return () => {
    for (const one of restore) one();
  };
}

let asked = 0;
export const unshared = <T>(operation: PartitionOperation<T>): PartitionOperation<T> => {
  asked += 1;
  return { ...operation, id: `${operation.id}|${asked}` };
};

/** In every process, waits of the product that are no longer than a pause after a lost race with another length. */
export function withPauses(change: (ms: number) => number): void {
  const set = globalThis.setTimeout;
  if (!changedTimers.has(set)) {
    const changed = (run: () => void, ms = 0) =>
      set(run, ms > 0 && ms <= PAUSE_MS ? change(ms) : ms);
    changedTimers.add(changed);
    // Put back with all other timers when the run is over.
    Object.assign(globalThis, { setTimeout: changed });
  }
}

const PAUSE_MS = 40;
const changedTimers = new WeakSet<object>();
