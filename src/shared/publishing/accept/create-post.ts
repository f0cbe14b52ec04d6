import { recordAudit } from "../../audit/record.ts";
import { secondsUntil } from "../../billing/pace.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import type { PublishingScope } from "../../connections/connection.ts";
import { AppError, invariant, refuseIssues } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import type { PublishingDeps } from "../deps.ts";
import { currentOrigin, noteWork } from "../../runtime/telemetry/work-context.ts";
import { acceptOperation, pendingOf } from "./accept.ts";
import { commitPost } from "../post-change.ts";
import { firstLeg } from "../leg.ts";
import type { Accepted } from "./accepted.ts";
import { hintIfSoon } from "../schedule/enqueue-due-posts.ts";
import { duplicateRefusal, checkPost, unpublishableRefusal } from "./check-accounts.ts";
import { scheduleIssues } from "../schedule/schedule.ts";
import { fingerprint } from "./fingerprint.ts";
import { hintLegs } from "../publish/hint-legs.ts";
import { firstCheckAt } from "../schedule/first-check.ts";
import { findPostOf, viewPost } from "../read/get-post.ts";
import { type Draft, type Post, refOf } from "../post.ts";
import { postView, type PostView } from "../read/post-view.ts";

export interface CreatedPost {
  readonly post: PostView;
  /** Of the first call: a replay answers with the same. */
  readonly httpStatus: number;
  readonly replayed: boolean;
}

export interface CreatePost {
  readonly idempotencyKey: string | null;
  readonly draft: Draft;
}

/** The first is about the key itself; with the second a look at the key would fare no better. */
const ANSWERED_AS_IS: ReadonlySet<string> = new Set([
  "idempotency_conflict",
  "service_unavailable",
]);
/** Accepted for publishing at once. */
const ACCEPTED = 202;
/** Stored for later. */
const CREATED = 201;
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{8,128}$/;

function parseIdempotencyKey(given: string | null): string {
  const key = given?.trim() ?? "";
  if (key === "")
    throw new AppError(
      "idempotency_key_required",
      "Send an Idempotency-Key header: it makes repeating this request safe.",
    );
  if (!IDEMPOTENCY_KEY.test(key))
    throw new AppError(
      "idempotency_key_invalid",
      "The Idempotency-Key must be 8 to 128 visible ASCII characters without spaces.",
    );
  return key;
}

/** The original post as it is now. @throws AppError `idempotency_conflict` when the key stands for another request */
async function replay(
  services: PublishingDeps,
  scope: ProfileScope,
  accepted: Accepted,
  fingerprintNow: string,
): Promise<CreatedPost> {
  if (accepted.fingerprint !== fingerprintNow)
    throw new AppError(
      "idempotency_conflict",
      "This Idempotency-Key was used with another request. Use a new key for a new post.",
    );
  const found = await findPostOf(services, scope, accepted.postId);
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
 * Accepts a post: one transaction, then a hint; one that is scheduled is stored and fires when it is due. The same
 * Idempotency-Key with the same request answers the original post and charges nothing.
 * @throws AppError 400 on the key, 402 when the wallet is short (nothing is written and the key stays unused),
 * `idempotency_conflict`, `not_publishable`
 */
export async function createPost(
  services: PublishingDeps,
  scope: PublishingScope,
  { idempotencyKey, draft }: CreatePost,
): Promise<CreatedPost> {
  const startedAt = performance.now();
  let outcome: string = "internal_error";
  try {
    const created = await createOnce(services, scope, { idempotencyKey, draft });
    outcome = outcomeOf(created);
    return created;
  } catch (error) {
    if (error instanceof AppError) outcome = error.code;
    throw error;
  } finally {
    services.metrics.count("posts.accepted", { outcome });
    services.metrics.observe("posts.accept_ms", performance.now() - startedAt, { outcome });
  }
}

/** As it is counted. */
function outcomeOf({ replayed, httpStatus }: CreatedPost): "accepted" | "scheduled" | "replayed" {
  if (replayed) return "replayed";
  return httpStatus === CREATED ? "scheduled" : "accepted";
}

async function createOnce(
  services: PublishingDeps,
  scope: PublishingScope,
  { idempotencyKey, draft }: CreatePost,
): Promise<CreatedPost> {
  const key = parseIdempotencyKey(idempotencyKey);
  const print = fingerprint(scope, draft);
  try {
    return await acceptPost(services, scope, { key, print, draft });
  } catch (error) {
    if (!(error instanceof AppError) || ANSWERED_AS_IS.has(error.code)) throw error;
    // A key that stands for a post answers with it whatever a new request would meet: the look comes after the failure,
    // so that the many requests with an unused key do without it.
    const earlier = await services.idempotency.find(scope.platformId, key);
    if (earlier === undefined) throw error;
    return replay(services, scope, earlier, print);
  }
}

interface Acceptable {
  readonly key: string;
  readonly print: string;
  readonly draft: Draft;
}

async function acceptPost(
  services: PublishingDeps,
  scope: PublishingScope,
  { key, print, draft }: Acceptable,
): Promise<CreatedPost> {
  const now = services.clock.now();
  const isScheduled = draft.scheduleAt !== null;
  const { connections } = scope;
  const [earlier] = await Promise.all([
    // Its due row is written before the transaction can say that the key is taken.
    isScheduled ? services.idempotency.find(scope.platformId, key) : undefined,
    services.openWork.mark(scope.platformId, now),
  ]);
  if (earlier !== undefined) return replay(services, scope, earlier, print);
  refuseIssues(scheduleIssues(draft.scheduleAt, now));
  const checks = await checkPost(services, draft, connections);
  const error = duplicateRefusal(checks) ?? unpublishableRefusal(checks);
  if (error !== undefined) throw error;
  const post = newPost(services, scope, draft, now);
  const ref = refOf(post);
  const found = { post, legs: checks.map((check) => firstLeg(post, check, now)) };
  const httpStatus = isScheduled ? CREATED : ACCEPTED;
  // Before the post: a crash in between leaves a row that nothing stands behind, never a post that nobody fires.
  if (draft.scheduleAt !== null) await services.due.add({ ref, dueAt: draft.scheduleAt }, now);
  const accepted = await commitPost(
    services,
    scope.platformId,
    acceptOperation({
      idempotencyKey: key,
      found,
      accepted: { fingerprint: print, postId: post.id, profileId: post.profileId, httpStatus },
      nextCheckAt: firstCheckAt(services, now),
      legsPerSecond: services.config.publishing.legsPerSecond,
    }),
    // The worker of a post that goes out now tells of it too.
    isScheduled ? "now" : "worker",
  );
  if (accepted.postId !== post.id) return replay(services, scope, accepted, print);
  invariant(accepted.fingerprint === print, "a post was accepted under another fingerprint");
  noteWork({ postId: post.id });
  services.log.info("post accepted", { networks: draft.networks, scheduleAt: draft.scheduleAt });
  recordAudit(services, scope, {
    action: isScheduled ? "post.scheduled" : "post.accepted",
    target: { type: "post", id: post.id },
  });
  if (draft.scheduleAt === null) {
    const seconds = secondsUntil(accepted.startAt, services.clock.now());
    await hintLegs(services, ref, pendingOf(found.legs), seconds);
  } else {
    await hintIfSoon(services, { ref, dueAt: draft.scheduleAt });
  }
  return { post: postView(found, connections), httpStatus, replayed: false };
}
