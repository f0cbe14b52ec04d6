import { NETWORKS } from "../../src/shared/networks/registry.ts";
import type { Network } from "../../src/shared/networks/contract/network.ts";
import type { StoredRow } from "../../src/shared/runtime/storage/row.ts";
import type { Table } from "../../src/shared/runtime/storage/table.ts";
import { STORM_EVERY } from "../model/weather.ts";
import { belated } from "./small-models.ts";
import type { Mutant } from "./mutant.ts";
import {
  apart,
  committing,
  each,
  isIdempotency,
  isLegKey,
  isMarker,
  isMoney,
  lastOf,
  seeing,
  unshared,
  withMethods,
  withRevision,
  withResults,
  withTable,
  withWalk,
} from "./mutation.ts";

/** The product with one of its safeguards taken away: what the rules must notice. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "M1: no sent marker before the network call",
    era: 1,
    firstSeed: 73,
    rewrite: each((action) =>
      isLegKey(action.rowKey) && action.kind === "merge" && action.properties["phase"] === "sent"
        ? { ...action, properties: { ...action.properties, phase: "claimed", sentAt: "" } }
        : action,
    ),
  },
  {
    name: "M2: the idempotency row is not part of the accepting transaction",
    era: 2,
    rewrite: (table, actions) => (table === "core" ? apart(actions, isIdempotency) : [actions]),
    firstSeed: 8,
  },
  {
    name: "M3: the work row goes when the hint is sent",
    era: 3,
    firstSeed: 5,
    services(services) {
      const { publishQueue, posts } = services;
      const hint: typeof publishQueue.hint = async (hint, delaySeconds) => {
        await publishQueue.hint(hint, delaySeconds);
        for (const work of (await posts.listOpenWork(hint.platformId)).works)
          if (work.ref.postId === hint.postId) await posts.removeWork(work);
      };
      // Safe: the queue's only other method is of no use to a worker.
      return { ...services, publishQueue: { hint, ping: () => publishQueue.ping() } as never };
    },
  },
  {
    name: "M4: claims without a version and without a lease",
    era: 4,
    firstSeed: 73,
    rewrite: each((action) =>
      isLegKey(action.rowKey) && action.kind === "merge" && action.properties["leaseUntil"] !== ""
        ? { ...action, properties: { ...action.properties, leaseUntil: "" }, etag: "*" }
        : action,
    ),
  },
  {
    name: "M5: the charge and the leg's state in two transactions",
    era: 5,
    firstSeed: 8,
    rewrite: (table, actions) =>
      table === "core" && actions.some(({ rowKey }) => isLegKey(rowKey))
        ? apart(actions, (action) => !isMoney(action))
        : [actions],
  },
  {
    name: "M6: an unknown outcome is sent again where nothing knows a repeat",
    era: 6,
    firstSeed: 178,
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
    firstSeed: 2,
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
  {
    name: "M8: no sweeper",
    era: 8,
    firstSeed: 12,
    install: () => withWalk("sweep-stalled-work", () => () => async () => ({ next: undefined })),
  },
  {
    name: "B1: group commit without markers of what was applied",
    era: 9,
    firstSeed: 40,
    rewrite: (table, actions) =>
      table === "core" ? [actions.filter((action) => !isMarker(action))] : [actions],
  },
  {
    name: "B2: the same operation twice in one transaction",
    era: 10,
    firstSeed: 144,
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
  {
    name: "C1: a change replaces whatever revision is there",
    era: 11,
    firstSeed: 6,
    services(services) {
      const { posts } = services;
      const find: typeof posts.find = async (ref) => {
        const found = await posts.find(ref);
        return found && { ...found, post: { ...found.post, revision: "" } };
      };
      const blind = seeing("change|", (row, id) =>
        row.row["revision"] === lastOf(id) ? row : withRevision(row, ""),
      );
      return { ...committing(services, blind), posts: withMethods(posts, { find }) };
    },
  },
  {
    name: "C2: a refusal is told while a write is in doubt",
    era: 12,
    every: STORM_EVERY,
    firstSeed: 740,
    // What is not known to be lost is believed to be.
    install: () =>
      withResults(async (made) => {
        const result = await made;
        return result.kind === "in_doubt" ? { kind: "refused" } : result;
      }),
  },
  {
    name: "C3: open work is marked only once it is there",
    era: 13,
    firstSeed: 1_122,
    services(services) {
      const { openWork, posts } = services;
      const mark: typeof openWork.mark = async (owner, now) => {
        // An endpoint is marked as ever.
        const isOpen =
          owner.startsWith("whk_") || (await posts.listOpenWork(owner, "", 1)).works.length > 0;
        if (isOpen) await openWork.mark(owner, now);
      };
      return { ...services, openWork: withMethods(openWork, { mark }) };
    },
  },
  {
    name: "C4: nobody looks for due rows that were written too late",
    era: 14,
    shownBy: belated,
    services: (services) => ({
      ...services,
      due: withMethods(services.due, {
        listLeftBehind: () => Promise.resolve({ dues: [], next: undefined }),
      }),
    }),
  },
  {
    name: "C5: a post starts whatever its time is",
    era: 15,
    firstSeed: 25,
    services(services) {
      const { posts, clock } = services;
      const findPost: typeof posts.findPost = async (ref) => {
        const post = await posts.findPost(ref);
        const past = new Date(clock.now().getTime() - 60_000).toISOString();
        if (post === undefined || (post.draft.scheduleAt ?? "") < past) return post;
        return { ...post, draft: { ...post.draft, scheduleAt: past } };
      };
      return { ...services, posts: withMethods(posts, { findPost }) };
    },
  },
  {
    name: "C6: a refusal is told on a wallet that was read before the request",
    era: 16,
    firstSeed: 2,
    install: () => {
      const read = new WeakMap<
        Table,
        Map<string, { readonly at: number; readonly row: Promise<StoredRow | undefined> }>
      >();
      const forget = withTable(
        "transact",
        (transact) =>
          function (this: Table, platformId, writes) {
            read.get(this)?.delete(platformId);
            return transact.call(this, platformId, writes);
          },
      );
      const restore = withTable(
        "find",
        (find) =>
          function (this: Table, platformId, rowKey) {
            if (rowKey !== "W") return find.call(this, platformId, rowKey);
            const wallets = read.get(this) ?? new Map();
            read.set(this, wallets);
            const known = wallets.get(platformId);
            if (known !== undefined && performance.now() - known.at < 2_000) return known.row;
            const row = find.call(this, platformId, rowKey);
            wallets.set(platformId, { at: performance.now(), row });
            return row;
          },
      );
      return () => {
        restore();
        forget();
      };
    },
  },
  {
    name: "C7: a post starts in a revision that nobody checked",
    era: 17,
    firstSeed: 1_445,
    services: (services) =>
      committing(
        services,
        seeing("start|", (row, id) => withRevision(row, lastOf(id))),
      ),
  },
  {
    name: "C8: a leg is claimed without an open reservation",
    era: 18,
    firstSeed: 83,
    services(services) {
      const { posts } = services;
      const findToPublish: typeof posts.findToPublish = async (ref, networks) => {
        const found = await posts.findToPublish(ref, networks);
        const legs = (found?.legs ?? []).map(({ leg, etag }) => {
          const { reservation } = leg;
          const isNone = reservation.state === "none";
          const open = { ...leg, reservation: { ...reservation, state: "open" } } as const;
          return { leg: isNone ? open : leg, etag };
        });
        return found && { ...found, legs };
      };
      return { ...services, posts: withMethods(posts, { findToPublish }) };
    },
    // The claim says nothing of the reservation that is not there.
    rewrite: each((action) =>
      isLegKey(action.rowKey) && action.kind !== "delete" && action.properties["holdTokens"] === 0
        ? { ...action, properties: { ...action.properties, holdState: "none" } }
        : action,
    ),
  },
];
