import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { badParameter, graphRefusal, noSuchObject } from "../graph/errors.ts";
import { project } from "../graph/fields.ts";
import type { GraphNode } from "../graph/fields.ts";
import { readParameters, textParameter } from "../graph/parameters.ts";
import { keep } from "../kept-maps.ts";
import { nextId } from "./state.ts";
import type { FacebookShared, Page, Photo, Post } from "./state.ts";

/** An unpublished photo lives for a day. */
const PHOTO_MS = 24 * 3_600_000;

/** Makes the post that is seen on the page; its id is the page's and its own. */
export function publishPost(shared: FacebookShared, post: Omit<Post, "id" | "createdAt">): Post {
  const { state } = shared;
  const id = `${post.pageId}_${nextId(state)}`;
  const published = { ...post, id, createdAt: shared.now() };
  keep(state.posts, id, published);
  return published;
}

/** The answer to a POST: the id, or the fields that the query asks for. */
export function created(exchange: Exchange, node: GraphNode): Answer {
  const fields = textParameter(readParameters(exchange), "fields");
  return json(200, project(node, fields, "id"));
}

/** A look at the photo: one that Graph does not know yet comes nearer with each. */
export function photoIsReady(photo: Photo): boolean {
  if (photo.pollsLeft === 0) return true;
  photo.pollsLeft -= 1;
  return false;
}

/** A photo that may be shown for the first time now; refuses in Meta's words for why not. */
export function usablePhoto(shared: FacebookShared, page: Page, id: string, plan: Plan): Photo {
  const photo = shared.state.photos.get(id);
  if (photo?.pageId !== page.id || photo.createdAt + PHOTO_MS <= shared.now())
    throw badParameter(`Invalid parameter: ${id} does not resolve to a valid photo of the Page`);
  if (photo.postId !== null)
    throw graphRefusal({
      message: "Invalid parameter",
      code: 100,
      subcode: 1366051,
      userTitle: "Already posted",
      userMessage: "These photos were already posted.",
    });
  if (plan.processing !== undefined && !photo.delayed) {
    photo.delayed = true;
    photo.pollsLeft = plan.processing;
  }
  if (!photoIsReady(photo)) throw noSuchObject(id);
  return photo;
}
