import * as z from "zod";
import { HttpFailure } from "../../runtime/http-call.ts";
import { shape } from "../../runtime/shape.ts";
import { exchange, idShape, readId } from "../contract/answers.ts";
import { spare } from "../contract/fields.ts";
import type { FollowedLeg, FollowUp, FollowUpCall } from "../contract/network.ts";
import type { FollowUpOutcome, Rejected, TryLater } from "../contract/outcome.ts";
import { notRemoved, REMOVED, repeatable } from "../contract/removal.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { NOT_FOUND } from "../graph/errors.ts";
import { graphDelete, graphGet } from "../graph/request.ts";
import { classify } from "./errors.ts";
import { credentialsOf, pageAccess, remoteOf } from "./state.ts";

type Failed = TryLater | Rejected;

/** What is asked for by its id: there, or missing. */
type Node = { readonly kind: "there"; readonly postId?: string | undefined } | "missing" | Failed;

/**
 * Takes a post down. A video is the post and the video: which of the two deletions removes a reel, no document says. Photos
 * are objects of their own, and may stay in the page's album.
 */
export const remove: FollowUpCall = {
  isSupported: isNoStory,
  async perform(call, tools) {
    const { form } = remoteOf(call.leg.remote);
    const isVideo = form === "video" || form === "reel";
    return isVideo ? removeVideo(call, tools) : removePost(call, tools);
  },
  lookUp: repeatable,
};

/** Returns whether a post is one that can be removed and commented on: no document has either for stories. */
export function isNoStory({ remote }: FollowedLeg): boolean {
  const { form } = remoteOf(remote);
  return form !== "photo_story" && form !== "video_story";
}

async function removePost(call: FollowUp, tools: NetworkTools): Promise<FollowUpOutcome> {
  const failed = await take(call, call.leg.externalId, tools);
  if (failed !== undefined) return failed;
  for (const photo of remoteOf(call.leg.remote).photos) {
    const node = await look(call, { id: photo, fields: "id" }, tools);
    if (node === "missing") continue;
    const left = node.kind === "there" ? await take(call, photo, tools) : node;
    if (left !== undefined) return left;
  }
  return REMOVED;
}

async function removeVideo(call: FollowUp, tools: NetworkTools): Promise<FollowUpOutcome> {
  const { externalId } = call.leg;
  const { pageId } = credentialsOf(call.leg.credentials);
  const video = await look(call, { id: externalId, fields: "id,post_id" }, tools);
  if (video === "missing") return (await seesPage(call, tools)) ?? REMOVED;
  if (video.kind !== "there") return video;
  const { postId } = video;
  const prefixed = postId === undefined || postId.includes("_") ? postId : `${pageId}_${postId}`;
  const ofPost = prefixed === undefined ? undefined : await take(call, prefixed, tools);
  const ofVideo = await take(call, externalId, tools);
  if (ofVideo === undefined) return REMOVED;
  const left = await look(call, { id: externalId, fields: "id,post_id" }, tools);
  if (left === "missing") return (await seesPage(call, tools)) ?? REMOVED;
  return ofPost ?? ofVideo;
}

/** Deletes one object. Returns why it may still be there; undefined where it is gone. */
async function take(call: FollowUp, id: string, tools: NetworkTools): Promise<Failed | undefined> {
  const answer = await exchange(tools, graphDelete(accessOf(call, tools), encodeURIComponent(id)));
  if (answer instanceof HttpFailure) return notRemoved(answer);
  const { data } = z.object({ success: z.literal(true) }).safeParse(answer.json());
  if (answer.status === 200 && data !== undefined) return undefined;
  const classified = classify(answer, tools.now());
  return classified.networkCode === NOT_FOUND ? seesPage(call, tools) : notRemoved(classified);
}

const nodeShape = shape(() => z.object({ id: idShape(), post_id: spare(idShape()) }));

async function look(
  call: FollowUp,
  { id, fields }: { readonly id: string; readonly fields: string },
  tools: NetworkTools,
): Promise<Node> {
  const request = graphGet(accessOf(call, tools), encodeURIComponent(id), { fields });
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return notRemoved(answer);
  const { data } = nodeShape().safeParse(answer.json());
  if (answer.status === 200 && data !== undefined) return { kind: "there", postId: data.post_id };
  const classified = classify(answer, tools.now());
  return classified.networkCode === NOT_FOUND ? "missing" : notRemoved(classified);
}

/**
 * Returns undefined if the page itself can be read: what Graph then does not find is gone, and not hidden from this token
 * (it says the same of both).
 */
async function seesPage(call: FollowUp, tools: NetworkTools): Promise<Failed | undefined> {
  const { pageId } = credentialsOf(call.leg.credentials);
  const answer = await exchange(tools, graphGet(accessOf(call, tools), pageId, { fields: "id" }));
  if (answer instanceof HttpFailure) return notRemoved(answer);
  const isSeen = answer.status === 200 && readId(answer) === pageId;
  return isSeen ? undefined : notRemoved(classify(answer, tools.now()));
}

function accessOf({ leg }: FollowUp, tools: NetworkTools) {
  return pageAccess(credentialsOf(leg.credentials), tools);
}
