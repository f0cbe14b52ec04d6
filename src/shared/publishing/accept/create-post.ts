import { isDecidedAgain, OutdatedAccess } from "../../core/core.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import type { PublishingScope } from "../../connections/connections.ts";
import { AppError, invariant, validationFailed } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import type { PublishingDeps } from "../deps.ts";
import { currentOrigin, noteWork } from "../../runtime/telemetry/work-context.ts";
import type { Accepted } from "../idempotency-store.ts";
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
  /** The platform's access version, read before the rows that the scope was made of. */
  readonly accessVersion: string;
  /** Whether these rows are cached. A refusal based on cached rows is not answered: the request is checked on fresh rows. */
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
  services: PublishingDeps,
  scope: AcceptingScope,
  accepted: Accepted,
  draft: Draft,
): Promise<CreatedPost> {
  if (!isSameRequest(accepted.fingerprint, scope, draft))
    throw new AppError(
      "idempotency_conflict",
      "This Idempotency-Key was used with another request. Use a new key for a new post.",
    );
  const { areCached, platformId, accessVersion } = scope;
  const [found, versionNow] = await Promise.all([
    findPostOf(services, scope, accepted.postId),
    areCached ? services.billing.wallets.readAccessVersion(platformId) : accessVersion,
  ]);
  // No transaction has compared them.
  if (versionNow !== accessVersion) throw new OutdatedAccess();
  return {
    post: await viewPost(services, scope, found),
    httpStatus: accepted.httpStatus,
    replayed: true,
  };
}

function newPost(services: PublishingDeps, scope: ProfileScope, draft: Draft, now: Date): Post {
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

/** Returns the post as it can be accepted now, or why it can't. */
async function checkedPost(
  services: PublishingDeps,
  scope: AcceptingScope,
  draft: Draft,
): Promise<PostWithLegs | AppError> {
  const now = services.clock.now();
  const issues = scheduleIssues(draft.scheduleAt, now);
  if (issues.length > 0) return validationFailed(issues);
  const post = newPost(services, scope, draft, now);
  const legs = await firstLegs(services, post, scope.connections, now);
  return legs instanceof AppError ? legs : { post, legs };
}

/** Commits a post. Returns what is accepted under the key, which may be an earlier post, or why nothing is. */
async function commitNew(
  services: PublishingDeps,
  { accessVersion }: AcceptingScope,
  idempotencyKey: string,
  { found, accepted }: { readonly found: PostWithLegs; readonly accepted: Accepted },
): Promise<Accepted | AppError> {
  const pace = services.config.publishing;
  try {
    return await commitPost(
      services,
      acceptOperation({ idempotencyKey, found, accepted, pace, accessVersion }),
    );
  } catch (error) {
    // An outage says nothing of the post, and a look-up of the key would fail, too.
    if (error instanceof AppError && error.code !== "service_unavailable") return error;
    throw error;
  }
}

async function createOnce(
  services: PublishingDeps,
  scope: AcceptingScope,
  { idempotencyKey, draft }: CreatePost,
): Promise<CreatedPost> {
  // No version was read before the rows, so there is none to compare.
  if (scope.accessVersion === "") throw new OutdatedAccess();
  const key = parseIdempotencyKey(idempotencyKey);
  const isScheduled = draft.scheduleAt !== null;
  const findEarlier = () => services.stores.idempotency.find(scope.platformId, key);
  // A key that was used answers with its post, whatever a new request would be refused for. It is looked up after the
  // refusal, so that the many requests with an unused key don't pay for it.
  const replayOrRefuse = async (refusal: AppError) => {
    const earlier = scope.areCached ? undefined : await findEarlier();
    if (earlier === undefined) throw refusal;
    return replay(services, scope, earlier, draft);
  };
  // The due row of a scheduled post is written before the transaction can find that the key is taken.
  const earlier = isScheduled ? await findEarlier() : undefined;
  if (earlier !== undefined) return replay(services, scope, earlier, draft);
  const found = await checkedPost(services, scope, draft);
  if (found instanceof AppError) return replayOrRefuse(found);
  const { id: postId, profileId } = found.post;
  const httpStatus = isScheduled ? CREATED : ACCEPTED;
  const print = fingerprint(scope, draft);
  const mine = { fingerprint: print, postId, profileId, httpStatus };
  const accepted = await commitNew(services, scope, key, { found, accepted: mine });
  if (accepted instanceof AppError) return replayOrRefuse(accepted);
  if (accepted.postId !== postId) return replay(services, scope, accepted, draft);
  invariant(accepted.fingerprint === print, "a post was accepted under another fingerprint");
  noteWork({ postId });
  services.log.info("post accepted", { networks: draft.networks, scheduleAt: draft.scheduleAt });
  services.audit.record(scope, {
    action: isScheduled ? "post.scheduled" : "post.accepted",
    target: { type: "post", id: postId },
  });
  const post = postView(found, services.config.publicBaseUrl, scope.connections);
  return { post, httpStatus, replayed: false };
}

/**
 * Accepts a post in one transaction and then sends a hint. A scheduled post is stored, and starts when it is due. The
 * same Idempotency-Key with the same request returns the original post and charges nothing. Nothing is accepted with
 * what a change has taken away that was answered before: see `access-version.ts`.
 * @throws OutdatedAccess when the scope is older than such a change: it is to be resolved again
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
