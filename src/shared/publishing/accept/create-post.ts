import { isDecidedAgain, requireSameVersion } from "../../partition/partition.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import type { PublishingScope } from "../../connections/connections.ts";
import { AppError, invariant, validationFailed } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import type { PublishingDeps } from "../deps.ts";
import { currentOrigin, noteWork } from "../../runtime/telemetry/work-context.ts";
import type { AcceptedPost } from "../idempotency-store.ts";
import { commitPost } from "../post-change.ts";
import type { PostWithLegs } from "../post-store.ts";
import type { Draft, Post } from "../post.ts";
import { postView, type PostView } from "../read/post-view.ts";
import { findPostOf, viewPost } from "../read/read-posts.ts";
import { acceptOperation } from "./accept.ts";
import { firstLegs } from "./check-post.ts";
import { fingerprint, isSameRequest, parseIdempotencyKey } from "./idempotency-key.ts";
import { scheduleIssues } from "./schema.ts";

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
const successStatus = ({ scheduleAt }: Draft) => (scheduleAt === null ? ACCEPTED : CREATED);

/**
 * Returns the original post as it is now.
 * @throws AppError `idempotency_conflict` when the key was used for another request
 */
async function replay(
  services: PublishingDeps,
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
    findPostOf(services.stores.posts, scope, accepted.postId),
    // No transaction has compared it.
    scope.areCached && requireSameVersion(services.stores.partitions, scope),
  ]);
  return {
    post: await viewPost(services, scope, found),
    httpStatus: accepted.httpStatus,
    replayed: true,
  };
}

function newPost(scope: ProfileScope, draft: Draft, now: Date): Post {
  const at = now.toISOString();
  return {
    id: newId("post", now),
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
    startedAt: draft.scheduleAt === null ? at : null,
    completedAt: null,
  };
}

/** What becomes of a request. */
type AcceptResult =
  | { readonly kind: "accepted"; readonly created: PostWithLegs }
  /** Its key is that of an earlier request, or of one under way. */
  | { readonly kind: "replay"; readonly earlier: AcceptedPost }
  | { readonly kind: "refused"; readonly error: AppError };

const refusedResult = (error: AppError): AcceptResult => ({ kind: "refused", error });

/** Checks a post and commits it under its key. */
async function acceptNew(
  services: PublishingDeps,
  scope: AcceptingScope,
  idempotencyKey: string,
  draft: Draft,
): Promise<AcceptResult> {
  const now = services.clock.now();
  const issues = scheduleIssues(draft.scheduleAt, now);
  if (issues.length > 0) return refusedResult(validationFailed(issues));
  const post = newPost(scope, draft, now);
  const legs = await firstLegs(services, post, scope.connections, now);
  if (legs instanceof AppError) return refusedResult(legs);
  const created = { post, legs };
  const { id: postId, profileId } = post;
  const print = fingerprint(scope, draft);
  const mine = { fingerprint: print, postId, profileId, httpStatus: successStatus(draft) };
  const { accessVersion } = scope;
  const pace = services.config.publishing;
  const operation = { idempotencyKey, found: created, accepted: mine, pace, accessVersion };
  try {
    const accepted = await commitPost(services, acceptOperation(operation));
    if (accepted.postId !== postId) return { kind: "replay", earlier: accepted };
    invariant(accepted.fingerprint === print, "a post was accepted under another fingerprint");
    return { kind: "accepted", created };
  } catch (error) {
    // An outage says nothing about the post, and a look-up of the key would fail too.
    if (error instanceof AppError && error.code !== "service_unavailable")
      return refusedResult(error);
    throw error;
  }
}

/** Accepts a post. A key that was used answers with its post, whatever a new request would be refused for. */
async function accept(
  services: PublishingDeps,
  scope: AcceptingScope,
  idempotencyKey: string,
  draft: Draft,
): Promise<AcceptResult> {
  const replayOf = async (): Promise<AcceptResult | undefined> => {
    const earlier = await services.stores.idempotency.find(scope.platformId, idempotencyKey);
    return earlier && { kind: "replay", earlier };
  };
  // The due row of a scheduled post is written before the transaction can find that the key is taken.
  const early = draft.scheduleAt === null ? undefined : await replayOf();
  const acceptance = early ?? (await acceptNew(services, scope, idempotencyKey, draft));
  if (acceptance.kind !== "refused" || scope.areCached) return acceptance;
  // The many requests with an unused key don't pay for this look-up.
  return (await replayOf()) ?? acceptance;
}

async function createOnce(
  services: PublishingDeps,
  scope: AcceptingScope,
  { idempotencyKey, draft }: CreatePost,
): Promise<CreatedPost> {
  const key = parseIdempotencyKey(idempotencyKey);
  const acceptance = await accept(services, scope, key, draft);
  if (acceptance.kind === "refused") throw acceptance.error;
  if (acceptance.kind === "replay") return replay(services, scope, acceptance.earlier, draft);
  const { created } = acceptance;
  const { id: postId } = created.post;
  noteWork({ postId });
  services.log.info("post accepted", { networks: draft.networks, scheduleAt: draft.scheduleAt });
  services.audit.record(scope, {
    action: draft.scheduleAt === null ? "post.accepted" : "post.scheduled",
    target: { type: "post", id: postId },
  });
  const post = postView(created, services.config.publicBaseUrl, scope.connections);
  return { post, httpStatus: successStatus(draft), replayed: false };
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
  services: PublishingDeps,
  scope: AcceptingScope,
  asked: CreatePost,
): Promise<CreatedPost> {
  const { metrics } = services.work;
  const startedAt = performance.now();
  const count = (outcome: string) => {
    metrics.count("posts.accepted", { outcome });
    metrics.observe("posts.accept_ms", performance.now() - startedAt, { outcome });
  };
  try {
    const created = await createOnce(services, scope, asked);
    const { replayed, httpStatus } = created;
    count(replayed ? "replayed" : httpStatus === CREATED ? "scheduled" : "accepted");
    return created;
  } catch (error) {
    if (!isDecidedAgain(error, scope.areCached))
      count(error instanceof AppError ? error.code : "internal_error");
    throw error;
  }
}
