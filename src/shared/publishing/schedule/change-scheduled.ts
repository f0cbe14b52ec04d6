import { randomUUID } from "node:crypto";
import { recordAudit } from "../../audit/record.ts";
import type { CoreOperation } from "../../billing/group-commit.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import { AppError, refuseIssues, type Issue } from "../../runtime/errors.ts";
import type { PublishingDeps } from "../deps.ts";
import { canceled, firstLeg, isEnded } from "../leg.ts";

import { hintIfSoon } from "./enqueue-due-posts.ts";
import { findPostOf, lookForPost, viewPost } from "../read/get-post.ts";
import { checkPost, unpublishableRefusal } from "../accept/check-accounts.ts";
import { type Post, refOf } from "../post.ts";
import type { PostView } from "../read/post-view.ts";
import { postKey, type PostWithLegs } from "../post-store.ts";
import { issuesOfChange } from "../draft-issues.ts";
import { updatedDraft, type UpdatePost } from "../accept/schema.ts";
import { commitPost, postOperation, type PostDecision } from "../post-change.ts";

function requireScheduled(post: Post): void {
  if (post.status === "scheduled") return;
  throw new AppError(
    "invalid_state",
    `Only a scheduled post can be changed; this one is ${post.status}.`,
    { details: { status: post.status } },
  );
}

/** Replaces a scheduled post and its legs as long as it is scheduled. `revision` marks the post as changed by us. */
function changeOperation(before: Post, after: PostWithLegs): CoreOperation<void> {
  const { revision } = after.post;
  return postOperation({
    id: `change|${revision}`,
    known: before,
    decide(current, view): PostDecision<void> {
      const stored = view.row(postKey(refOf(before)));
      if (stored?.row["revision"] === revision) return { kind: "done", answer: undefined };
      if (current?.post.status !== "scheduled") {
        const message = "The post was changed or fired meanwhile. Read it again.";
        return { kind: "refuse", error: new AppError("invalid_state", message) };
      }
      return { kind: "change", movements: [], after, answer: undefined };
    },
  });
}

/**
 * Changes a scheduled post until it fires. A new time has its due row before the post does, so that no crash can
 * leave the post without one.
 * @throws AppError 400, 404, `not_publishable`, `invalid_state` once it fired
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
  const dueAt = draft.scheduleAt ?? "";
  const before = found.post.draft.scheduleAt ?? "";
  const connections = await services.connections.listOfProfile(scope.profileId);
  const checks = await checkPost(services, draft, connections);
  const error = unpublishableRefusal(checks);
  if (error !== undefined) throw error;
  const post = { ...found.post, draft, revision: randomUUID(), updatedAt: now.toISOString() };
  const legs = checks.map((check) => firstLeg(post, check, now));
  const ref = refOf(post);
  if (dueAt !== before) await services.due.add({ ref, dueAt }, now);
  // A leg that ends has an event.
  if (legs.some(isEnded)) await services.openWork.mark(scope.platformId, now);
  const operation = changeOperation(found.post, { post, legs });
  await commitPost(services, scope.platformId, operation, "now");
  // The row of the old time stays: another change may have brought that time back meanwhile. It ends with its hint.
  if (dueAt !== before) await hintIfSoon(services, { ref, dueAt });
  recordAudit(services, scope, {
    action: "post.updated",
    target: { type: "post", id: post.id },
  });
  return viewPost(services, scope, { post, legs });
}

/** What would be wrong with a change beside what its schema refuses. */
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
 * Cancels a scheduled post; nothing is charged beyond the storing. Of a cancel and a firing that race, exactly one wins.
 * @throws AppError 404, `invalid_state` once it fired
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
  await services.openWork.mark(scope.platformId, services.clock.now());
  const operation = changeOperation(found.post, { post, legs });
  await commitPost(services, scope.platformId, operation, "now");
  const dueAt = found.post.draft.scheduleAt ?? "";
  await services.due.remove({ ref: refOf(post), dueAt });
  recordAudit(services, scope, {
    action: "post.canceled",
    target: { type: "post", id: post.id },
  });
  return viewPost(services, scope, { post, legs });
}
