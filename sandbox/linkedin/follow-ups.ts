import { empty, isObject, json, readObject } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { commentsOf, noteRemoval, NotThereYet, removalWords } from "../follow-ups.ts";
import type { StoredComment } from "../follow-ups.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { administers, checkAuthor, needScope, versioned } from "./access.ts";
import { badField, denied, linkedInRefusal } from "./errors.ts";
import { unescaped } from "./little-text.ts";
import { elements } from "./people.ts";
import { publishedPosts } from "./published.ts";
import { nextNumber, personUrn } from "./state.ts";
import type { LinkedInShared, Post, Token } from "./state.ts";

const CREATE = "partnerApiSocialActions.CREATE.20260901";
const GET_ALL = "partnerApiSocialActions.GET_ALL.20260901";

function commented(shared: LinkedInShared, exchange: Exchange): Post {
  const urn = exchange.params["urn"] ?? "";
  const post = shared.state.posts.get(urn);
  if (post !== undefined) return post;
  throw linkedInRefusal({ status: 404, code: "NOT_FOUND", message: `Entity ${urn} not found` });
}

function textOf(exchange: Exchange): string {
  const message = readObject(exchange)?.["message"];
  const text = isObject(message) ? message["text"] : undefined;
  return typeof text === "string" ? text : "";
}

/** Nobody may write in another's name; a member's feed and an organization's need permissions of their own. */
function checkActor(shared: LinkedInShared, token: Token, actor: unknown): void {
  if (actor === personUrn(token.memberId)) return needScope(token, "w_member_social_feed", CREATE);
  needScope(token, "w_organization_social_feed", CREATE);
  if (!administers(shared, token, String(actor))) throw linkedInRefusal(denied(CREATE));
}

function entity({ id, authorId, text, createdAt }: StoredComment, { urn }: Post) {
  const activity = urn.replace(/^urn:li:\w+:/, "urn:li:activity:");
  return {
    id,
    commentUrn: `urn:li:comment:(${activity},${id})`,
    actor: authorId,
    object: activity,
    created: { actor: authorId, time: createdAt },
    message: { attributes: [], text },
  };
}

const hidden = new NotThereYet();

function comment(shared: LinkedInShared, token: Token, exchange: Exchange, plan: Plan): Answer {
  const { state } = shared;
  const actor = readObject(exchange)?.["actor"];
  checkActor(shared, token, actor);
  const post = commented(shared, exchange);
  const text = textOf(exchange);
  if (text.trim() === "")
    throw badField("message/text", "INVALID_VALUE_BLANK_FIELD", "message must not be blank");
  if (hidden.hides(post.urn, text, plan.processing))
    throw linkedInRefusal({ status: 404, code: "NOT_FOUND", message: "Entity not found" });
  const written = {
    id: nextNumber(state),
    postId: post.urn,
    authorId: String(actor),
    text,
    createdAt: shared.now(),
  };
  keep(state.comments, written.id, written);
  return json(201, entity(written, post), { "x-restli-id": written.id });
}

/** Comments of a member's post may be read by nobody. */
function list(shared: LinkedInShared, token: Token, exchange: Exchange): Answer {
  needScope(token, "r_organization_social_feed", GET_ALL);
  const post = commented(shared, exchange);
  if (!administers(shared, token, post.author)) throw linkedInRefusal(denied(GET_ALL));
  const found = commentsOf(shared.state, post.urn).toReversed();
  return elements(
    exchange,
    found.map((one) => entity(one, post)),
  );
}

/** Answers the same to a post that is gone. */
function remove(shared: LinkedInShared, token: Token, exchange: Exchange): Answer {
  const { state } = shared;
  const post = state.posts.get(exchange.params["urn"] ?? "");
  if (post === undefined) return empty(204);
  checkAuthor(shared, token, post.author, "partnerApiPostsExternal.DELETE");
  const seen = publishedPosts(state).find(({ id }) => id === post.urn);
  noteRemoval(state, seen, shared.now());
  state.posts.delete(post.urn);
  return empty(204);
}

export function followUpRoutes(shared: LinkedInShared): Route[] {
  const path = "/socialActions/{urn}/comments";
  return [
    {
      ...versioned(shared, `POST ${path}`, "comment", comment),
      magic: (exchange) => ({ text: textOf(exchange), key: exchange.params["urn"] ?? "" }),
    },
    versioned(shared, `GET ${path}`, "comments", list),
    {
      ...versioned(shared, "DELETE /posts/{urn}", "remove", remove),
      magic: ({ params }) => {
        const post = shared.state.posts.get(params["urn"] ?? "");
        return removalWords(unescaped(post?.commentary ?? ""));
      },
    },
  ];
}
