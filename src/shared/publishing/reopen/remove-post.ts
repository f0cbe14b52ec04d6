import { randomUUID } from "node:crypto";
import { connectionsOf, type Connection } from "../../connections/connections.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import { networkOf, type NetworkName } from "../../networks/networks.ts";
import { AppError, refuseIssues } from "../../runtime/errors.ts";
import { callAfter, endedCall, isFinal, mayShow, withdrawn } from "../call.ts";
import type { PublishingDeps } from "../deps.ts";
import {
  isEnded,
  latestCall,
  openCall,
  publishingCall,
  withCall,
  withNewCall,
  type Leg,
} from "../leg.ts";
import {
  commitPost,
  postOperation,
  touched,
  type PostDecision,
  type PostOperation,
} from "../post-change.ts";
import type { Pace } from "../pace.ts";
import type { PostWithLegs } from "../post-store.ts";
import type { Post } from "../post.ts";
import type { PostView } from "../read/post-view.ts";
import { findPostOf, viewPost } from "../read/read-posts.ts";
import { timelineStep } from "../timeline-store.ts";
import { foreignIssues } from "./foreign-issues.ts";
import { free } from "../publish/leg-attempt.ts";
import { noteStep } from "../publish/timeline-recorder.ts";

/** Whether what a leg made visible can be removed. */
type Removable = "yes" | "unsupported" | "pending" | "removed" | "retried" | "nothing";

interface Removal {
  /** Tells the calls of this request from those of others, so that a repeat after a lost answer recognizes them. */
  readonly round: string;
  readonly found: PostWithLegs;
  /** All legs if absent. */
  readonly networks: readonly NetworkName[] | undefined;
  readonly connections: readonly Connection[];
  readonly pace: Pace;
}

/** Reports whether the leg's network can remove the post, which the call finds out while the account is unknown. */
function isSupported(leg: Leg, connections: readonly Connection[]): boolean {
  const { remove } = networkOf(leg.network).calls;
  if (remove === undefined) return false;
  const linked = connections.find(
    ({ network, account }) => network === leg.network && account.id === leg.account?.id,
  );
  if (linked === undefined || remove.isSupported === undefined) return true;
  const { account, limits } = linked;
  return remove.isSupported({ account, limits, remote: publishingCall(leg).remote ?? {} });
}

function removableOf(leg: Leg, post: Post, connections: readonly Connection[]): Removable {
  if (!isEnded(leg)) return leg.round === post.id ? "nothing" : "retried";
  if (!mayShow(publishingCall(leg))) return "nothing";
  const earlier = latestCall(leg, "remove");
  if (earlier !== undefined && !isFinal(earlier)) return "pending";
  if (earlier?.state === "done") return "removed";
  return isSupported(leg, connections) ? "yes" : "unsupported";
}

/** Makes the refusal that names the networks on which nothing is left to remove. */
const nothing = (asked: readonly { readonly leg: Leg; readonly what: Removable }[]) =>
  new AppError("nothing_to_remove", "Nothing that was requested is still published.", {
    details: {
      platforms: asked
        .filter(({ what }) => what === "nothing" || what === "removed")
        .map(({ leg }) => leg.network),
    },
  });

function removalRefusal(
  { networks }: Removal,
  post: Post,
  asked: readonly { readonly leg: Leg; readonly what: Removable }[],
): AppError | undefined {
  const { status } = post;
  if (status === "scheduled")
    return new AppError("invalid_state", "A scheduled post is not published yet: cancel it.", {
      details: { status },
    });
  const is = (...kinds: readonly Removable[]) => asked.some(({ what }) => kinds.includes(what));
  if (networks !== undefined && is("retried"))
    return new AppError("invalid_state", "A requested leg is being retried.", {
      details: { status },
    });
  if (networks !== undefined && is("nothing")) return nothing(asked);
  if (is("yes", "pending")) return undefined;
  if (!is("unsupported")) return nothing(asked);
  const posts = asked
    .filter(({ what }) => what === "unsupported")
    .map(({ leg }) => ({ platform: leg.network, url: publishingCall(leg).result?.url ?? null }));
  return new AppError("removal_unsupported", "These posts can only be removed manually.", {
    details: { posts },
  });
}

/** Makes the transaction that requests removals. Its answer is the networks of the requested ones. */
function removeOperation(removal: Removal): PostOperation<readonly NetworkName[]> {
  const { round, found, networks, connections, pace } = removal;
  return postOperation({
    id: `remove|${round}`,
    known: found.post,
    pace,
    decide(current, { now }): PostDecision<readonly NetworkName[]> {
      if (current === undefined) {
        const message = "The post was changed by another request. Read it again.";
        return { kind: "refuse", error: new AppError("invalid_state", message) };
      }
      const before = current.legs.map(({ leg }) => leg);
      const own = before.filter(({ calls }) => calls.some(({ key }) => key.endsWith(`|${round}`)));
      if (own.length > 0) return { kind: "done", answer: own.map(({ network }) => network) };
      const asked = before
        .filter(({ network }) => networks?.includes(network) ?? true)
        .map((leg) => ({ leg, what: removableOf(leg, current.post, connections) }));
      const error = removalRefusal(removal, current.post, asked);
      if (error !== undefined) return { kind: "refuse", error };
      const kindOf = (leg: Leg) => asked.find((one) => one.leg === leg)?.what;
      const legs = before.map((leg) => {
        const kind = kindOf(leg);
        if (kind !== "yes" && kind !== "unsupported") return leg;
        const removal = callAfter(publishingCall(leg), "remove", round, now);
        if (kind === "unsupported") {
          const failure = { code: "feature_unsupported", networkCode: null } as const;
          return withNewCall(leg, endedCall(removal, { kind: "failed", failure }, now));
        }
        // It is made after the current call. A comment that no worker has is dropped.
        const open = openCall(leg);
        const isIdle = leg.claimId === null;
        const next = open !== undefined && isIdle ? withCall(leg, withdrawn(open, now)) : leg;
        return { ...withNewCall(next, removal), ...(isIdle && free) };
      });
      const begun = before.filter((leg) => kindOf(leg) === "yes").map(({ network }) => network);
      if (legs.every((leg, index) => leg === before[index])) return { kind: "done", answer: [] };
      const post = touched(current.post, now);
      return { kind: "change", after: { post, legs }, answer: begun };
    },
  });
}

/**
 * Asks the networks to remove what the legs made visible. A leg whose removal is already open gets no second one.
 * @throws AppError 400 for a network that the post doesn't have, 404, `nothing_to_remove`, `removal_unsupported`,
 * `invalid_state`
 */
export async function removePost(
  deps: PublishingDeps,
  scope: ProfileScope,
  input: { readonly postId: string; readonly networks: readonly NetworkName[] | undefined },
): Promise<PostView> {
  const [found, connections] = await Promise.all([
    findPostOf(deps.stores.posts, scope, input.postId),
    connectionsOf(deps.connections, scope),
  ]);
  refuseIssues(foreignIssues(found.post.draft, input.networks ?? []));
  const { networks } = input;
  const { publishing: pace } = deps.config;
  const removal = { round: randomUUID(), found, networks, connections, pace };
  const begun = await commitPost(deps, removeOperation(removal));
  deps.log.info("removals asked for", { networks: begun });
  if (begun.length > 0) {
    deps.audit.record(scope, {
      action: "post.removed",
      target: { type: "post", id: found.post.id },
    });
    const at = deps.clock.now().toISOString();
    const asked = { ...timelineStep(at, "removal", begun.join(", ")), outcome: "asked" };
    await noteStep(deps, found.post.id, asked);
  }
  return viewPost(deps, scope, await findPostOf(deps.stores.posts, scope, input.postId));
}
