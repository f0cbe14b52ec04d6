import type { Walk } from "../../src/shared/background/walk.ts";
import { WALKS } from "../../src/shared/background/walks.ts";
import type { CoreOperation } from "../../src/shared/billing/core-operation.ts";
import type { Services } from "../../src/shared/compose.ts";
import type { StoredRow, TransactionResult } from "../../src/shared/runtime/storage/row.ts";
import { Table } from "../../src/shared/runtime/storage/table.ts";
import type { Action } from "../model/table-model.ts";

/* Ways to take a safeguard away, without a switch in the product. */

export const isLegKey = (rowKey: string) =>
  rowKey.startsWith("P|") && rowKey.split("|").length === 5;
export const isMoney = ({ rowKey }: Action) => rowKey === "W" || /^[LO]\|/.test(rowKey);
export const isIdempotency = ({ rowKey }: Action) => rowKey.startsWith("I|");
export const isMarker = ({ rowKey }: Action) => rowKey.startsWith("O|");

/** The first part, then the second, as transactions of their own. */
export function apart(
  actions: readonly Action[],
  isLater: (action: Action) => boolean,
): Action[][] {
  const first = actions.filter((action) => !isLater(action));
  return [first, actions.filter(isLater)].filter((part) => part.length > 0);
}

export const each =
  (change: (action: Action) => Action) => (table: string, actions: readonly Action[]) =>
    table === "core" ? [actions.map(change)] : [actions];

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

/** The wallets with another way to commit. */
export function committing(
  services: Services,
  change: <T>(operation: CoreOperation<T>) => CoreOperation<T>,
): Services {
  const { wallets } = services;
  const commit = <T>(platformId: string, operation: CoreOperation<T>) =>
    wallets.commit(platformId, change(operation));
  return { ...services, wallets: withMethods(wallets, { commit }) };
}

/** Operations of that kind, with what they see of rows changed. */
export const seeing =
  (kind: string, see: (row: StoredRow, id: string) => StoredRow | undefined) =>
  <T>(operation: CoreOperation<T>): CoreOperation<T> =>
    operation.id.startsWith(kind)
      ? {
          ...operation,
          decide: (view) =>
            operation.decide({
              ...view,
              row(key) {
                const found = view.row(key);
                return found === undefined ? undefined : see(found, operation.id);
              },
            }),
        }
      : operation;

export const withRevision = ({ row, etag }: StoredRow, revision: string): StoredRow =>
  "revision" in row ? { row: { ...row, revision }, etag } : { row, etag };

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
export const unshared = <T>(operation: CoreOperation<T>): CoreOperation<T> => {
  asked += 1;
  return { ...operation, id: `${operation.id}|${asked}` };
};

/** In every process, waits of the product that are no longer than a pause after a lost race with another length. */
export function withPauses(services: Services, change: (ms: number) => number): Services {
  const set = globalThis.setTimeout;
  if (!changedTimers.has(set)) {
    const changed = (run: () => void, ms = 0) =>
      set(run, ms > 0 && ms <= PAUSE_MS ? change(ms) : ms);
    changedTimers.add(changed);
    // Put back with all other timers when the run is over.
    Object.assign(globalThis, { setTimeout: changed });
  }
  return services;
}

const PAUSE_MS = 40;
const changedTimers = new WeakSet<object>();
