import { randomUUID } from "node:crypto";
import { recordAudit } from "../../audit/record.ts";
import type { CoreOperation, Decision } from "../../billing/group-commit.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import { AppError, refuseIssues, type Issue } from "../../runtime/errors.ts";
import type { PublishingDeps } from "../deps.ts";
import type { RowWrite } from "../../runtime/storage/row.ts";
import { canceled, firstLeg, isEnded } from "../leg.ts";
import { placeOf } from "../accept/accept.ts";
import { hintIfSoon } from "./enqueue-due-posts.ts";
import { findPostOf, lookForPost, viewPost } from "../read/get-post.ts";
import { judgePost, unpublishableRefusal } from "../accept/judge-accounts.ts";
import type { Post } from "../post.ts";
import { withEvents } from "../publish/post-events.ts";
import { toLegRow, toPostRow } from "../post-row.ts";
import type { PostView } from "../read/post-view.ts";
import { legKey, postKey, type PostWithLegs } from "../post-store.ts";
import { issuesOfChange } from "../draft-issues.ts";
import { updatedDraft, type UpdatePost } from "../accept/schema.ts";
import { postRowKeys, readPost } from "../post-change.ts";

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
  const place = placeOf(before);
  const { revision } = after.post;
  return {
    id: `change|${revision}`,
    rowKeys: postRowKeys(place, before),
    decide(view): Decision<void> {
      const stored = view.row(postKey(place));
      if (stored?.row["revision"] === revision) return { kind: "done", answer: undefined };
      const current = readPost(view, place, before);
      if (current?.post.status !== "scheduled") {
        const message = "The post was changed or fired meanwhile. Read it again.";
        return { kind: "refuse", error: new AppError("invalid_state", message) };
      }
      const legsBefore = current.legs.map(({ leg }) => leg);
      const told = withEvents(
        { before: { post: current.post, legs: legsBefore }, ...after },
        view.now,
      );
      const row = toPostRow(postKey(place), told.post);
      const writes: RowWrite[] = [{ kind: "replace", row, etag: current.etag }, ...told.writes];
      for (const { leg, etag } of current.legs) {
        const next = after.legs.find(({ network }) => network === leg.network);
        const rowKey = legKey(place, leg.network);
        writes.push(
          next === undefined
            ? { kind: "delete", rowKey }
            : { kind: "replace", row: toLegRow(rowKey, next), etag },
        );
      }
      for (const leg of after.legs)
        if (!current.legs.some((stored) => stored.leg.network === leg.network))
          writes.push({ kind: "create", row: toLegRow(legKey(place, leg.network), leg) });
      return { kind: "write", movements: [], writes, answer: undefined };
    },
  };
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
  const judgements = await judgePost(services, draft, connections);
  const error = unpublishableRefusal(judgements);
  if (error !== undefined) throw error;
  const post = { ...found.post, draft, revision: randomUUID(), updatedAt: now.toISOString() };
  const legs = judgements.map((judgement) => firstLeg(post, judgement, now));
  const place = placeOf(post);
  // Told at once, as every leg that ends.
  const hasFailed = legs.some(isEnded);
  if (dueAt !== before) await services.due.add({ place, dueAt }, now);
  if (hasFailed) await services.dirty.announce(scope.platformId, now);
  await services.wallets.commit(scope.platformId, changeOperation(found.post, { post, legs }));
  if (hasFailed) await services.fanOutQueue.announceAndHint(scope.platformId, services.clock.now());
  // The row of the old time stays: another change may have brought that time back meanwhile. It ends with its hint.
  if (dueAt !== before) await hintIfSoon(services, { place, dueAt });
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
  await services.dirty.announce(scope.platformId, services.clock.now());
  await services.wallets.commit(scope.platformId, changeOperation(found.post, { post, legs }));
  await services.fanOutQueue.announceAndHint(scope.platformId, services.clock.now());
  const dueAt = found.post.draft.scheduleAt ?? "";
  await services.due.remove({ place: placeOf(post), dueAt });
  recordAudit(services, scope, {
    action: "post.canceled",
    target: { type: "post", id: post.id },
  });
  return viewPost(services, scope, { post, legs });
}
