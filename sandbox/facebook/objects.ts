import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { noSuchObject } from "../graph/errors.ts";
import { project } from "../graph/fields.ts";
import type { GraphNode } from "../graph/fields.ts";
import { readParameters, textParameter } from "../graph/parameters.ts";
import { route } from "../network.ts";
import type { Route } from "../network.ts";
import { removedText } from "./follow-ups.ts";
import { authorize, missingPermission, mayUse, namedId } from "./access.ts";
import type { Speaker } from "./access.ts";
import { pageNode, photoNode, postNode, userNode, videoNode } from "./nodes.ts";
import { accounts } from "./people.ts";
import { photoIsReady } from "./publishing.ts";
import { findPage, grantOf } from "./state.ts";
import type { FacebookShared, Video } from "./state.ts";
import { pageToken } from "./tokens.ts";

/** A page as its own token or a person with a role on it sees it. Nobody else does. */
function seenPage(shared: FacebookShared, speaker: Speaker, id: string): GraphNode | undefined {
  const { token, text } = speaker;
  const page = findPage(shared.state, id);
  if (page === undefined) return undefined;
  if (token.pageId !== null)
    return token.pageId === id ? pageNode(page, { token: text }) : undefined;
  const isChosen = grantOf(shared.state, token)?.pageIds.includes(id) === true;
  if (!isChosen || page.tasks[token.userId] === undefined) return undefined;
  return pageNode(page, { token: pageToken(shared, token, page), userId: token.userId });
}

/** A look at a video's status brings it on by one step. */
function look(video: Video): void {
  if (video.uploadPollsLeft > 0) video.uploadPollsLeft -= 1;
  else if (video.postId !== null && video.processingPollsLeft > 0) video.processingPollsLeft -= 1;
}

/** A photo, video or post, as the token of its page sees it. */
function content(
  shared: FacebookShared,
  exchange: Exchange,
  { token }: Speaker,
  id: string,
): GraphNode | undefined {
  const { state } = shared;
  const [photo, video, post] = [state.photos.get(id), state.videos.get(id), state.posts.get(id)];
  const found = photo ?? video ?? post;
  if (found === undefined || token.pageId !== found.pageId) return undefined;
  if (!mayUse(shared, token, "pages_read_engagement"))
    throw missingPermission("pages_read_engagement");
  if (post !== undefined) return postNode(state, post);
  if (video !== undefined) {
    const fields = textParameter(readParameters(exchange), "fields") ?? "";
    if (/\bstatus\b/.test(fields)) look(video);
    return videoNode(state, video);
  }
  return photo !== undefined && photoIsReady(photo) ? photoNode(photo) : undefined;
}

function read(shared: FacebookShared, exchange: Exchange): Answer {
  const speaker = authorize(shared, exchange);
  const id = namedId(exchange, speaker);
  const user = shared.state.users.find((known) => known.id === id);
  const isSelf = user !== undefined && speaker.token.pageId === null && speaker.token.userId === id;
  const node = isSelf
    ? userNode(user, accounts(shared, speaker))
    : (seenPage(shared, speaker, id) ?? content(shared, exchange, speaker, id));
  if (node === undefined) throw noSuchObject(id);
  const fallback = node.type === "Post" ? "created_time,message,id" : "name,id";
  const fields = textParameter(readParameters(exchange), "fields");
  const usual = "name" in node.values || node.type === "Post" ? fallback : "id";
  return json(200, project(node, fields, usual));
}

/** Anything by its id. */
export function objectRoutes(shared: FacebookShared): Route[] {
  return [
    route("GET /{id}", "object", (exchange) => read(shared, exchange), {
      about: ({ params }) => removedText(shared.state, params["id"] ?? ""),
    }),
  ];
}
