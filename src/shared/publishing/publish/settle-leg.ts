import type { CoreOperation, CoreView, Decision } from "../../billing/group-commit.ts";
import type { Movement } from "../../billing/wallet.ts";
import { invariant } from "../../runtime/errors.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import type { LegFailure, Published } from "../../networks/contract/network.ts";
import type { PublishingDeps } from "../deps.ts";
import type { RowWrite } from "../../runtime/storage/row.ts";
import { type Leg, failed, isEnded, postStatus, succeeded } from "../leg.ts";
import type { Post } from "../post.ts";
import { withEvents } from "./post-events.ts";
import { postProgress, toLeg, toLegRow, toPost } from "../post-row.ts";
import { legKey, postKey, workKey, type PostPlace } from "../post-store.ts";

export type LegEnd =
  | { readonly kind: "published"; readonly published: Published }
  | { readonly kind: "failed"; readonly failure: LegFailure };

export interface Settlement {
  readonly place: PostPlace;
  readonly post: Post;
  /** As its worker claimed it: only the owner of the claim may settle. */
  readonly leg: Leg;
  readonly end: LegEnd;
}

function movement(post: Post, leg: Leg, end: LegEnd): Movement {
  return {
    type: end.kind === "published" ? "settle" : "release",
    operation: leg.hold.operation,
    tokens: leg.hold.tokens,
    postId: post.id,
    network: leg.network,
    applicationId: post.applicationId,
    profileId: post.profileId,
    actor: post.actor,
    requestId: post.requestId,
    note: null,
    reservedOn: leg.hold.day,
  };
}

/** The post after one of its legs ended; `completedAt` once none is left. */
function progressed(post: Post, legs: readonly Leg[], now: Date): Post {
  const status = postStatus(legs);
  const at = now.toISOString();
  return { ...post, status, updatedAt: at, completedAt: legs.every(isEnded) ? at : null };
}

/**
 * The post's rows as the transaction sees them; undefined when somebody changed the post since it was read as `known`.
 * Whatever was decided on what was read, and the list of legs with it, then holds no more.
 */
export function readPost(view: CoreView, place: PostPlace, known: Post) {
  const stored = view.row(postKey(place));
  invariant(stored !== undefined, "a post lost its row");
  const post = toPost(place.platformId, stored.row);
  if (post.revision !== known.revision) return undefined;
  const { networks } = post.draft;
  const legs = networks.flatMap((network) => {
    const found = view.row(legKey(place, network));
    return found === undefined ? [] : [{ leg: toLeg(found.row), etag: found.etag }];
  });
  invariant(legs.length === networks.length, "a post lost rows");
  return { post, etag: stored.etag, legs };
}

export function postRowKeys(place: PostPlace, post: Post): string[] {
  const legs = post.draft.networks.map((network) => legKey(place, network));
  return [postKey(place), workKey(place.postId), ...legs];
}

/**
 * The settling transaction: leg, its reservation, wallet, ledger, the post's aggregate and, with the last leg, the
 * work row. Guarded by the claim and the open reservation: applied once, whoever repeats it. Answers whether the
 * leg was still the caller's to settle.
 */
export function settleOperation({ place, post, leg, end }: Settlement): CoreOperation<boolean> {
  const work = workKey(place.postId);
  return {
    id: `settle|${legKey(place, leg.network)}|${leg.claimId}`,
    rowKeys: postRowKeys(place, post),
    decide(view): Decision<boolean> {
      const current = readPost(view, place, post);
      const mine = current?.legs.find((stored) => stored.leg.network === leg.network);
      const isMine = mine?.leg.claimId === leg.claimId && mine.leg.hold.state === "open";
      if (current === undefined || mine === undefined || !isMine)
        return { kind: "done", answer: false };
      const settled =
        end.kind === "published"
          ? succeeded(mine.leg, end.published, view.now)
          : failed(mine.leg, end.failure);
      const legs = current.legs.map((stored) => (stored === mine ? settled : stored.leg));
      const told = withEvents(
        {
          before: { post: current.post, legs: current.legs.map((stored) => stored.leg) },
          post: progressed(current.post, legs, view.now),
          legs,
        },
        view.now,
      );
      const writes: RowWrite[] = [
        { kind: "replace", row: toLegRow(legKey(place, leg.network), settled), etag: mine.etag },
        {
          kind: "merge",
          row: { rowKey: postKey(place), ...postProgress(told.post) },
          etag: current.etag,
        },
        ...told.writes,
      ];
      if (legs.every(isEnded) && view.row(work) !== undefined)
        writes.push({ kind: "delete", rowKey: work });
      return {
        kind: "write",
        movements: [movement(current.post, mine.leg, end)],
        writes,
        answer: true,
      };
    },
  };
}

function noteDuration({ metrics, clock }: PublishingDeps, post: Post, network: NetworkName): void {
  const sinceMs = clock.now().getTime() - Date.parse(post.startedAt ?? post.createdAt);
  metrics.observe("legs.publish_s", sinceMs / 1000, { network });
}

export async function settleLeg(services: PublishingDeps, settlement: Settlement): Promise<void> {
  const { place, post, leg, end } = settlement;
  const settled = await services.wallets.commit(place.platformId, settleOperation(settlement));
  const { network } = leg;
  const account = leg.account?.id ?? null;
  const fields = { postId: place.postId, network, account, attempt: leg.attempts };
  if (!settled) return services.log.warn("leg was settled by another worker", fields);
  const outcome = end.kind === "failed" ? end.failure.code : "published";
  services.metrics.count("legs.ended", { network, outcome });
  if (end.kind === "failed") {
    // Not `code`: the log blots out what is called that, for the codes of authenticator apps.
    const { code: reason, ...failure } = end.failure;
    services.log.info("leg failed", { ...fields, reason, ...failure });
    return;
  }
  // A retry may come days after the post.
  if (leg.round === post.id) noteDuration(services, post, network);
  services.log.info("leg published", { ...fields, ...end.published });
}
