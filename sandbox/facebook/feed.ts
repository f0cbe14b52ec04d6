import { isObject, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { edge, timeParameter } from "../graph/edge.ts";
import { badParameter, graphRefusal } from "../graph/errors.ts";
import {
  flagParameter,
  listParameter,
  readParameters,
  textParameter,
} from "../graph/parameters.ts";
import type { Parameters } from "../graph/parameters.ts";
import type { Route } from "../network.ts";
import { authorizePage } from "./access.ts";
import { isShown, postNode } from "./nodes.ts";
import { created, publishPost, usablePhoto } from "./publishing.ts";
import type { FacebookShared, Page, Post } from "./state.ts";
import { route } from "../network.ts";

const MESSAGE_MAX = 63_206;
const DUPLICATE_MS = 10 * 60 * 1000;
const LISTED_FIELDS = "created_time,message,id";

function checkedLink(parameters: Parameters): string | null {
  const link = textParameter(parameters, "link");
  if (link === undefined) return null;
  const refuse = (subcode: number, message: string) =>
    graphRefusal({
      message: "Invalid parameter",
      code: 100,
      subcode,
      userTitle: "Invalid link",
      userMessage: message,
    });
  if (!URL.canParse(link) || !/^https?:$/.test(new URL(link).protocol))
    throw refuse(2061006, "The link you provided is not valid.");
  if (
    /^(?:(?:www|m|web|mbasic|touch)\.)?(?:facebook\.com|fb\.(?:com|me|watch))\.?$/.test(
      new URL(link).hostname,
    )
  )
    throw refuse(1609008, "You can't share a link to Facebook.");
  return link;
}

function attachedIds(parameters: Parameters): string[] {
  return listParameter(parameters, "attached_media").map((item) => {
    const id = isObject(item) ? item["media_fbid"] : undefined;
    if (typeof id !== "string" && typeof id !== "number")
      throw badParameter("attached_media must be a list of objects with media_fbid");
    return String(id);
  });
}

function checkDuplicate(shared: FacebookShared, draft: Omit<Post, "id" | "createdAt">): void {
  if (!shared.state.refuseDuplicates || draft.photoIds.length > 0) return;
  const since = shared.now() - DUPLICATE_MS;
  for (const post of shared.state.posts.values())
    if (
      post.pageId === draft.pageId &&
      post.createdAt > since &&
      post.message === draft.message &&
      post.link === draft.link &&
      post.photoIds.length === 0 &&
      post.videoId === null
    )
      throw graphRefusal({ message: "(#506) Duplicate status message", code: 506 });
}

function checkedMessage(parameters: Parameters): string | null {
  const message = textParameter(parameters, "message") ?? null;
  if (message !== null && message.length > MESSAGE_MAX)
    throw badParameter("Name parameter too long");
  return message;
}

function publish(shared: FacebookShared, exchange: Exchange, plan: Plan): Answer {
  const page = authorizePage(shared, exchange, "pages_manage_posts");
  const parameters = readParameters(exchange);
  const message = checkedMessage(parameters);
  const link = checkedLink(parameters);
  const ids = attachedIds(parameters);
  if (message === null && link === null && ids.length === 0)
    throw graphRefusal({
      message: "Invalid parameter",
      code: 100,
      subcode: 1349125,
      userTitle: "Missing message or attachment",
      userMessage: "Missing message or attachment.",
    });
  if (new Set(ids).size < ids.length) throw badParameter("attached_media names a photo twice");
  const photos = ids.map((id) => usablePhoto(shared, page, id, plan));
  const draft = {
    pageId: page.id,
    form: "post",
    message,
    link,
    photoIds: ids,
    videoId: null,
    isPublished: flagParameter(parameters, "published", true),
  } as const;
  checkDuplicate(shared, draft);
  const post = publishPost(shared, draft);
  for (const photo of photos) photo.postId = post.id;
  return created(exchange, postNode(shared.state, post));
}

/** What a visitor finds on the page, newest first: no drafts, stories and videos that are not ready. */
function listed(shared: FacebookShared, page: Page): Post[] {
  return [...shared.state.posts.values()]
    .filter((post) => post.pageId === page.id && post.isPublished && post.form !== "story")
    .filter(({ videoId }) => {
      const video = shared.state.videos.get(videoId ?? "");
      return video === undefined || isShown(video);
    })
    .toReversed();
}

function list(shared: FacebookShared, exchange: Exchange): Answer {
  const page = authorizePage(shared, exchange, "pages_read_engagement");
  const since = timeParameter(exchange, "since") ?? 0;
  const until = timeParameter(exchange, "until") ?? Infinity;
  const nodes = listed(shared, page)
    .filter(({ createdAt }) => createdAt >= since && createdAt <= until)
    .map((post) => postNode(shared.state, post));
  return json(200, edge(exchange, nodes, LISTED_FIELDS));
}

export function feedRoutes(shared: FacebookShared): Route[] {
  const reading = (path: string, name: string): Route => ({
    method: "GET",
    path,
    name,
    run: (exchange) => list(shared, exchange),
  });
  return [
    route("POST /{id}/feed", "feed", (exchange, plan) => publish(shared, exchange, plan), {
      magic: (exchange) => {
        const message = textParameter(readParameters(exchange), "message");
        return { text: message ?? "", key: "" };
      },
    }),
    reading("/{id}/feed", "feedList"),
    reading("/{id}/published_posts", "publishedPosts"),
  ];
}
