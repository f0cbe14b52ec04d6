import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { edge, timeParameter } from "../graph/edge.ts";
import { badParameter, graphRefusal, noSuchObject } from "../graph/errors.ts";
import type { GraphProblem } from "../graph/errors.ts";
import { project } from "../graph/fields.ts";
import type { GraphNode } from "../graph/fields.ts";
import { readParameters, textParameter } from "../graph/parameters.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { PUBLISH, authorize, authorizePath } from "./access.ts";
import { NOT_READY, containerState } from "./container-state.ts";
import { publishWords } from "./magic.ts";
import { accountNode, containerNode, mediaNode } from "./nodes.ts";
import { nextId } from "./state.ts";
import type { Account, Container, InstagramShared, Media } from "./state.ts";
import { route } from "../network.ts";

const DAY_MS = 24 * 3_600_000;
const STORY_MS = DAY_MS;

const NO_CONTAINER: GraphProblem = {
  message: "The media builder with creation id does not exist or has expired.",
  code: 24,
  subcode: 2207006,
  userTitle: "Media not found",
  userMessage: "The media with this creation id cannot be found.",
};
const EXPIRED: GraphProblem = {
  message: "The media builder with creation id does not exist or has expired.",
  code: 24,
  subcode: 2207008,
  userTitle: "Media expired",
  userMessage: "The media container has expired. Please create a new one.",
};
const BROKEN: GraphProblem = {
  message: "The media could not be created.",
  code: -1,
  subcode: 2207032,
  userTitle: "Create media fail",
  userMessage: "Failed to create the media. Please try again with a new container.",
};
export const QUOTA_REACHED: GraphProblem = {
  message: "Application request limit reached",
  code: 9,
  subcode: 2207042,
  status: 403,
  userTitle: "Maximum posts reached",
  userMessage: "You have reached the maximum number of posts that can be published with the API.",
};

/** Posts of the last 24 hours; a carousel is one. */
function quotaUsage(shared: InstagramShared, { userId }: Account): number {
  const since = shared.now() - DAY_MS;
  const set = shared.state.quotaUsed.get(userId);
  const published = [...shared.state.media.values()].filter(
    (media) => media.userId === userId && media.publishedAt > since,
  );
  return published.length + (set !== undefined && set.setAt > since ? set.count : 0);
}

function shortcodeOf(id: string): string {
  return Buffer.from(BigInt(id).toString(16).padStart(16, "0"), "hex").toString("base64url");
}

/** The container that may go live now; refuses in Instagram's words for why not. */
function publishable(shared: InstagramShared, account: Account, id: string): Container {
  const container = shared.state.containers.get(id);
  if (container?.userId !== account.userId) throw graphRefusal(NO_CONTAINER);
  switch (containerState(shared, container)) {
    case "FINISHED":
      break;
    case "IN_PROGRESS":
      throw graphRefusal(NOT_READY);
    case "EXPIRED":
      throw graphRefusal(EXPIRED);
    case "ERROR":
      throw graphRefusal(BROKEN);
    case "PUBLISHED":
      throw graphRefusal(NO_CONTAINER);
  }
  if (container.isCarouselItem) throw badParameter("A carousel item can't be published alone");
  return container;
}

function publish(shared: InstagramShared, exchange: Exchange): Answer {
  const { account } = authorizePath(shared, exchange, PUBLISH);
  const id = textParameter(readParameters(exchange), "creation_id");
  if (id === undefined) throw badParameter("The parameter creation_id is required");
  const container = publishable(shared, account, id);
  const { state } = shared;
  if (state.quotaUsed.has(account.userId) && quotaUsage(shared, account) >= state.quotaTotal)
    throw graphRefusal(QUOTA_REACHED);
  const mediaId = nextId(state);
  container.mediaId = mediaId;
  for (const childId of container.children) {
    const child = state.containers.get(childId);
    if (child !== undefined) child.mediaId = mediaId;
  }
  keep(state.media, mediaId, {
    id: mediaId,
    userId: account.userId,
    containerId: container.id,
    shortcode: shortcodeOf(mediaId),
    publishedAt: shared.now(),
  });
  return json(200, { id: mediaId });
}

function nodesOf(
  shared: InstagramShared,
  account: Account,
  isWanted: (media: Media, container: Container) => boolean,
): GraphNode[] {
  const { state } = shared;
  return [...state.media.values()]
    .filter(({ userId }) => userId === account.userId)
    .toReversed()
    .flatMap((media) => {
      const container = state.containers.get(media.containerId);
      if (container === undefined || !isWanted(media, container)) return [];
      return [mediaNode(state, media, container)];
    });
}

function list(shared: InstagramShared, exchange: Exchange): Answer {
  const { account } = authorizePath(shared, exchange);
  const since = timeParameter(exchange, "since") ?? 0;
  const until = timeParameter(exchange, "until") ?? Infinity;
  const nodes = nodesOf(shared, account, ({ publishedAt }, { mediaType }) => {
    return mediaType !== "STORIES" && publishedAt >= since && publishedAt <= until;
  });
  return json(200, edge(exchange, nodes, "id"));
}

function listStories(shared: InstagramShared, exchange: Exchange): Answer {
  const { account } = authorizePath(shared, exchange);
  const since = shared.now() - STORY_MS;
  const nodes = nodesOf(shared, account, ({ publishedAt }, { mediaType }) => {
    return mediaType === "STORIES" && publishedAt > since;
  });
  return json(200, edge(exchange, nodes, "id"));
}

function publishingLimit(shared: InstagramShared, exchange: Exchange): Answer {
  const { account } = authorizePath(shared, exchange, PUBLISH);
  const config = { quota_total: shared.state.quotaTotal, quota_duration: DAY_MS / 1000 };
  const values = { quota_usage: quotaUsage(shared, account), config };
  const fields = textParameter(readParameters(exchange), "fields");
  const node = { type: "ContentPublishingLimit", values };
  return json(200, { data: [project(node, fields, "quota_usage")] });
}

/** A container or a post of the speaker's, by its id. Each look at a container's state brings it on. */
function content(
  shared: InstagramShared,
  exchange: Exchange,
  account: Account,
  id: string,
): GraphNode | undefined {
  const { state } = shared;
  const media = state.media.get(id);
  const container = state.containers.get(media?.containerId ?? id);
  if (container?.userId !== account.userId) return undefined;
  if (media !== undefined) return mediaNode(state, media, container);
  const fields = textParameter(readParameters(exchange), "fields") ?? "";
  const node = containerNode(shared, container);
  if (fields.includes("status") && container.pollsLeft > 0) container.pollsLeft -= 1;
  return node;
}

function read(shared: InstagramShared, exchange: Exchange): Answer {
  const { account } = authorize(shared, exchange);
  const id = exchange.params["id"] ?? "";
  const isSelf = ["me", account.userId].includes(id);
  const count = nodesOf(shared, account, () => true).length;
  const node = isSelf ? accountNode(account, count) : content(shared, exchange, account, id);
  if (node === undefined) throw noSuchObject(id);
  return json(200, project(node, textParameter(readParameters(exchange), "fields"), "id"));
}

export function publishingRoutes(shared: InstagramShared): Route[] {
  const get = (
    path: string,
    name: string,
    run: (shared: InstagramShared, exchange: Exchange) => Answer,
  ): Route => route(`GET ${path}`, name, (exchange) => run(shared, exchange));
  const captionOf = (id = ""): string => {
    const { containers, media } = shared.state;
    return containers.get(media.get(id)?.containerId ?? id)?.sentCaption ?? "";
  };
  const published = (exchange: Exchange): string =>
    captionOf(textParameter(readParameters(exchange), "creation_id"));
  return [
    route("POST /{id}/media_publish", "mediaPublish", (exchange) => publish(shared, exchange), {
      magic: (exchange) => {
        const caption = published(exchange);
        return { text: publishWords(caption), key: caption };
      },
      about: published,
    }),
    get("/{id}/media", "mediaList", list),
    get("/{id}/stories", "stories", listStories),
    get("/{id}/content_publishing_limit", "contentPublishingLimit", publishingLimit),
    { ...get("/{id}", "object", read), about: ({ params }) => captionOf(params["id"]) },
  ];
}
