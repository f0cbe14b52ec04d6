import * as z from "zod";
import { idShape, readMade } from "../contract/answers.ts";
import { ask, inForm } from "../contract/ask.ts";
import { objectShape, lenient } from "../contract/fields.ts";
import { isVerdict } from "../contract/blame.ts";
import type { FollowedLeg, FollowUpCall } from "../contract/visible-call.ts";
import type { Outcome, Rejection, TryLater } from "../contract/outcome.ts";
import { REMOVED, repeatable } from "../contract/removal.ts";
import { isMissing, isUnloaded } from "../graph/errors.ts";
import { graphDelete, graphGet } from "../graph/request.ts";
import { classify } from "./errors.ts";
import { isStory } from "../graph/post-form.ts";
import { type Call, pageOf, remoteOf, steps } from "./state.ts";

type RemovalFailure = TryLater | Rejection;

/**
 * Removes a post. A video consists of the post and the video, and no document says which of the two deletions removes a
 * reel. Photos are separate objects, and may stay in the page's album.
 */
export const remove: FollowUpCall = {
  ...steps.following({
    async perform(call) {
      const { form } = call.remote;
      return form === "video" || form === "reel" ? removeVideo(call) : removePost(call);
    },
    find: repeatable,
  }),
  isSupported: isNoStory,
};

/** Reports whether a post can be removed and commented on, because stories have no document for either. */
export function isNoStory({ remote }: FollowedLeg): boolean {
  return !isStory(remoteOf(remote).form);
}

async function removePost(call: Call): Promise<Outcome> {
  const failed = await take(call, call.externalId);
  if (failed !== undefined) return failed;
  for (const photo of call.remote.photos) {
    const node = await look(call, photo);
    if (node === "missing") continue;
    // Only the deletion itself tells. A refused read does not say that the photo is still there.
    const isUnread = "failure" in node && (node.kind === "try_later" || isVerdict(node));
    const left = isUnread ? node : await take(call, photo);
    if (left !== undefined) return left;
  }
  return REMOVED;
}

async function removeVideo(call: Call): Promise<Outcome> {
  const { externalId, credentials } = call;
  const video = await look(call, externalId, "id,post_id");
  if (video === "missing") return (await seesPage(call)) ?? REMOVED;
  if ("failure" in video) return video;
  const { post_id: postId } = video;
  const isWhole = postId === undefined || postId.includes("_");
  const prefixed = isWhole ? postId : `${credentials.pageId}_${postId}`;
  const ofPost = prefixed === undefined ? undefined : await take(call, prefixed);
  const ofVideo = await take(call, externalId);
  if (ofVideo === undefined) return REMOVED;
  const left = await look(call, externalId, "id,post_id");
  if (left === "missing") return (await seesPage(call)) ?? REMOVED;
  return ofPost ?? ofVideo;
}

/** Deletes one object. Returns why it may still exist, or undefined when it is gone. */
async function take(call: Call, id: string): Promise<RemovalFailure | undefined> {
  const request = graphDelete(pageOf(call), encodeURIComponent(id));
  const gone = await ask(request, { read: inForm(goneShape), classify }, call.tools);
  if (!("failure" in gone)) return undefined;
  if (isMissing(gone.failure)) return seesPage(call);
  if (!isUnloaded(gone.failure)) return gone;
  const left = await look(call, id);
  if (left === "missing") return seesPage(call);
  return "failure" in left
    ? left
    : { ...gone, failure: { ...gone.failure, code: "feature_unsupported" } };
}

const goneShape = objectShape(() => ({ success: z.literal(true) }));
const nodeShape = objectShape(() => ({ id: idShape(), post_id: lenient(idShape()) }));

/** Reads what is asked for by its id, if it is there. */
async function look(call: Call, id: string, fields = "id") {
  const request = graphGet(pageOf(call), encodeURIComponent(id), { fields });
  const node = await ask(request, { read: inForm(nodeShape), classify }, call.tools);
  if (!("failure" in node)) return node;
  return isMissing(node.failure) ? ("missing" as const) : node;
}

/**
 * Returns undefined if the page itself can be read. An object that Graph doesn't find is then gone, and not hidden from
 * this token (the error is the same for both).
 */
async function seesPage(call: Call): Promise<RemovalFailure | undefined> {
  const request = graphGet(pageOf(call), call.credentials.pageId, { fields: "id" });
  const page = await ask(request, { read: readMade, classify }, call.tools);
  return typeof page === "string" ? undefined : page;
}
