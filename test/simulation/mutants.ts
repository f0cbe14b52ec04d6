import type { CoreOperation } from "../../src/shared/billing/group-commit.ts";
import { NETWORKS } from "../../src/shared/networks/registry.ts";
import type { Network } from "../../src/shared/networks/network.ts";
import type { Services } from "../../src/shared/services.ts";
import type { Mutant } from "./mutant.ts";
import type { Action } from "./table-model.ts";

const isLegKey = (rowKey: string) => rowKey.startsWith("P|") && rowKey.split("|").length === 5;
const isMoney = ({ rowKey }: Action) => rowKey === "W" || /^[LO]\|/.test(rowKey);
const isIdempotency = ({ rowKey }: Action) => rowKey.startsWith("I|");
const isMarker = ({ rowKey }: Action) => rowKey.startsWith("O|");

/** The first part, then the second, as transactions of their own. */
function apart(actions: readonly Action[], isLater: (action: Action) => boolean): Action[][] {
  const first = actions.filter((action) => !isLater(action));
  return [first, actions.filter(isLater)].filter((part) => part.length > 0);
}

const each = (change: (action: Action) => Action) => (table: string, actions: readonly Action[]) =>
  table === "core" ? [actions.map(change)] : [actions];

/** The wallets with another way to commit. `Reflect` because the store's own fields are out of reach. */
function committing(
  services: Services,
  change: <T>(operation: CoreOperation<T>) => CoreOperation<T>,
): Services {
  const { wallets } = services;
  const commit = <T>(platformId: string, operation: CoreOperation<T>) =>
    wallets.commit(platformId, change(operation));
  const changed = new Proxy(wallets, {
    get(target, name) {
      if (name === "commit") return commit;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { ...services, wallets: changed };
}

let asked = 0;
const unshared = <T>(operation: CoreOperation<T>): CoreOperation<T> => {
  asked += 1;
  return { ...operation, id: `${operation.id}|${asked}` };
};

/** The product with one of its safeguards taken away: what the rules must notice. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "M1: no sent marker before the network call",
    era: 1,
    rewrite: each((action) =>
      isLegKey(action.rowKey) && action.kind === "replace" && action.properties["phase"] === "sent"
        ? { ...action, properties: { ...action.properties, phase: "claimed", sentAt: "" } }
        : action,
    ),
  },
  {
    name: "M2: the idempotency row is not part of the accepting transaction",
    era: 2,
    rewrite: (table, actions) => (table === "core" ? apart(actions, isIdempotency) : [actions]),
  },
  {
    name: "M3: the work row goes when the hint is sent",
    era: 3,
    services(services) {
      const { publishQueue, posts } = services;
      const hint: typeof publishQueue.hint = async (place, networks, delaySeconds) => {
        await publishQueue.hint(place, networks, delaySeconds);
        for (const work of await posts.listOpenWork(place.platformId))
          if (work.place.postId === place.postId) await posts.removeWork(work);
      };
      // Safe: the queue's only other method is of no use to a worker.
      return { ...services, publishQueue: { hint, ping: () => publishQueue.ping() } as never };
    },
  },
  {
    name: "M4: claims without a version and without a lease",
    era: 4,
    rewrite: each((action) =>
      isLegKey(action.rowKey) && action.kind === "replace" && action.properties["leaseUntil"] !== ""
        ? { ...action, properties: { ...action.properties, leaseUntil: "" }, etag: "*" }
        : action,
    ),
  },
  {
    name: "M5: the charge and the leg's state in two transactions",
    era: 5,
    rewrite: (table, actions) =>
      table === "core" && actions.some(({ rowKey }) => isLegKey(rowKey))
        ? apart(actions, (action) => !isMoney(action))
        : [actions],
  },
  {
    name: "M6: an unknown outcome is sent again where nothing knows a repeat",
    era: 6,
    install() {
      // Safe: put back after the run; the type only says that the product never does this.
      const mastodon = NETWORKS.mastodon as { reconcile: Network["reconcile"] };
      const { reconcile } = mastodon;
      mastodon.reconcile = () => Promise.resolve({ kind: "may_publish", isAbsent: true });
      return () => {
        mastodon.reconcile = reconcile;
      };
    },
  },
  {
    name: "M7: the idempotency key is looked up first and written whatever stands there",
    era: 7,
    rewrite: each((action) =>
      isIdempotency(action) && action.kind === "create" ? { ...action, kind: "put" } : action,
    ),
    services: (services) =>
      committing(services, (operation) =>
        operation.id.startsWith("accept|")
          ? {
              ...unshared(operation),
              decide: (view) =>
                operation.decide({
                  ...view,
                  row: (key) => (key.startsWith("I|") ? undefined : view.row(key)),
                }),
            }
          : operation,
      ),
  },
  { name: "M8: no sweeper", era: 8, isSwept: false },
  {
    name: "B1: group commit without markers of what was applied",
    era: 9,
    rewrite: (table, actions) =>
      table === "core" ? [actions.filter((action) => !isMarker(action))] : [actions],
  },
  {
    name: "B2: the same operation twice in one transaction",
    era: 10,
    services: (services) =>
      committing(services, (operation) => ({
        ...unshared(operation),
        decide: (view) =>
          operation.decide({
            ...view,
            // What is only going to be written has no version yet.
            row(key) {
              const found = view.row(key);
              return found?.etag === "" ? undefined : found;
            },
          }),
      })),
  },
];
