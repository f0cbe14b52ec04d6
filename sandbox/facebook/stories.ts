import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { edge, timeParameter } from "../graph/edge.ts";
import { badParameter } from "../graph/errors.ts";
import type { GraphNode } from "../graph/fields.ts";
import { readParameters, textParameter } from "../graph/parameters.ts";
import type { Route } from "../network.ts";
import { authorizePage, success } from "./access.ts";
import { isShown, permalink } from "./nodes.ts";
import { publishPost, usablePhoto } from "./publishing.ts";
import type { FacebookShared, Post } from "./state.ts";
import { route } from "../network.ts";

const STORY_MS = 24 * 3_600_000;
const LISTED_FIELDS = "post_id,status,creation_time,media_type,media_id,url";

function publishPhoto(shared: FacebookShared, exchange: Exchange, plan: Plan): Answer {
  const page = authorizePage(shared, exchange, "pages_manage_posts");
  const id = textParameter(readParameters(exchange), "photo_id");
  if (id === undefined) throw badParameter("The parameter photo_id is required");
  const photo = usablePhoto(shared, page, id, plan);
  const post = publishPost(shared, {
    pageId: page.id,
    form: "story",
    message: null,
    link: null,
    photoIds: [photo.id],
    videoId: null,
    isPublished: true,
  });
  photo.postId = post.id;
  return success({ post_id: post.id.split("_")[1] });
}

function storyNode(shared: FacebookShared, post: Post): GraphNode {
  const number = post.id.split("_")[1] ?? post.id;
  return {
    type: "Story",
    values: {
      post_id: number,
      status: post.createdAt + STORY_MS > shared.now() ? "published" : "archived",
      creation_time: String(Math.floor(post.createdAt / 1000)),
      media_type: post.videoId === null ? "photo" : "video",
      media_id: post.videoId ?? post.photoIds[0],
      url: permalink(shared.state, post),
    },
  };
}

function list(shared: FacebookShared, exchange: Exchange): Answer {
  const page = authorizePage(shared, exchange, "pages_read_engagement");
  const since = timeParameter(exchange, "since") ?? 0;
  const until = timeParameter(exchange, "until") ?? Infinity;
  const { state } = shared;
  const nodes = [...state.posts.values()]
    .filter((post) => post.form === "story" && post.pageId === page.id)
    .filter(({ createdAt }) => createdAt >= since && createdAt <= until)
    .filter(({ videoId }) => {
      const video = state.videos.get(videoId ?? "");
      return video === undefined || isShown(video);
    })
    .toReversed()
    .map((post) => storyNode(shared, post));
  return json(200, edge(exchange, nodes, LISTED_FIELDS));
}

export function storyRoutes(shared: FacebookShared): Route[] {
  return [
    route("POST /{id}/photo_stories", "photoStories", (exchange, plan) =>
      publishPhoto(shared, exchange, plan),
    ),
    route("GET /{id}/stories", "stories", (exchange) => list(shared, exchange)),
  ];
}
