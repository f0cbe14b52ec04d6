import type { Wallet } from "../../../src/shared/ledger/ledger.ts";
import { walletRow, WALLET_KEY } from "../../../src/shared/ledger/wallet-row.ts";
import { networkOf } from "../../../src/shared/networks/networks.ts";
import { absentCall } from "../../../src/shared/publishing/call.ts";
import { withCall } from "../../../src/shared/publishing/leg.ts";
import type { PublishCall } from "../../../src/shared/networks/contract/visible-call.ts";
import { STORM_EVERY } from "../weather.ts";
import { replaceIn } from "../../setup/replace-in.ts";
import { belated, listings } from "./small-models.ts";
import type { Mutant } from "./mutant.ts";
import {
  committing,
  listing,
  committingApart,
  dropping,
  isListing,
  isListingAccount,
  isListingAttention,
  isNaming,
  isOwnRow,
  isScheduling,
  lastOf,
  overwriting,
  seeing,
  seeingPost,
  unshared,
  withResults,
  withWalk,
  writing,
  writingLegs,
} from "./mutation.ts";

/** The product with one of its safeguards taken away: what the rules must notice. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "M1: no sent marker before the network call",
    era: 1,
    firstSeed: 260,
    services: (services) =>
      writingLegs(services, (leg, { etag }) => {
        const [publishing] = leg.calls;
        const unsent = publishing.state === "sent" ? absentCall(publishing) : publishing;
        return Promise.resolve([withCall(leg, unsent), etag]);
      }),
  },
  {
    name: "M2: the idempotency row is not part of the accepting transaction",
    era: 2,
    firstSeed: 12,
    services: (services) =>
      committingApart(services, "accept|", (write, accepting) => isOwnRow(accepting, write)),
  },
  {
    name: "M3: the work row goes when the hint is sent",
    era: 3,
    firstSeed: 6,
    services({
      publishing: {
        stores: { publishQueue, posts },
      },
    }) {
      replaceIn(publishQueue, (former) => ({
        hint: async (hint, delaySeconds) => {
          await former.hint(hint, delaySeconds);
          if (hint.kind === "start") return;
          for (const work of (await posts.listOpenWork(hint.platformId)).works)
            if (work.ref.postId === hint.postId) await posts.removeWork(work);
        },
      }));
    },
  },
  {
    name: "M4: claims without a version and without a lease",
    era: 4,
    isRare: true,
    services: (services) =>
      writingLegs(services, async (leg, { ref, etag, posts }) => {
        if (leg.leaseUntil === null) return [leg, etag];
        const now = await posts.findLeg(ref, leg.network);
        return [{ ...leg, leaseUntil: null }, now?.etag ?? etag];
      }),
  },
  {
    name: "M5: the charge and the leg's state in two transactions",
    era: 5,
    firstSeed: 16,
    services: (services) => committingApart(services, "end|publish|", () => true),
  },
  {
    name: "M6: an unknown outcome is sent again where nothing knows a repeat",
    era: 6,
    isRare: true,
    install() {
      // Safe: put back after the run; the type only says that the product never does this.
      const publish = networkOf("mastodon").calls.publish as { find: PublishCall["find"] };
      const { find } = publish;
      publish.find = () => Promise.resolve({ kind: "absent" });
      return () => {
        publish.find = find;
      };
    },
  },
  {
    name: "M7: the idempotency key is looked up first and written whatever stands there",
    era: 7,
    firstSeed: 2,
    services: (services) =>
      committing(services, (operation) =>
        operation.id.startsWith("accept|")
          ? overwriting(seeing(unshared(operation), () => undefined))
          : operation,
      ),
  },
  {
    name: "M8: no sweeper",
    era: 8,
    firstSeed: 25,
    install: () => withWalk("sweep-stalled-work", () => () => async () => ({ next: undefined })),
  },
  {
    name: "B1: group commit without markers of what was applied",
    era: 9,
    firstSeed: 50,
    services: (services) =>
      committing(services, (operation) =>
        /^(charge|credit)\|/.test(operation.id)
          ? writing(operation, (writes) => writes.filter((write) => !isOwnRow(operation, write)))
          : operation,
      ),
  },
  {
    name: "B2: the same operation twice in one transaction",
    era: 10,
    isRare: true,
    services: (services) =>
      committing(services, (operation) =>
        // What is only going to be written has no version yet.
        seeing(unshared(operation), (found) => (found?.etag === "" ? undefined : found)),
      ),
  },
  {
    name: "C1: a change replaces whatever revision is there",
    era: 11,
    firstSeed: 106,
    services(services) {
      replaceIn(services.publishing.stores.posts, (former) => ({
        find: async (ref) => {
          const found = await former.find(ref);
          return found && { ...found, post: { ...found.post, revision: "" } };
        },
      }));
      const blind = seeingPost("change|", (post, id) =>
        post.revision === lastOf(id) ? post : { ...post, revision: "" },
      );
      committing(services, blind);
    },
  },
  {
    name: "C2: a refusal is told while a write is in doubt",
    era: 12,
    every: STORM_EVERY,
    firstSeed: 190,
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
    firstSeed: 44,
    services({
      webhooks: {
        wakes,
        stores: { webhookQueue },
      },
      publishing: {
        stores: { posts },
      },
    }) {
      replaceIn(wakes, (former) => ({
        mark: async (kind, id, now) => {
          // An endpoint is marked as ever.
          const isOpen =
            kind === "endpoint-check" || (await posts.listOpenWork(id, "", 1)).works.length > 0;
          if (isOpen) await former.mark(kind, id, now);
        },
      }));
      // Half of them are lost, which the product survives.
      replaceIn(webhookQueue, (former) => ({
        hint: async (fields, delaySeconds) => {
          const isKept = fields.kind !== "events" || Math.random() < 0.5;
          if (isKept) await former.hint(fields, delaySeconds);
        },
      }));
    },
  },
  {
    name: "C4: nobody looks for wakes that were written too late",
    era: 14,
    shownBy: belated,
    services: (services) =>
      listing(services, "post", (page, { from }) =>
        from === undefined ? { wakes: [], next: undefined } : page,
      ),
  },
  {
    name: "C5: a post starts whatever its time is",
    era: 15,
    firstSeed: 57,
    services({
      clock,
      publishing: {
        stores: { posts },
      },
    }) {
      replaceIn(posts, (former) => ({
        findPost: async (ref) => {
          const post = await former.findPost(ref);
          const past = new Date(clock.now().getTime() - 60_000).toISOString();
          if (post === undefined || (post.draft.scheduleAt ?? "") < past) return post;
          return { ...post, draft: { ...post.draft, scheduleAt: past } };
        },
      }));
    },
  },
  {
    name: "C6: a refusal is told on a wallet that was read before the request",
    era: 16,
    firstSeed: 88,
    services({ clock, ledger: { partitions, stores } }) {
      const known = new Map<string, { readonly at: number; readonly wallet: Wallet }>();
      const knowing =
        (former: typeof partitions): typeof partitions.commit =>
        async (platformId, operation) => {
          const before = known.get(platformId);
          const isKnown = before !== undefined && performance.now() - before.at < 2_000;
          if (isKnown && operation.id.startsWith("charge|")) {
            const stored = { ...walletRow.encode(before.wallet), rowKey: WALLET_KEY };
            const row = (rowKey: string) =>
              rowKey === WALLET_KEY ? { row: stored, etag: "" } : undefined;
            const decision = operation.decide({ accessVersion: "", now: clock.now(), row });
            if (decision.kind === "refuse") throw decision.error;
          }
          const wallet = isKnown ? before.wallet : await stores.ledger.readWallet(platformId);
          if (!isKnown) known.set(platformId, { at: performance.now(), wallet });
          const answer = await former.commit(platformId, operation);
          known.delete(platformId);
          return answer;
        };
      replaceIn(partitions, (former) => ({ commit: knowing(former) }));
    },
  },
  {
    name: "C7: a post starts in a revision that nobody checked",
    era: 17,
    isRare: true,
    services: (services) =>
      committing(
        services,
        seeingPost("start|", (post, id) => ({ ...post, revision: lastOf(id) })),
      ),
  },
  {
    name: "C9: a change of a scheduled post is reported after its transaction",
    era: 57,
    isRare: true,
    services: (services) =>
      committingApart(services, "change|", (write, changing) => !isOwnRow(changing, write)),
  },
  {
    name: "L1: a post is listed after the transaction that accepts it",
    era: 80,
    firstSeed: 7,
    services: (services) => committingApart(services, "accept|", isListing),
  },
  {
    name: "L2: what listed a post stays when the post has changed",
    era: 81,
    firstSeed: 2,
    services: (services) =>
      committing(services, (operation) =>
        writing(operation, (writes) =>
          writes.filter((write) => !isListing(write) || write.kind !== "delete"),
        ),
      ),
  },
  {
    name: "L3: a post that is moved to another time stays where it is listed",
    era: 82,
    firstSeed: 15,
    services: (services) =>
      committing(services, (operation) =>
        writing(operation, (writes) => {
          const isMove = operation.id.startsWith("change|") && writes.some(isScheduling);
          return isMove ? writes.filter((write) => !isListing(write)) : writes;
        }),
      ),
  },
  {
    name: "L4: a post that ends badly is not listed with the problems",
    era: 83,
    firstSeed: 8,
    services: (services) =>
      committing(services, (operation) =>
        writing(operation, (writes) =>
          operation.id.startsWith("end|") ? writes.filter((write) => !isListing(write)) : writes,
        ),
      ),
  },
  {
    name: "L5: what listed an account stays when another one is linked in its place",
    era: 84,
    shownBy: listings,
    services: (services) =>
      dropping(services, (write) => write.kind === "delete" && isListingAccount(write)),
  },
  {
    name: "L6: an account that is linked again stays among those that need attention",
    era: 85,
    shownBy: listings,
    services: (services) =>
      dropping(services, (write) => write.kind === "delete" && isListingAttention(write)),
  },
  {
    name: "L7: an account that the network refuses is not listed among those that need attention",
    era: 86,
    shownBy: listings,
    services: (services) => dropping(services, isListingAttention),
  },
  {
    name: "L8: a profile is still found by the name that it had",
    era: 87,
    shownBy: listings,
    services: (services) =>
      dropping(services, (write) => write.kind === "delete" && isNaming(write)),
  },
  {
    name: "C8: a leg is claimed without an open reservation",
    era: 18,
    isRare: true,
    services(services) {
      replaceIn(services.publishing.stores.posts, (former) => ({
        findToPublish: async (ref, networks) => {
          const found = await former.findToPublish(ref, networks);
          const legs = (found?.legs ?? []).map(({ leg, etag }) => {
            const { reservation } = leg;
            const isNone = reservation.state === "none";
            const open = { ...leg, reservation: { ...reservation, state: "open" } } as const;
            return { leg: isNone ? open : leg, etag };
          });
          return found && { ...found, legs };
        },
      }));
      writingLegs(services, (leg, { etag }) => {
        const { reservation } = leg;
        // The claim says nothing of the reservation that is not there.
        const state = reservation.tokens === 0 ? "none" : reservation.state;
        return Promise.resolve([{ ...leg, reservation: { ...reservation, state } }, etag]);
      });
    },
  },
];
