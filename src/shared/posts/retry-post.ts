import { randomUUID } from "node:crypto";
import { recordAudit } from "../audit/record.ts";
import type { CoreOperation, CoreView, Decision } from "../billing/group-commit.ts";
import { priceOf } from "../billing/rate-card.ts";
import { refusal, utcDay } from "../billing/wallet.ts";
import { actorOf } from "../callers/caller.ts";
import type { ProfileScope } from "../callers/scope.ts";
import { AppError, validationFailed } from "../errors.ts";
import type { NetworkName } from "../networks/network.ts";
import type { Services } from "../services.ts";
import type { RowWrite } from "../storage/row.ts";
import { placeOf } from "./accept.ts";
import { hintLegs } from "./hint-legs.ts";
import { firstCheckAt } from "./first-check.ts";
import { findPostOf, viewPost } from "./get-post.ts";
import type { Leg } from "./post.ts";
import { postProgress, toLegRow } from "./post-row.ts";
import type { PostView } from "./post-view.ts";
import { legKey, postKey, toWorkRow, workKey, type PostWithLegs } from "./post-store.ts";
import { postRowKeys, readPost } from "./settle-leg.ts";
import { step } from "./timeline-store.ts";
import { noteStep } from "./trace.ts";

/** A failed leg on its way again. What was chosen for the network stays: an earlier call is looked up first. */
function retried(leg: Leg, round: string, now: Date): Leg {
  return {
    ...leg,
    status: "pending",
    phase: "idle",
    claimId: null,
    leaseUntil: null,
    notBefore: null,
    round,
    retries: 0,
    crashes: 0,
    resend: leg.sentAt !== null,
    error: null,
    hold: {
      state: "open",
      tokens: priceOf("posts.retry_leg"),
      operation: "posts.retry_leg",
      day: utcDay(now),
    },
  };
}

function nothingToRetry(): AppError {
  return new AppError("nothing_to_retry", "Only failed legs can be retried.");
}

interface Retry {
  /** Marks the legs of this very retry: a repeat after a lost answer finds it done. */
  readonly round: string;
  readonly scope: ProfileScope;
  readonly found: PostWithLegs;
  /** All failed legs when absent. */
  readonly networks: readonly NetworkName[] | undefined;
  readonly nextCheckAt: string;
}

function retryOperation({
  round,
  scope,
  found,
  networks,
  nextCheckAt,
}: Retry): CoreOperation<NetworkName[]> {
  const place = placeOf(found.post);
  const wanted =
    networks ??
    found.legs.filter(({ status }) => status === "failed").map(({ network }) => network);
  return {
    id: `retry|${round}`,
    rowKeys: postRowKeys(place, found.post),
    decide(view: CoreView): Decision<NetworkName[]> {
      const { now } = view;
      const current = readPost(view, place, found.post);
      const chosen = current.legs.filter(({ leg }) => wanted.includes(leg.network));
      const answer = chosen.map(({ leg }) => leg.network);
      if (chosen.length > 0 && chosen.every(({ leg }) => leg.round === round))
        return { kind: "done", answer };
      if (chosen.length === 0 || chosen.some(({ leg }) => leg.status !== "failed"))
        return { kind: "refuse", error: nothingToRetry() };
      const tokens = chosen.length * priceOf("posts.retry_leg");
      const error = refusal(view.wallet, tokens, now);
      if (error !== undefined) return { kind: "refuse", error };
      const post = {
        ...current.post,
        status: "processing" as const,
        updatedAt: now.toISOString(),
        completedAt: null,
      };
      const writes: RowWrite[] = [
        ...chosen.map(({ leg, etag }): RowWrite => {
          return {
            kind: "replace",
            row: toLegRow(legKey(place, leg.network), retried(leg, round, now)),
            etag,
          };
        }),
        {
          kind: "merge",
          row: { rowKey: postKey(place), ...postProgress(post) },
          etag: current.etag,
        },
      ];
      if (view.row(workKey(place.postId)) === undefined)
        writes.push({ kind: "create", row: toWorkRow({ place, nextCheckAt, checks: 0 }) });
      return {
        kind: "write",
        movements: [
          {
            type: "reserve",
            operation: "posts.retry_leg",
            tokens,
            postId: post.id,
            network: null,
            applicationId: post.applicationId,
            profileId: post.profileId,
            actor: actorOf(scope.caller),
            requestId: scope.requestId,
            note: null,
          },
        ],
        writes,
        answer,
      };
    },
  };
}

function refuseForeign(found: PostWithLegs, networks: readonly NetworkName[]): void {
  const issues = networks.flatMap((network, index) =>
    found.post.draft.networks.includes(network)
      ? []
      : [
          {
            path: `platforms.${index}`,
            code: "not_in_post",
            message: `${network} is not a network of this post`,
          },
        ],
  );
  if (issues.length > 0) throw validationFailed(issues);
}

/**
 * Re-attempts failed legs, reserving for each. A leg whose outcome is unknown is looked up before anything is sent.
 * @throws AppError 400 for a network that is not the post's, 402, 404, `nothing_to_retry`
 */
export async function retryPost(
  services: Services,
  scope: ProfileScope,
  input: { readonly postId: string; readonly networks: readonly NetworkName[] | undefined },
): Promise<PostView> {
  const found = await findPostOf(services, scope, input.postId);
  refuseForeign(found, input.networks ?? []);
  const now = services.clock.now();
  await services.dirty.announce(scope.platformId, now);
  const nextCheckAt = firstCheckAt(services, now);
  const networks = await services.wallets.commit(
    scope.platformId,
    retryOperation({ round: randomUUID(), scope, found, networks: input.networks, nextCheckAt }),
  );
  recordAudit(services, scope, {
    action: "post.retried",
    target: { type: "post", id: found.post.id },
  });
  await noteStep(services, found.post.id, step(now.toISOString(), "retried", networks.join(", ")));
  await hintLegs(services, placeOf(found.post), networks);
  return viewPost(services, scope, await findPostOf(services, scope, input.postId));
}
