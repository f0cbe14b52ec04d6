import { randomUUID } from "node:crypto";
import type { ProfileScope } from "../../callers/scope.ts";
import { connectionsOf } from "../../connections/connections.ts";
import { AppError, invariant, refuseIssues, type Issue } from "../../runtime/errors.ts";
import type { PublishingDeps } from "../deps.ts";
import { useFiles } from "../../files/files.ts";
import { firstLegs, type FirstLegs } from "../accept/check-post.ts";
import { issuesOfChange, updatedDraft, type UpdatePost } from "../accept/schema.ts";
import { newDueTime } from "../hints.ts";
import { canceled, type Leg } from "../leg.ts";
import {
  commitPost,
  postOperation,
  type PostDecision,
  type PostOperation,
} from "../post-change.ts";
import { toPost } from "../post-row.ts";
import { postKey, type PostWithLegs, type PostStore } from "../post-store.ts";
import { postWake, postRefOf, type Post } from "../post.ts";
import type { PostView } from "../read/post-view.ts";
import { findPostOf, lookForPost, viewPost } from "../read/read-posts.ts";

/** Returns the refusal if the post can't be changed. `expected` is the `updatedAt` that the caller knows. */
function changeRefusal(post: Post, expected?: string): AppError | undefined {
  const { status, updatedAt } = post;
  if (status !== "scheduled") {
    const isOut = status === "succeeded" || status === "partial";
    const remove = `/v1/posts/${post.id}/remove`;
    const about = `Only a scheduled post can be changed or canceled; this one is ${status}.`;
    const message = isOut ? `${about} To remove what is published, send POST ${remove}.` : about;
    return new AppError("invalid_state", message, {
      details: { status, ...(isOut && { remove }) },
    });
  }
  if (expected === undefined || expected === updatedAt) return undefined;
  return new AppError("conflict", "The post was changed since you read it. Read it again.");
}

/** Finds the post to change. @throws AppError 404, `invalid_state`, `conflict` */
async function findToChange(
  posts: PostStore,
  scope: ProfileScope,
  { postId, expected }: { readonly postId: string; readonly expected?: string | undefined },
): Promise<PostWithLegs> {
  const found = await findPostOf(posts, scope, postId);
  const refusal = changeRefusal(found.post, expected);
  if (refusal !== undefined) throw refusal;
  return found;
}

/**
 * Returns the time of a change: now, and always later than the last one, whose process may have another clock. So no
 * two versions of a scheduled post have the same `updatedAt`.
 */
function changedAt({ updatedAt }: Post, now: Date): string {
  return new Date(Math.max(now.getTime(), Date.parse(updatedAt) + 1)).toISOString();
}

/**
 * Makes the transaction that replaces a post and its legs while it is scheduled. `revision` marks the change as ours.
 * Only what the transaction reads decides, because the caller's version may have been replaced.
 */
function changeOperation(
  before: Post,
  after: PostWithLegs,
  { expected, uses }: { readonly expected?: string | undefined; readonly uses?: FirstLegs } = {},
): PostOperation<readonly Leg[]> {
  const { revision } = after.post;
  return postOperation({
    id: `change|${revision}`,
    known: before,
    dueAt: newDueTime(before, after.post),
    rowKeys: [...(uses?.files.rows.keys() ?? [])],
    decide(current, view): PostDecision<readonly Leg[]> {
      const stored = view.row(postKey(postRefOf(before)));
      invariant(stored !== undefined, "a post lost its row");
      const post = toPost(before.platformId, stored.row);
      if (post.revision === revision) return { kind: "done", answer: after.legs };
      const refusal = changeRefusal(post, expected);
      if (refusal !== undefined) return { kind: "refuse", error: refusal };
      if (current === undefined) {
        const message = "The post was changed by another request. Read it again.";
        return { kind: "refuse", error: new AppError("invalid_state", message) };
      }
      if (uses === undefined) return { kind: "change", after, answer: after.legs };
      const { writes: also, failures } = useFiles(view, uses.files, uses);
      try {
        const legs = failures.size > 0 ? uses.without(failures) : after.legs;
        return { kind: "change", after: { ...after, legs }, also, answer: legs };
      } catch (error) {
        if (error instanceof AppError) return { kind: "refuse", error };
        throw error;
      }
    },
  });
}

/**
 * Changes a scheduled post until it starts, and reports the change as `post.updated`.
 * @throws AppError 400, 404, `not_publishable`, `invalid_state` once it started, `conflict` if it was changed since
 */
export async function updatePost(
  deps: PublishingDeps,
  scope: ProfileScope,
  input: { readonly postId: string; readonly change: UpdatePost },
): Promise<PostView> {
  const { expectedUpdatedAt: expected, ...change } = input.change;
  const { posts } = deps.stores;
  const found = await findToChange(posts, scope, { postId: input.postId, expected });
  const now = deps.clock.now();
  const baseUrl = deps.config.publicBaseUrl;
  refuseIssues(issuesOfChange(found.post.draft, change, { now, baseUrl }));
  const draft = updatedDraft(found.post.draft, change);
  const connections = await connectionsOf(deps.connections, scope);
  const updatedAt = changedAt(found.post, now);
  const post = { ...found.post, draft, revision: randomUUID(), updatedAt };
  const uses = await firstLegs(deps, post, { ...scope, connections }, now);
  // The due row of the old time stays, because a concurrent change may have set that time again. Its hint removes it.
  const after = { post, legs: uses.legs };
  const legs = await commitPost(deps, changeOperation(found.post, after, { expected, uses }));
  deps.audit.record(scope, {
    action: "post.updated",
    target: { type: "post", id: post.id },
  });
  return viewPost(deps, scope, { post, legs });
}

/** Returns issues of a change that its schema doesn't report. */
export async function issuesOfUpdate(
  deps: PublishingDeps,
  scope: ProfileScope,
  input: { readonly postId: string; readonly change: Readonly<Record<string, unknown>> },
): Promise<readonly Issue[]> {
  const found = await lookForPost(deps.stores.posts, scope, input.postId);
  if (found === undefined) return [];
  const times = { now: deps.clock.now(), baseUrl: deps.config.publicBaseUrl };
  return issuesOfChange(found.post.draft, input.change, times);
}

/**
 * Cancels a scheduled post without further charges. Of a racing cancel and start, exactly one wins.
 * @throws AppError 404, `invalid_state` once it started
 */
export async function cancelPost(
  deps: PublishingDeps,
  scope: ProfileScope,
  postId: string,
): Promise<PostView> {
  const found = await findToChange(deps.stores.posts, scope, { postId });
  const now = deps.clock.now();
  const at = changedAt(found.post, now);
  const post: Post = {
    ...found.post,
    status: "canceled",
    revision: randomUUID(),
    updatedAt: at,
    completedAt: at,
  };
  const legs = found.legs.map((leg) => canceled(leg, now));
  await commitPost(deps, changeOperation(found.post, { post, legs }));
  const dueAt = found.post.draft.scheduleAt ?? "";
  await deps.wakes.remove(postWake(postRefOf(post), dueAt));
  deps.audit.record(scope, {
    action: "post.canceled",
    target: { type: "post", id: post.id },
  });
  return viewPost(deps, scope, { post, legs });
}
