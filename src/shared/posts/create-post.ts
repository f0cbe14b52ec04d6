import { actorOf } from "../callers/caller.ts";
import type { ProfileScope } from "../callers/scope.ts";
import { AppError, invariant, validationFailed } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Services } from "../services.ts";
import { acceptOperation, firstLeg, placeOf, type Accepted } from "./accept.ts";
import { errorsOf, judgeDraft, judgementView, type Judgement } from "./check-draft.ts";
import { fingerprint } from "./fingerprint.ts";
import { findPostOf, viewPost } from "./get-post.ts";
import type { Draft, Post } from "./post.ts";
import { postView, type PostView } from "./post-view.ts";
import type { PostWithLegs } from "./post-store.ts";

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

const ACCEPTED = 202;
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
  services: Services,
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

/** Scheduling is refused rather than forgotten: nothing would publish the post when it is due. */
function refuseSchedule(draft: Draft): void {
  if (draft.scheduleAt === null) return;
  throw validationFailed([
    {
      path: "scheduleAt",
      code: "not_available",
      message: "posts can't be scheduled yet; omit it to publish now",
    },
  ]);
}

function refuseUnpublishable(judgements: readonly Judgement[]): void {
  if (judgements.some((judgement) => errorsOf(judgement).length === 0)) return;
  throw new AppError("not_publishable", "None of the requested networks can take this post.", {
    details: {
      platforms: Object.fromEntries(
        judgements.map((judgement) => [judgement.network, judgementView(judgement)]),
      ),
    },
  });
}

function newPost(services: Services, scope: ProfileScope, draft: Draft, now: Date): Post {
  const at = now.toISOString();
  return {
    id: newId("post", now),
    platformId: scope.platformId,
    applicationId: scope.applicationId,
    profileId: scope.profileId,
    status: "processing",
    draft,
    requestId: scope.requestId,
    actor: actorOf(scope.caller),
    createdAt: at,
    updatedAt: at,
    startedAt: at,
    completedAt: null,
  };
}

/** The first hint; its loss costs only time, so that its failure must not fail an accepted post. */
async function hintFirst(services: Services, found: PostWithLegs): Promise<void> {
  const networks = found.legs
    .filter(({ status }) => status === "pending")
    .map(({ network }) => network);
  try {
    await services.publishQueue.hint(placeOf(found.post), networks);
  } catch (error) {
    services.log.warn("hint not sent, the sweeper will", { postId: found.post.id, error });
  }
}

/**
 * Accepts a post for publishing at once: one transaction, then a hint. The same Idempotency-Key with the same request
 * answers the original post and charges nothing.
 * @throws AppError 400 on the key, 402 when the wallet is short (nothing is written and the key stays unused),
 * `idempotency_conflict`, `not_publishable`
 */
export async function createPost(
  services: Services,
  scope: ProfileScope,
  { idempotencyKey, draft }: CreatePost,
): Promise<CreatedPost> {
  const key = parseIdempotencyKey(idempotencyKey);
  const print = fingerprint(scope, draft);
  const now = services.clock.now();
  const [earlier, connections] = await Promise.all([
    services.idempotency.find(scope.platformId, key),
    services.connections.listOfProfile(scope.profileId),
    services.dirty.announce(scope.platformId, now),
  ]);
  if (earlier !== undefined) return replay(services, scope, earlier, print);
  refuseSchedule(draft);
  const judgements = draft.networks.map((network) =>
    judgeDraft(
      draft,
      network,
      connections.find((connection) => connection.network === network),
    ),
  );
  refuseUnpublishable(judgements);
  const post = newPost(services, scope, draft, now);
  const found = { post, legs: judgements.map((judgement) => firstLeg(post, judgement, now)) };
  const accepted = await services.wallets.commit(
    scope.platformId,
    acceptOperation({
      idempotencyKey: key,
      found,
      accepted: {
        fingerprint: print,
        postId: post.id,
        profileId: post.profileId,
        httpStatus: ACCEPTED,
      },
      nextCheckAt: new Date(
        now.getTime() + services.config.publishing.workCheckSeconds * 1000,
      ).toISOString(),
    }),
  );
  if (accepted.postId !== post.id) return replay(services, scope, accepted, print);
  invariant(accepted.fingerprint === print, "a post was accepted under another fingerprint");
  await hintFirst(services, found);
  return { post: postView(found, connections), httpStatus: ACCEPTED, replayed: false };
}
