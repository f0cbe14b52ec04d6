import { randomUUID } from "node:crypto";
import { recordAudit } from "../../audit/record.ts";
import type { CoreOperation } from "../../billing/group-commit.ts";
import { checkAfter, paced, secondsUntil } from "../../billing/pace.ts";
import { priceOf } from "../../billing/rate-card.ts";
import { refusal, type Movement } from "../../billing/wallet.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import { AppError, refuseIssues, type Issue } from "../../runtime/errors.ts";
import type { NetworkName } from "../../networks/lookup.ts";
import type { PublishingDeps } from "../deps.ts";
import { reserveMovement } from "../accept/accept.ts";
import { hintLegs } from "./hint-legs.ts";
import { firstCheckAt } from "../schedule/first-check.ts";
import { findPostOf, lookForPost, viewPost } from "../read/get-post.ts";
import { hasStarted, type Draft, type Post, refOf } from "../post.ts";
import { type Leg, retried, startingAt } from "../leg.ts";
import type { PostView } from "../read/post-view.ts";
import type { PostWithLegs } from "../post-store.ts";
import { commitPost, postOperation, progressed, type PostDecision } from "../post-change.ts";
import { step } from "../timeline-store.ts";
import { noteStep } from "./trace.ts";

function reservationOf(scope: ProfileScope, post: Post, tokens: number): Movement {
  return {
    ...reserveMovement(post, tokens),
    operation: "posts.retry_leg",
    actor: actorOf(scope.caller),
    requestId: scope.requestId,
  };
}

const networksOf = (legs: readonly Leg[]) => legs.map(({ network }) => network);

/** Of a post that did not start, no leg either: it is changed instead. */
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
  readonly legsPerSecond: number;
}

interface Retried {
  readonly networks: NetworkName[];
  /** When they begin; null for at once. */
  readonly startAt: string | null;
}

function retryOperation({
  round,
  scope,
  found,
  networks,
  nextCheckAt: firstCheck,
  legsPerSecond,
}: Retry): CoreOperation<Retried> {
  const isWanted = ({ network, status }: Leg) => networks?.includes(network) ?? status === "failed";
  return postOperation({
    id: `retry|${round}`,
    known: found.post,
    decide(current, { now, wallet }): PostDecision<Retried> {
      if (current === undefined || !hasStarted(current.post))
        return { kind: "refuse", error: nothingToRetry() };
      const before = current.legs.map(({ leg }) => leg);
      const own = before.filter((leg) => leg.round === round);
      if (own.length > 0)
        return { kind: "done", answer: { networks: networksOf(own), startAt: null } };
      const chosen = before.filter(isWanted);
      if (chosen.length === 0 || chosen.some(({ status }) => status !== "failed"))
        return { kind: "refuse", error: nothingToRetry() };
      const tokens = chosen.length * priceOf("posts.retry_leg");
      const error = refusal(wallet, tokens, now);
      if (error !== undefined) return { kind: "refuse", error };
      const { paceUntil, startAt } = paced(wallet, chosen.length, now, legsPerSecond);
      const again = startingAt(
        chosen.map((leg) => retried(leg, round, now)),
        startAt,
      );
      const legs = before.map((leg) => again.find(({ network }) => network === leg.network) ?? leg);
      return {
        kind: "change",
        movements: [reservationOf(scope, current.post, tokens)],
        paceUntil,
        after: {
          post: progressed(current.post, legs, now),
          legs,
          nextCheckAt: checkAfter(firstCheck, startAt, now),
        },
        answer: { networks: networksOf(chosen), startAt },
      };
    },
  });
}

/** Of networks that the post does not have. */
function foreignIssues(draft: Draft, networks: readonly string[]): readonly Issue[] {
  return networks.flatMap((network, index) =>
    draft.networks.some((own) => own === network)
      ? []
      : [
          {
            path: `platforms.${index}`,
            code: "not_in_post",
            message: `${network} is not a network of this post`,
          },
        ],
  );
}

/** What would be wrong with a retry beside what its schema refuses. */
export async function issuesOfRetry(
  services: PublishingDeps,
  scope: ProfileScope,
  input: { readonly postId: string; readonly platforms: unknown },
): Promise<readonly Issue[]> {
  const found = await lookForPost(services, scope, input.postId);
  const named: readonly unknown[] = Array.isArray(input.platforms) ? input.platforms : [];
  return found === undefined ? [] : foreignIssues(found.post.draft, named.map(String));
}

/**
 * Re-attempts failed legs, reserving for each. A leg whose outcome is unknown is looked up before anything is sent.
 * @throws AppError 400 for a network that is not the post's, 402, 404, `nothing_to_retry`
 */
export async function retryPost(
  services: PublishingDeps,
  scope: ProfileScope,
  input: { readonly postId: string; readonly networks: readonly NetworkName[] | undefined },
): Promise<PostView> {
  const found = await findPostOf(services, scope, input.postId);
  refuseIssues(foreignIssues(found.post.draft, input.networks ?? []));
  const now = services.clock.now();
  await services.openWork.mark(scope.platformId, now);
  const nextCheckAt = firstCheckAt(services, now);
  const { legsPerSecond } = services.config.publishing;
  const { networks, startAt } = await commitPost(
    services,
    scope.platformId,
    retryOperation({
      round: randomUUID(),
      scope,
      found,
      networks: input.networks,
      nextCheckAt,
      legsPerSecond,
    }),
    "worker",
  );
  services.log.info("legs retried", { networks });
  recordAudit(services, scope, {
    action: "post.retried",
    target: { type: "post", id: found.post.id },
  });
  await noteStep(services, found.post.id, step(now.toISOString(), "retried", networks.join(", ")));
  const seconds = secondsUntil(startAt, services.clock.now());
  await hintLegs(services, refOf(found.post), networks, seconds);
  return viewPost(services, scope, await findPostOf(services, scope, input.postId));
}
