import { utcDay } from "../../../src/shared/ledger/ledger.ts";
import { walletRow, WALLET_KEY } from "../../../src/shared/ledger/wallet-row.ts";
import type { AcceptedPost } from "../../../src/shared/publishing/idempotency-store.ts";
import { AppError } from "../../../src/shared/runtime/errors.ts";
import { InvalidTransaction } from "../../../src/shared/runtime/storage/row.ts";
import type { Table } from "../../../src/shared/runtime/storage/table.ts";
import { PLATFORMS_EVERY } from "../weather.ts";
import { belated, contest, midnight, redrives } from "./small-models.ts";
import { replaceIn } from "../../setup/replace-in.ts";
import type { Mutant } from "./mutant.ts";
import {
  folded,
  listing,
  overwriting,
  seeing,
  withMethods,
  withPauses,
  withResults,
  withTable,
  withWalk,
} from "./mutation.ts";

const KNOWN_MS = 500;

/** Rows as a process read them some time ago. */
interface Known {
  readonly at: number;
  readonly rows: ReturnType<Table["list"]>;
}

/** What was found at scale, in the former code's ways and near them; the numbers are those of its list. */
export const MUTANTS_AT_SCALE: readonly Mutant[] = [
  {
    name: "D2a: the sweep looks at one page of platforms, the same ones each time",
    era: 21,
    every: PLATFORMS_EVERY,
    isRare: true,
    services: (services) =>
      listing(services, "platform", ({ wakes }) => ({
        wakes: wakes.slice(0, 100),
        next: undefined,
      })),
  },
  {
    name: "D2b: a walk that ends early begins again",
    era: 22,
    every: PLATFORMS_EVERY,
    isRare: true,
    install: () =>
      withWalk("sweep-stalled-work", (begin) => (services, system) => {
        const step = begin(services, system);
        let steps = 0;
        return async (at) => {
          steps += 1;
          const { counts } = await step({ ...at, position: undefined, isTimeUp: () => true });
          return { next: steps < 3 ? "" : undefined, ...(counts && { counts }) };
        };
      }),
  },
  {
    name: "D3a: a purge takes the first page of a kind for all of it",
    era: 23,
    firstSeed: 72,
    install: () =>
      withWalk("purge-", (begin) => (services, system) => {
        const step = begin(services, system);
        return async (at) => ({ ...(await step(at)), next: undefined });
      }),
  },
  {
    name: "D3b: the purge removes texts and then nothing else",
    era: 24,
    firstSeed: 2,
    install: () =>
      withWalk("purge-", (begin, walk) =>
        walk === "purge-texts" ? begin : () => async () => ({ next: undefined }),
      ),
  },
  {
    name: "D4a: a ledger is checked only while its wallet pauses",
    era: 25,
    firstSeed: 6,
    services: ({ ledger: { stores } }) =>
      replaceIn(stores.ledger, () => ({ fold: () => Promise.resolve(false) })),
  },
  {
    name: "D4b: the reconciliation never comes to later platforms",
    era: 26,
    install: () =>
      withWalk("reconcile-wallets", (begin) => (services, system) => {
        const { platforms } = services.tenants.stores;
        const listIds: typeof platforms.listIds = async (...given) => {
          const { items } = await platforms.listIds(...given);
          return { items: items.slice(0, 1), next: undefined };
        };
        const stores = {
          ...services.tenants.stores,
          platforms: withMethods(platforms, { listIds }),
        };
        return begin({ ...services, tenants: { ...services.tenants, stores } }, system);
      }),
  },
  {
    name: "D5a: the first page of a query over partitions is taken for all of it",
    era: 27,
    firstSeed: 8,
    install: () =>
      withTable(
        "select",
        (select) =>
          async function (this: Table, selection, after) {
            const page = await select.call(this, selection, after);
            return selection.partitionKey === undefined ? { ...page, next: undefined } : page;
          },
      ),
  },
  {
    name: "D5b: late wakes are looked for on one page",
    era: 28,
    shownBy: belated,
    services: (services) => listing(services, "post", (page) => ({ ...page, next: undefined })),
  },
  {
    name: "D6a: who loses a race waits for up to half a second",
    era: 29,
    shownBy: contest,
    services: () => withPauses((ms) => ms * 12.5),
  },
  {
    name: "D6b: who loses a race goes on with the head that it knew",
    era: 30,
    shownBy: contest,
    install() {
      const known = new WeakMap<Table, Map<string, Known>>();
      return withTable(
        "list",
        (list) =>
          function (this: Table, range) {
            const reads = known.get(this) ?? new Map<string, Known>();
            known.set(this, reads);
            const name = JSON.stringify(range);
            const before = reads.get(name);
            if (before !== undefined && performance.now() - before.at < KNOWN_MS)
              return before.rows;
            const rows = list.call(this, range);
            reads.set(name, { at: performance.now(), rows });
            return rows;
          },
      );
    },
  },
  {
    name: "D7a: a refused transaction does not say which operation it was refused for",
    era: 31,
    firstSeed: 32,
    install: () =>
      withResults(async (made) => {
        const result = await made;
        return result.kind === "refused" ? { kind: "refused" } : result;
      }),
  },
  {
    name: "D7b: the wrong operation is taken out of a refused transaction",
    era: 32,
    firstSeed: 52,
    install: () =>
      withResults(async (made) => {
        const result = await made;
        if (result.kind !== "refused" || (result.at ?? 0) === 0) return result;
        return { kind: "refused", at: 0 };
      }),
  },
  {
    name: "D8a: what storage never takes fails everybody in the transaction",
    era: 33,
    firstSeed: 7,
    install: () =>
      withResults(async (made) => {
        try {
          return await made;
        } catch (error) {
          if (!(error instanceof InvalidTransaction)) throw error;
          throw new AppError("service_unavailable", "refused", { cause: error });
        }
      }),
  },
  {
    name: "D8b: what storage never takes is tried again as if it were in doubt",
    era: 34,
    firstSeed: 7,
    install: () =>
      withResults(async (made) => {
        try {
          return await made;
        } catch (error) {
          if (!(error instanceof InvalidTransaction)) throw error;
          return { kind: "in_doubt", cause: error };
        }
      }),
  },
  {
    name: "D11a: a key is removed by its age, whatever stands of its post",
    era: 35,
    firstSeed: 2,
    install: () =>
      withWalk("purge-idempotency-keys", (begin) => (services, system) => {
        const nothing = () => Promise.resolve(undefined);
        const { stores, tenants, ...rest } = services.publishing;
        const posts = withMethods(stores.posts, { findPost: nothing });
        const publishing = {
          ...rest,
          stores: { ...stores, posts },
          tenants: { ...tenants, findProfile: nothing },
        };
        return begin({ ...services, publishing }, system);
      }),
  },
  {
    name: "D11b: a key says nothing any more after ninety days",
    era: 36,
    firstSeed: 2,
    services({
      clock,
      publishing: {
        stores: { idempotency },
      },
      ledger: { partitions },
    }) {
      const forgotten = async (platformId: string) => {
        const before = new Date(clock.now().getTime() - 90 * 24 * 60 * 60_000);
        return (await idempotency.listBefore(platformId, before, undefined)).keys;
      };
      replaceIn(idempotency, (former) => ({
        find: async (platformId, key) => {
          const found = await former.find(platformId, key);
          const isOld = ({ accepted }: { readonly accepted: AcceptedPost }) =>
            accepted.postId === found?.postId;
          return (await forgotten(platformId)).some(isOld) ? undefined : found;
        },
      }));
      replaceIn(partitions, (former) => ({
        commit: async (platformId, operation) => {
          const keys = await forgotten(platformId);
          const isForgotten = keys.some(({ rowKey }) => operation.rowKeys.includes(rowKey));
          if (!isForgotten) return await former.commit(platformId, operation);
          return await former.commit(platformId, overwriting(seeing(operation, () => undefined)));
        },
      }));
    },
  },
  {
    name: "D12a: the totals of a day and the mark behind them in two transactions",
    era: 37,
    firstSeed: 24,
    ...folded("transact", async (transact, platformId, [mark, ...totals]) => {
      const added = await transact(platformId, totals);
      return added.kind === "applied" && mark !== undefined
        ? await transact(platformId, [mark])
        : added;
    }),
  },
  {
    name: "D12b: a day's totals begin again with each addition",
    era: 38,
    // Nothing was added to the day before.
    ...folded("list", () => Promise.resolve([])),
  },
  {
    name: "D13a: each call of a redrive begins with the newest",
    era: 39,
    shownBy: redrives,
    services: ({ ledger: { cursors } }) => replaceIn(cursors, () => ({ read: () => undefined })),
  },
  {
    name: "D13b: a redrive ends with its first call",
    era: 40,
    shownBy: redrives,
    services({
      webhooks: {
        stores: { deadDeliveries },
      },
    }) {
      replaceIn(deadDeliveries, (former) => ({
        list: async (filter, position) => ({
          ...(await former.list(filter, position)),
          next: undefined,
        }),
      }));
    },
  },
  {
    name: "D14a: events of a change are left to the sweep",
    era: 41,
    firstSeed: 1,
    services({
      webhooks: {
        stores: { webhookQueue },
        work: { fanOuts },
      },
    }) {
      replaceIn(webhookQueue, (former) => ({
        hint: async (fields, delaySeconds) => {
          if (fields.kind !== "events") await former.hint(fields, delaySeconds);
        },
      }));
      replaceIn(fanOuts, () => ({ run: () => Promise.resolve(false) }));
    },
  },
  {
    name: "D14b: deliveries are left to the timer",
    era: 42,
    firstSeed: 7,
    services({
      webhooks: {
        stores: { webhookQueue },
      },
    }) {
      replaceIn(webhookQueue, (former) => ({
        hint: (fields, delaySeconds) =>
          former.hint(fields, (delaySeconds ?? 0) + (fields.kind === "deliveries" ? 50 : 0)),
      }));
    },
  },
  {
    name: "D15: the day of the budget is the one that the process's clock says",
    era: 43,
    shownBy: midnight,
    tables(tables, now) {
      const { core } = tables;
      // A later day is none that the process knows of, so that the one of its clock begins.
      const list: typeof core.list = async (range) => {
        const rows = await core.list(range);
        return rows.map(({ row, etag }) => {
          const wallet = row.rowKey === WALLET_KEY ? walletRow.decode(row) : undefined;
          if (wallet === undefined || wallet.day <= utcDay(now())) return { row, etag };
          return { row: { ...row, ...walletRow.encode({ ...wallet, day: "" }) }, etag };
        });
      };
      return { ...tables, core: withMethods(core, { list }) };
    },
  },
  {
    name: "D9a: endpoints are not marked, so that nobody looks for deliveries whose hint was lost",
    era: 45,
    firstSeed: 7,
    services({
      webhooks: {
        wakes,
        stores: { webhookQueue },
      },
    }) {
      replaceIn(wakes, (former) => ({
        mark: async (kind, id, now) => {
          if (kind !== "endpoint-check") await former.mark(kind, id, now);
        },
      }));
      // Half of them are lost, which the product survives.
      replaceIn(webhookQueue, (former) => ({
        hint: async (fields, delaySeconds) => {
          const isKept = fields.kind !== "deliveries" || Math.random() < 0.5;
          if (isKept) await former.hint(fields, delaySeconds);
        },
      }));
    },
  },
  {
    name: "D9b: an endpoint's next drain stands on its hint alone, and nobody looks for it",
    era: 44,
    firstSeed: 52,
    services({
      webhooks: {
        wakes,
        stores: { pending },
      },
    }) {
      replaceIn(wakes, (former) => {
        const add: typeof wakes.add = async (wake, now) => {
          if (wake.kind !== "endpoint") await former.add(wake, now);
        };
        return { add, addHinted: add };
      });
      replaceIn(pending, (former) => ({
        read: async (endpointId, limit) => {
          const work = await former.read(endpointId, limit);
          // A drain reads more than the sweep does when it looks at an endpoint.
          return limit <= 2 ? { ...work, timed: [], untried: [] } : work;
        },
      }));
    },
  },
  {
    name: "D9c: a process delivers to an endpoint though another one does",
    era: 46,
    firstSeed: 658,
    services({
      webhooks: {
        stores: { pending },
      },
    }) {
      replaceIn(pending, (former) => ({
        read: async (...asked) => {
          const work = await former.read(...asked);
          return { ...work, state: { ...work.state, leaseUntil: null } };
        },
      }));
    },
  },
];
