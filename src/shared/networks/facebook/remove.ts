import * as z from "zod";
import { HttpFailure } from "../../runtime/http-call.ts";
import { exchange, idShape, readMade } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { objectShape, spare } from "../contract/fields.ts";
import type { FollowedLeg, FollowUpCall } from "../contract/network.ts";
import type { FollowUpOutcome, Rejected, TryLater } from "../contract/outcome.ts";
import { notRemoved, REMOVED, repeatable } from "../contract/removal.ts";
import { NOT_FOUND } from "../graph/errors.ts";
import { graphDelete, graphRead } from "../graph/request.ts";
import { classify } from "./errors.ts";
import { isStory } from "./rules.ts";
import { type Call, pageOf, remoteOf, steps } from "./state.ts";

type Failed = TryLater | Rejected;

/** What is asked for by its id: there, or missing. */
type Node = { readonly kind: "there"; readonly postId?: string | undefined } | "missing" | Failed;

/**
 * Takes a post down. A video is the post and the video: which of the two deletions removes a reel, no document says. Photos
 * are objects of their own, and may stay in the page's album.
 */
export const remove: FollowUpCall = {
  ...steps.following({
    async perform(call) {
      const { form } = call.remote;
      return form === "video" || form === "reel" ? removeVideo(call) : removePost(call);
    },
    lookUp: repeatable,
  }),
  isSupported: isNoStory,
};

/** Returns whether a post is one that can be removed and commented on: no document has either for stories. */
export function isNoStory({ remote }: FollowedLeg): boolean {
  return !isStory(remoteOf(remote).form);
}

async function removePost(call: Call): Promise<FollowUpOutcome> {
  const failed = await take(call, call.externalId);
  if (failed !== undefined) return failed;
  for (const photo of call.remote.photos) {
    const node = await look(call, photo);
    if (node === "missing") continue;
    const left = node.kind === "there" ? await take(call, photo) : node;
    if (left !== undefined) return left;
  }
  return REMOVED;
}

async function removeVideo(call: Call): Promise<FollowUpOutcome> {
  const { externalId, credentials } = call;
  const video = await look(call, externalId, "id,post_id");
  if (video === "missing") return (await seesPage(call)) ?? REMOVED;
  if (video.kind !== "there") return video;
  const { postId } = video;
  const isWhole = postId === undefined || postId.includes("_");
  const prefixed = isWhole ? postId : `${credentials.pageId}_${postId}`;
  const ofPost = prefixed === undefined ? undefined : await take(call, prefixed);
  const ofVideo = await take(call, externalId);
  if (ofVideo === undefined) return REMOVED;
  const left = await look(call, externalId, "id,post_id");
  if (left === "missing") return (await seesPage(call)) ?? REMOVED;
  return ofPost ?? ofVideo;
}

/** Deletes one object. Returns why it may still be there; undefined where it is gone. */
async function take(call: Call, id: string): Promise<Failed | undefined> {
  const answer = await exchange(call.tools, graphDelete(pageOf(call), encodeURIComponent(id)));
  if (answer instanceof HttpFailure) return notRemoved(answer);
  if (inForm(() => z.object({ success: z.literal(true) }))(answer) !== undefined) return undefined;
  const classified = classify(answer, call.tools.now());
  return classified.networkCode === NOT_FOUND ? seesPage(call) : notRemoved(classified);
}

const nodeShape = objectShape(() => ({ id: idShape(), post_id: spare(idShape()) }));

async function look(call: Call, id: string, fields = "id"): Promise<Node> {
  const answer = await graphRead(pageOf(call), encodeURIComponent(id), { fields });
  if (answer instanceof HttpFailure) return notRemoved(answer);
  const node = inForm(nodeShape)(answer);
  if (node !== undefined) return { kind: "there", postId: node.post_id };
  const classified = classify(answer, call.tools.now());
  return classified.networkCode === NOT_FOUND ? "missing" : notRemoved(classified);
}

/**
 * Returns undefined if the page itself can be read: what Graph then does not find is gone, and not hidden from this token
 * (it says the same of both).
 */
async function seesPage(call: Call): Promise<Failed | undefined> {
  const { pageId } = call.credentials;
  const answer = await graphRead(pageOf(call), pageId, { fields: "id" });
  if (answer instanceof HttpFailure) return notRemoved(answer);
  const isSeen = readMade(answer) === pageId;
  return isSeen ? undefined : notRemoved(classify(answer, call.tools.now()));
}
