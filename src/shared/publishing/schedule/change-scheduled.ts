import { randomUUID } from "node:crypto";
import type { ProfileScope } from "../../callers/scope.ts";
import { AppError, refuseIssues, type Issue } from "../../runtime/errors.ts";
import type { PublishingDeps } from "../deps.ts";
import { checkPost, unpublishableRefusal } from "../accept/check-post.ts";
import { issuesOfChange, updatedDraft, type UpdatePost } from "../accept/schema.ts";
import { newDueTime } from "../hints.ts";
import { canceled, firstLeg } from "../leg.ts";
import {
  commitPost,
  postOperation,
  type PostDecision,
  type PostOperation,
} from "../post-change.ts";
import { postKey, type PostWithLegs } from "../post-store.ts";
import { postWake, refOf, type Post } from "../post.ts";
import type { PostView } from "../read/post-view.ts";
import { findPostOf, lookForPost, viewPost } from "../read/read-posts.ts";

function requireScheduled(post: Post): void {
  if (post.status === "scheduled") return;
  throw new AppError(
    "invalid_state",
    `Only a scheduled post can be changed; this one is ${post.status}.`,
    { details: { status: post.status } },
  );
}

/**
 * Makes the transaction that replaces a post and its legs while it is scheduled. `revision` marks the change as ours.
 */
function changeOperation(before: Post, after: PostWithLegs): PostOperation<void> {
  const { revision } = after.post;
  return postOperation({
    id: `change|${revision}`,
    known: before,
    dueAt: newDueTime(before, after.post),
    decide(current, view): PostDecision<void> {
      const stored = view.row(postKey(refOf(before)));
      if (stored?.row["revision"] === revision) return { kind: "done", answer: undefined };
      if (current?.post.status !== "scheduled") {
        const message = "The post was changed or has started. Read it again.";
        return { kind: "refuse", error: new AppError("invalid_state", message) };
      }
      return { kind: "change", movements: [], after, answer: undefined };
    },
  });
}

/**
 * Changes a scheduled post until it starts.
 * @throws AppError 400, 404, `not_publishable`, `invalid_state` once it started
 */
export async function updatePost(
  services: PublishingDeps,
  scope: ProfileScope,
  input: { readonly postId: string; readonly change: UpdatePost },
): Promise<PostView> {
  const found = await findPostOf(services, scope, input.postId);
  requireScheduled(found.post);
  const now = services.clock.now();
  refuseIssues(issuesOfChange(found.post.draft, input.change, now));
  const draft = updatedDraft(found.post.draft, input.change);
  const connections = await services.connections.stores.connections.listOfProfile(scope);
  const checks = await checkPost(services, draft, connections);
  const error = unpublishableRefusal(checks, services.config.publicBaseUrl);
  if (error !== undefined) throw error;
  const post = { ...found.post, draft, revision: randomUUID(), updatedAt: now.toISOString() };
  const legs = checks.map((check) => firstLeg(post, check, now));
  // The due row of the old time stays, because a concurrent change may have set that time again. Its hint removes it.
  await commitPost(services, changeOperation(found.post, { post, legs }));
  services.audit.record(scope, {
    action: "post.updated",
    target: { type: "post", id: post.id },
  });
  return viewPost(services, scope, { post, legs });
}

/** Returns the issues of a change that its schema does not report. */
export async function issuesOfUpdate(
  services: PublishingDeps,
  scope: ProfileScope,
  input: { readonly postId: string; readonly change: Readonly<Record<string, unknown>> },
): Promise<readonly Issue[]> {
  const found = await lookForPost(services, scope, input.postId);
  if (found === undefined) return [];
  return issuesOfChange(found.post.draft, input.change, services.clock.now());
}

/**
 * Cancels a scheduled post, which charges nothing more. Of a cancel and a start that race, exactly one wins.
 * @throws AppError 404, `invalid_state` once it started
 */
export async function cancelPost(
  services: PublishingDeps,
  scope: ProfileScope,
  postId: string,
): Promise<PostView> {
  const found = await findPostOf(services, scope, postId);
  requireScheduled(found.post);
  const at = services.clock.now().toISOString();
  const post: Post = {
    ...found.post,
    status: "canceled",
    revision: randomUUID(),
    updatedAt: at,
    completedAt: at,
  };
  const legs = found.legs.map(canceled);
  await commitPost(services, changeOperation(found.post, { post, legs }));
  const dueAt = found.post.draft.scheduleAt ?? "";
  await services.wakes.remove(postWake(refOf(post), dueAt));
  services.audit.record(scope, {
    action: "post.canceled",
    target: { type: "post", id: post.id },
  });
  return viewPost(services, scope, { post, legs });
}
