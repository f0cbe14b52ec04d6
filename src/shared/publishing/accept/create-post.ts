import { isDecidedAgain, requireSameVersion } from "../../partition/partition.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import type { PublishingScope } from "../../connections/connections.ts";
import { AppError, invariant, validationFailed } from "../../runtime/errors.ts";
import { newId, timeOfId } from "../../runtime/ids.ts";
import type { PublishingDeps } from "../deps.ts";
import { currentOrigin, noteWork } from "../../runtime/telemetry/work-context.ts";
import type { AcceptedPost } from "../idempotency-store.ts";
import { commitPost } from "../post-change.ts";
import type { Leg } from "../leg.ts";
import type { Draft, Post } from "../post.ts";
import { postView, type PostView } from "../read/post-view.ts";
import { findPostOf, viewPost } from "../read/read-posts.ts";
import { acceptOperation } from "./accept-operation.ts";
import { firstLegs } from "./check-post.ts";
import { fingerprint, isSameRequest, parseIdempotencyKey } from "./idempotency-key.ts";
import { fileIssues, scheduleIssues } from "./schema.ts";

export interface CreatedPost {
  readonly post: PostView;
  /** Status of the first answer, which a replay repeats. */
  readonly httpStatus: number;
  readonly replayed: boolean;
}

/** A profile with its linked accounts, to publish for it. */
export interface AcceptingScope extends PublishingScope {
  /** The platform's access version, read before the rows of the scope. */
  readonly accessVersion: string;
  /** Whether these rows are cached. A refusal based on cached rows is checked again on fresh rows. */
  readonly areCached: boolean;
}

export interface CreatePost {
  readonly idempotencyKey: string | null;
  readonly draft: Draft;
}

const ACCEPTED = 202;
const CREATED = 201;

/**
 * Returns the original post as it is now.
 * @throws AppError `idempotency_conflict` when the key was used for another request
 */
async function replay(
  deps: PublishingDeps,
  scope: AcceptingScope,
  accepted: AcceptedPost,
  draft: Draft,
): Promise<CreatedPost> {
  if (!isSameRequest(accepted.fingerprint, scope, draft))
    throw new AppError(
      "idempotency_conflict",
      "This Idempotency-Key was used with another request. Use a new key for a new post.",
    );
  const [found] = await Promise.all([
    findPostOf(deps.stores.posts, scope, accepted.postId),
    // No transaction has compared it.
    scope.areCached && requireSameVersion(deps.stores.partitions, scope),
  ]);
  return {
    post: await viewPost(deps, scope, found),
    httpStatus: accepted.httpStatus,
    replayed: true,
  };
}

function newPost(scope: ProfileScope, draft: Draft, now: Date): Post {
  const id = newId("post", now);
  // Lists are sorted and bounded by the time of the id, which is later than now if the clock was set back.
  const at = new Date(timeOfId("post", id)).toISOString();
  return {
    id,
    platformId: scope.platformId,
    applicationId: scope.applicationId,
    profileId: scope.profileId,
    status: draft.scheduleAt === null ? "processing" : "scheduled",
    draft,
    revision: "",
    requestId: scope.requestId,
    traceId: currentOrigin().traceId,
    actor: actorOf(scope.caller),
    createdAt: at,
    updatedAt: at,
    eventSequence: 0,
    indexed: [],
    startedAt: draft.scheduleAt === null ? at : null,
    completedAt: null,
  };
}

/**
 * Checks a post, commits it under its key, and returns it; or the post that an earlier request has under the key, whatever
 * this one would be refused for.
 */
async function acceptPost(
  deps: PublishingDeps,
  scope: AcceptingScope,
  idempotencyKey: string,
  draft: Draft,
): Promise<CreatedPost> {
  const { clock, config, stores } = deps;
  const findAccepted = () => stores.idempotency.find(scope.platformId, idempotencyKey);
  // The due row of a scheduled post is written before the transaction can find that the key is taken.
  let accepted: (AcceptedPost & { readonly legs?: readonly Leg[] }) | undefined =
    draft.scheduleAt === null ? undefined : await findAccepted();
  if (accepted !== undefined) return replay(deps, scope, accepted, draft);
  const now = clock.now();
  const post = newPost(scope, draft, now);
  const print = fingerprint(scope, draft);
  const httpStatus = draft.scheduleAt === null ? ACCEPTED : CREATED;
  let legs: readonly Leg[] = [];
  try {
    const issues = [
      ...fileIssues({ ...draft }, config.publicBaseUrl),
      ...scheduleIssues(draft.scheduleAt, now),
    ];
    if (issues.length > 0) throw validationFailed(issues);
    const first = await firstLegs(deps, post, scope, now);
    ({ legs } = first);
    const operation = acceptOperation({
      idempotencyKey,
      accepted: { fingerprint: print, postId: post.id, profileId: post.profileId, httpStatus },
      found: { post, legs },
      uses: first.files.named.size > 0 ? first : undefined,
      pace: config.publishing,
      accessVersion: scope.accessVersion,
    });
    accepted = await commitPost(deps, operation);
    legs = accepted.legs ?? legs;
  } catch (error) {
    const isRefusal = error instanceof AppError && error.code !== "service_unavailable";
    // An outage says nothing about the post, and this look-up would fail too. A refusal on cached rows is checked again.
    accepted = isRefusal && !scope.areCached ? await findAccepted() : undefined;
    if (accepted === undefined) throw error;
  }
  if (accepted.postId !== post.id) return replay(deps, scope, accepted, draft);
  invariant(accepted.fingerprint === print, "a post was accepted under another fingerprint");
  noteWork({ postId: post.id });
  deps.log.info("post accepted", { networks: draft.networks, scheduleAt: draft.scheduleAt });
  deps.audit.record(scope, {
    action: draft.scheduleAt === null ? "post.accepted" : "post.scheduled",
    target: { type: "post", id: post.id },
  });
  const view = postView({ post, legs }, config.publicBaseUrl, scope.connections, scope.locale);
  return { post: view, httpStatus, replayed: false };
}

/**
 * Accepts a post in one transaction and then sends a hint. A scheduled post is stored, and starts when it is due. The
 * same Idempotency-Key with the same request returns the original post and charges nothing. Nothing is accepted on
 * access that an answered change has taken away: see `access-version.ts`.
 * @throws OutdatedAccess when the scope is older than such a change and must be resolved again
 * @throws AppError 400 on the key, 402 when the wallet is short (nothing is written and the key stays unused),
 * `idempotency_conflict`, `not_publishable`
 */
export async function createPost(
  deps: PublishingDeps,
  scope: AcceptingScope,
  { idempotencyKey, draft }: CreatePost,
): Promise<CreatedPost> {
  const { metrics } = deps.work;
  const startedAt = performance.now();
  const count = (outcome: string) => {
    metrics.count("posts.accepted", { outcome });
    metrics.observe("posts.accept_ms", performance.now() - startedAt, { outcome });
  };
  try {
    const created = await acceptPost(deps, scope, parseIdempotencyKey(idempotencyKey), draft);
    const { replayed, httpStatus } = created;
    count(replayed ? "replayed" : httpStatus === CREATED ? "scheduled" : "accepted");
    return created;
  } catch (error) {
    if (!isDecidedAgain(error, scope.areCached))
      count(error instanceof AppError ? error.code : "internal_error");
    throw error;
  }
}
