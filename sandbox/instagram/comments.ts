import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { commentsOf, NotThereYet } from "../follow-ups.ts";
import { edge } from "../graph/edge.ts";
import { badParameter, noSuchObject } from "../graph/errors.ts";
import { graphTime } from "../graph/fields.ts";
import { commentWords, readParameters, textParameter } from "../graph/parameters.ts";
import { keep } from "../kept-maps.ts";
import { route } from "../network.ts";
import type { Route } from "../network.ts";
import { authorize } from "./access.ts";
import { nextId } from "./state.ts";
import type { Account, InstagramShared, Media } from "./state.ts";

const COMMENTS = "instagram_business_manage_comments";

/** A post of the account's own that may be commented on: a story may not. */
function ownMedia({ state }: InstagramShared, { userId }: Account, id: string): Media | undefined {
  const media = state.media.get(id);
  const isStory = state.containers.get(media?.containerId ?? "")?.mediaType === "STORIES";
  return media?.userId === userId && !isStory ? media : undefined;
}

const hidden = new NotThereYet();

function comment(shared: InstagramShared, exchange: Exchange, plan: Plan): Answer {
  const { state } = shared;
  const { account } = authorize(shared, exchange, COMMENTS);
  const id = exchange.params["id"] ?? "";
  const text = textParameter(readParameters(exchange), "message");
  if (text === undefined) throw badParameter("The parameter message is required");
  const media = ownMedia(shared, account, id);
  if (media === undefined || hidden.hides(media.id, text, plan.processing))
    throw noSuchObject(id, "post");
  const createdAt = shared.now();
  const written = {
    id: nextId(state),
    postId: media.id,
    authorId: account.userId,
    text,
    createdAt,
  };
  keep(state.comments, written.id, written);
  return json(200, { id: written.id });
}

/** Newest first; `user` is there for comments of the asking account alone. */
function list(shared: InstagramShared, exchange: Exchange): Answer {
  const { account } = authorize(shared, exchange, COMMENTS);
  const id = exchange.params["id"] ?? "";
  const media = ownMedia(shared, account, id);
  if (media === undefined) throw noSuchObject(id);
  const nodes = commentsOf(shared.state, media.id)
    .toReversed()
    .map((one) => ({
      type: "IGComment",
      values: {
        id: one.id,
        text: one.text,
        timestamp: graphTime(one.createdAt),
        username: account.username,
        user: one.authorId === account.userId ? { id: account.userId } : undefined,
      },
    }));
  return json(200, edge(exchange, nodes, "id,text,timestamp"));
}

export function commentRoutes(shared: InstagramShared): Route[] {
  return [
    route("POST /{id}/comments", "comment", (exchange, plan) => comment(shared, exchange, plan), {
      magic: commentWords,
    }),
    route("GET /{id}/comments", "comments", (exchange) => list(shared, exchange)),
  ];
}
