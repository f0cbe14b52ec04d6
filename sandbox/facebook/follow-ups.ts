import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { commentsOf, noteRemoval, NotThereYet, removalWords } from "../follow-ups.ts";
import type { StoredComment } from "../follow-ups.ts";
import { edge, timeParameter } from "../graph/edge.ts";
import { badParameter, noSuchObject } from "../graph/errors.ts";
import { graphTime } from "../graph/fields.ts";
import type { GraphNode } from "../graph/fields.ts";
import { commentWords, readParameters, textParameter } from "../graph/parameters.ts";
import { keep } from "../kept-maps.ts";
import { route } from "../network.ts";
import type { Route } from "../network.ts";
import { authorize, authorizeOwn, mayUse, missingPermission, success } from "./access.ts";
import { isShown, permalink } from "./nodes.ts";
import { publishedPosts } from "./published.ts";
import { created } from "./publishing.ts";
import { findPage, nextId } from "./state.ts";
import type { FacebookShared, FacebookState, Post } from "./state.ts";

const COMMENT = { permission: "pages_manage_engagement", task: /MODERATE$|FULL_CONTROL$/ };
const REMOVE = { permission: "pages_manage_posts", task: /CREATE_CONTENT$|FULL_CONTROL$/ };

/** A post or a video by its id, where readers see it. Comments of a story there are none. */
function shownPost(state: FacebookState, id: string, pageId: string | null): Post | undefined {
  const video = state.videos.get(id);
  const post = state.posts.get(video?.postId ?? id);
  const own = state.videos.get(post?.videoId ?? "");
  const isOut = post?.isPublished === true && (own === undefined || isShown(own));
  return isOut && post.form !== "story" && post.pageId === pageId ? post : undefined;
}

function commentNode(state: FacebookState, post: Post, comment: StoredComment): GraphNode {
  const { id, text, authorId, createdAt } = comment;
  const values = {
    id,
    message: text,
    created_time: graphTime(createdAt),
    from: { id: authorId, name: findPage(state, authorId)?.name },
    permalink_url: `${permalink(state, post)}?comment_id=${id.split("_")[1] ?? id}`,
  };
  return { type: "Comment", values };
}

const hidden = new NotThereYet();

function comment(shared: FacebookShared, exchange: Exchange, plan: Plan): Answer {
  const { state } = shared;
  const page = authorizeOwn(shared, exchange, COMMENT);
  const id = exchange.params["id"] ?? "";
  const text = textParameter(readParameters(exchange), "message");
  if (text === undefined) throw badParameter("The parameter message is required");
  const post = shownPost(state, id, page.id);
  if (post === undefined || hidden.hides(post.id, text, plan.processing))
    throw noSuchObject(id, "post");
  const written = {
    id: `${post.id.split("_")[1] ?? post.id}_${nextId(state)}`,
    postId: post.id,
    authorId: page.id,
    text,
    createdAt: shared.now(),
  };
  keep(state.comments, written.id, written);
  return created(exchange, commentNode(state, post, written));
}

/** A person's token sees none of them. */
function list(shared: FacebookShared, exchange: Exchange): Answer {
  const { state } = shared;
  const { token } = authorize(shared, exchange);
  if (token.pageId === null) return json(200, { data: [] });
  if (!mayUse(shared, token, "pages_read_engagement"))
    throw missingPermission("pages_read_engagement");
  const id = exchange.params["id"] ?? "";
  const post = shownPost(state, id, token.pageId);
  if (post === undefined) throw noSuchObject(id);
  const since = timeParameter(exchange, "since") ?? 0;
  const nodes = commentsOf(state, post.id)
    .filter(({ createdAt }) => createdAt >= since)
    .toReversed()
    .map((one) => commentNode(state, post, one));
  return json(200, edge(exchange, nodes, "created_time,message,id"));
}

/** The post of a post or a video. */
function postOf({ posts, videos }: FacebookState, id: string): Post | undefined {
  return posts.get(videos.get(id)?.postId ?? id);
}

/** Text of a post that was removed, by its own id, that of its photo or that of its video. */
export function removedText({ photos, removed }: FacebookState, id: string): string | undefined {
  const postId = photos.get(id)?.postId ?? id;
  return [...removed.values()].find((post) => post.id === postId || post.url.endsWith(`/${id}/`))
    ?.text;
}

/** Photos stay in the page's album when their post goes, and a video's post goes with the video. */
function remove(shared: FacebookShared, exchange: Exchange): Answer {
  const { state } = shared;
  const page = authorizeOwn(shared, exchange, REMOVE);
  const id = exchange.params["id"] ?? "";
  const post = postOf(state, id);
  const found = post ?? state.videos.get(id) ?? state.photos.get(id);
  if (found?.pageId !== page.id || post?.form === "story") throw noSuchObject(id, "delete");
  if (post !== undefined) {
    const seen = publishedPosts(state).find((shown) => shown.id === post.id);
    noteRemoval(state, seen, shared.now());
    state.posts.delete(post.id);
  }
  state.photos.delete(id);
  state.videos.delete(id);
  return success();
}

export function followUpRoutes(shared: FacebookShared): Route[] {
  return [
    route("POST /{id}/comments", "comment", (exchange, plan) => comment(shared, exchange, plan), {
      magic: commentWords,
    }),
    route("GET /{id}/comments", "comments", (exchange) => list(shared, exchange)),
    route("DELETE /{id}", "remove", (exchange) => remove(shared, exchange), {
      magic: ({ params }) => removalWords(postOf(shared.state, params["id"] ?? "")?.message ?? ""),
      about: ({ params }) => {
        const id = params["id"] ?? "";
        return postOf(shared.state, id)?.message ?? removedText(shared.state, id);
      },
    }),
  ];
}
