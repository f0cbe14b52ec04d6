import { randomUUID } from "node:crypto";
import { type Movement, priceOf, spendingRefusal, walletOf } from "../../ledger/ledger.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import type { NetworkName } from "../../networks/networks.ts";
import { AppError, refuseIssues } from "../../runtime/errors.ts";
import { reserveMovement } from "../accept/accept-operation.ts";
import type { PublishingDeps } from "../deps.ts";
import { isBeingRemoved, retried, legStatusOf, type Leg } from "../leg.ts";
import {
  commitPost,
  postOperation,
  progressed,
  type PostDecision,
  type PostOperation,
} from "../post-change.ts";
import type { Pace } from "../pace.ts";
import type { PostWithLegs } from "../post-store.ts";
import { hasStarted } from "../post.ts";
import type { PostView } from "../read/post-view.ts";
import { findPostOf, viewPost } from "../read/read-posts.ts";
import { timelineStep } from "../timeline-store.ts";
import { fileKeys, namedFiles, type PostFiles, useFiles } from "../../files/files.ts";
import { addressesOf } from "../accept/check-media.ts";
import { foreignIssues } from "./foreign-issues.ts";
import { noteStep } from "../publish/timeline-recorder.ts";

const networksOf = (legs: readonly Leg[]) => legs.map(({ network }) => network);

/** Makes the refusal to retry. A post that has not started has nothing to retry, and is changed instead. */
function nothingToRetry(): AppError {
  return new AppError("nothing_to_retry", "Only failed legs can be retried.");
}

interface Retry {
  /** Marks the legs of this retry, so that a repeat after a lost answer recognizes them. */
  readonly round: string;
  readonly scope: ProfileScope;
  readonly found: PostWithLegs;
  /** All failed legs if absent. */
  readonly networks: readonly NetworkName[] | undefined;
  readonly pace: Pace;
  /** The files of the post, which are kept until after this retry. */
  readonly files: Pick<PostFiles, "named">;
}

/** Makes the transaction that starts failed legs again. Its answer is their networks. */
function retryOperation(retry: Retry): PostOperation<readonly NetworkName[]> {
  const { round, scope, found, networks, pace, files } = retry;
  const isWanted = (leg: Leg) => networks?.includes(leg.network) ?? legStatusOf(leg) === "failed";
  return postOperation({
    id: `retry|${round}`,
    known: found.post,
    pace,
    rowKeys: fileKeys(files),
    decide(current, view): PostDecision<readonly NetworkName[]> {
      if (current === undefined || !hasStarted(current.post))
        return { kind: "refuse", error: nothingToRetry() };
      const { now } = view;
      const before = current.legs.map(({ leg }) => leg);
      const own = before.filter((leg) => leg.round === round);
      if (own.length > 0) return { kind: "done", answer: networksOf(own) };
      const chosen = before.filter(isWanted);
      if (chosen.length === 0 || chosen.some((leg) => legStatusOf(leg) !== "failed"))
        return { kind: "refuse", error: nothingToRetry() };
      if (chosen.some(isBeingRemoved)) {
        const { status } = current.post;
        const message = "A leg that was asked for is being removed.";
        const details = { status };
        return { kind: "refuse", error: new AppError("invalid_state", message, { details }) };
      }
      const tokens = chosen.length * priceOf("posts.retry_leg");
      const movement: Movement = {
        ...reserveMovement(current.post, tokens, networksOf(chosen)),
        operation: "posts.retry_leg",
        actor: actorOf(scope.caller),
        requestId: scope.requestId,
      };
      const error = spendingRefusal(walletOf(view), tokens, now);
      if (error !== undefined) return { kind: "refuse", error };
      const legs = before.map((leg) => (chosen.includes(leg) ? retried(leg, round, now) : leg));
      return {
        kind: "change",
        movements: [movement],
        // A file that can't be used any more fails the leg when it is published.
        also: useFiles(view, files, { due: now, isUsedBefore: true }).writes,
        after: { post: progressed(current.post, legs, now), legs },
        answer: networksOf(chosen),
      };
    },
  });
}

/**
 * Retries failed legs, with a reservation for each. A call of unknown outcome is looked up before anything is sent.
 * @throws AppError 400 for a network that the post doesn't have, 402, 404, `nothing_to_retry`
 */
export async function retryPost(
  deps: PublishingDeps,
  scope: ProfileScope,
  input: { readonly postId: string; readonly networks: readonly NetworkName[] | undefined },
): Promise<PostView> {
  const found = await findPostOf(deps.stores.posts, scope, input.postId);
  refuseIssues(foreignIssues(found.post.draft, input.networks ?? []));
  const now = deps.clock.now();
  const retry = {
    round: randomUUID(),
    scope,
    found,
    networks: input.networks,
    pace: deps.config.publishing,
    files: {
      named: namedFiles(
        deps.files,
        found.post,
        addressesOf(found.post.draft).map(({ url }) => url),
      ),
    },
  };
  const networks = await commitPost(deps, retryOperation(retry));
  deps.log.info("legs retried", { networks });
  deps.audit.record(scope, {
    action: "post.retried",
    target: { type: "post", id: found.post.id },
  });
  await noteStep(
    deps,
    found.post.id,
    timelineStep(now.toISOString(), "retried", networks.join(", ")),
  );
  return viewPost(deps, scope, await findPostOf(deps.stores.posts, scope, input.postId));
}
