import { OutdatedAccess } from "../../core/core.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import type { PublishingScope } from "../../connections/connections.ts";
import { AppError, invariant, refuseIssues } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import type { PublishingDeps } from "../deps.ts";
import { currentOrigin, noteWork } from "../../runtime/telemetry/work-context.ts";
import { firstLeg } from "../leg.ts";
import type { Accepted } from "../idempotency-store.ts";
import { commitPost } from "../post-change.ts";
import type { Draft, Post } from "../post.ts";
import { postView, type PostView } from "../read/post-view.ts";
import { findPostOf, viewPost } from "../read/read-posts.ts";
import { acceptOperation } from "./accept.ts";
import { checkPost, duplicateRefusal, unpublishableRefusal } from "./check-post.ts";
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
  readonly isKept: boolean;
}

export interface CreatePost {
  readonly idempotencyKey: string | null;
  readonly draft: Draft;
}

/** The first is about the key itself. The second would also fail the look-up of the key. */
const ANSWERED_AS_IS: ReadonlySet<string> = new Set([
  "idempotency_conflict",
  "service_unavailable",
]);
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
  const { isKept, platformId, accessVersion } = scope;
  const [found, versionNow] = await Promise.all([
    findPostOf(services, scope, accepted.postId),
    isKept ? services.billing.wallets.readAccessVersion(platformId) : accessVersion,
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
  { idempotencyKey, draft }: CreatePost,
): Promise<CreatedPost> {
  const startedAt = performance.now();
  let outcome: string = "internal_error";
  try {
    const created = await createOnce(services, scope, { idempotencyKey, draft });
    outcome = outcomeOf(created);
    return created;
  } catch (error) {
    if (error instanceof AppError) outcome = isRepeated(scope, error) ? "repeated" : error.code;
    throw error;
  } finally {
    if (outcome !== "repeated") {
      services.work.metrics.count("posts.accepted", { outcome });
      services.work.metrics.observe("posts.accept_ms", performance.now() - startedAt, { outcome });
    }
  }
}

/** Returns whether the request is decided again on rows that are read for it, instead of being told this. */
function isRepeated({ isKept }: AcceptingScope, error: AppError): boolean {
  return error instanceof OutdatedAccess || (isKept && error.code !== "service_unavailable");
}

function outcomeOf({ replayed, httpStatus }: CreatedPost): "accepted" | "scheduled" | "replayed" {
  if (replayed) return "replayed";
  return httpStatus === CREATED ? "scheduled" : "accepted";
}

async function createOnce(
  services: PublishingDeps,
  scope: AcceptingScope,
  { idempotencyKey, draft }: CreatePost,
): Promise<CreatedPost> {
  // No version was read before the rows, so there is none to compare.
  if (scope.accessVersion === "") throw new OutdatedAccess();
  const key = parseIdempotencyKey(idempotencyKey);
  const print = fingerprint(scope, draft);
  try {
    return await acceptPost(services, scope, { key, print, draft });
  } catch (error) {
    if (!(error instanceof AppError) || ANSWERED_AS_IS.has(error.code)) throw error;
    if (isRepeated(scope, error)) throw error;
    // A key that was used answers with its post, whatever a new request would be refused for. It is looked up after the
    // failure, so that the many requests with an unused key don't pay for it.
    const earlier = await services.stores.idempotency.find(scope.platformId, key);
    if (earlier === undefined) throw error;
    return replay(services, scope, earlier, draft);
  }
}

interface Acceptable {
  readonly key: string;
  readonly print: string;
  readonly draft: Draft;
}

async function acceptPost(
  services: PublishingDeps,
  scope: AcceptingScope,
  { key, print, draft }: Acceptable,
): Promise<CreatedPost> {
  const now = services.clock.now();
  const isScheduled = draft.scheduleAt !== null;
  const { connections } = scope;
  // The due row is written before the transaction can find that the key is taken.
  const earlier = isScheduled
    ? await services.stores.idempotency.find(scope.platformId, key)
    : undefined;
  if (earlier !== undefined) return replay(services, scope, earlier, draft);
  refuseIssues(scheduleIssues(draft.scheduleAt, now));
  const checks = await checkPost(services, draft, connections);
  const error =
    duplicateRefusal(checks) ?? unpublishableRefusal(checks, services.config.publicBaseUrl);
  if (error !== undefined) throw error;
  const post = newPost(services, scope, draft, now);
  const found = { post, legs: checks.map((check) => firstLeg(post, check, now)) };
  const httpStatus = isScheduled ? CREATED : ACCEPTED;
  const accepted = await commitPost(
    services,
    acceptOperation({
      idempotencyKey: key,
      found,
      accepted: { fingerprint: print, postId: post.id, profileId: post.profileId, httpStatus },
      pace: services.config.publishing,
      accessVersion: scope.accessVersion,
    }),
  );
  if (accepted.postId !== post.id) return replay(services, scope, accepted, draft);
  invariant(accepted.fingerprint === print, "a post was accepted under another fingerprint");
  noteWork({ postId: post.id });
  services.log.info("post accepted", { networks: draft.networks, scheduleAt: draft.scheduleAt });
  services.audit.record(scope, {
    action: isScheduled ? "post.scheduled" : "post.accepted",
    target: { type: "post", id: post.id },
  });
  return {
    post: postView(found, services.config.publicBaseUrl, connections),
    httpStatus,
    replayed: false,
  };
}
