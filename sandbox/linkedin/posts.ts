import { Refusal, empty } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { administers, checkAuthor, needScope, versioned } from "./access.ts";
import { badField, denied, duplicateOf, linkedInRefusal } from "./errors.ts";
import { parseLittleText, unescaped } from "./little-text.ts";
import { elements } from "./people.ts";
import { readPostBody } from "./post-body.ts";
import type { PostBody } from "./post-body.ts";
import { checkedContent } from "./post-content.ts";
import { nextNumber } from "./state.ts";
import type { LinkedInShared, Post, Token } from "./state.ts";

const COMMENTARY_MAX = 3000;
const DUPLICATE_MS = 10 * 60 * 1000;

function checkedCommentary({ commentary, content }: PostBody) {
  if (commentary.trim() === "" && content === undefined)
    throw badField("commentary", "INVALID_VALUE_BLANK_FIELD", "commentary must not be blank");
  const parsed = parseLittleText(commentary, () => undefined);
  const lost = commentary.length - parsed.length;
  if (parsed.text.length + lost > COMMENTARY_MAX)
    throw badField(
      "commentary",
      "FIELD_LENGTH_TOO_LONG",
      `commentary is longer than ${COMMENTARY_MAX} characters`,
    );
  return { commentary: commentary.slice(0, parsed.length), isTruncated: parsed.isTruncated };
}

function checkDuplicate(shared: LinkedInShared, fingerprint: string): void {
  const since = shared.now() - DUPLICATE_MS;
  for (const post of shared.state.posts.values())
    if (post.fingerprint === fingerprint && post.createdAt > since)
      throw new Refusal(duplicateOf(post.urn));
}

function create(shared: LinkedInShared, token: Token, exchange: Exchange, plan: Plan): Answer {
  const body = readPostBody(exchange);
  const { author, visibility, content = null } = body;
  checkAuthor(shared, token, author, "partnerApiPostsExternal.CREATE");
  const commentary = checkedCommentary(body);
  const fingerprint = JSON.stringify([author, body.commentary, content]);
  checkDuplicate(shared, fingerprint);
  const { media, article, urnType } = checkedContent(shared, body, plan);
  const post: Post = {
    ...commentary,
    urn: `urn:li:${urnType}:${nextNumber(shared.state)}`,
    author,
    fingerprint,
    visibility,
    content,
    media,
    article,
    createdAt: shared.now(),
  };
  keep(shared.state.posts, post.urn, post);
  return empty(201, {
    "x-restli-id": post.urn,
    location: `/posts/${encodeURIComponent(post.urn)}`,
  });
}

function entity(post: Post): Record<string, unknown> {
  const { urn, author, commentary, visibility, content, createdAt } = post;
  return {
    id: urn,
    author,
    commentary,
    visibility,
    ...(content === null ? {} : { content }),
    distribution: {
      feedDistribution: "MAIN_FEED",
      targetEntities: [],
      thirdPartyDistributionChannels: [],
    },
    lifecycleState: "PUBLISHED",
    lifecycleStateInfo: { isEditedByAuthor: false },
    isReshareDisabledByAuthor: false,
    createdAt,
    publishedAt: createdAt,
    lastModifiedAt: createdAt,
  };
}

/** Nobody may read a member's posts; an organization's are read by who administers it. */
function checkReader(shared: LinkedInShared, token: Token, author: string): void {
  const what = "partnerApiPostsExternal.FINDER-author";
  needScope(token, "r_organization_social", what);
  if (!administers(shared, token, author)) throw linkedInRefusal(denied(what));
}

function find(shared: LinkedInShared, token: Token, exchange: Exchange): Answer {
  const { query, headers } = exchange;
  const method = headers["x-restli-method"];
  if (query.get("q") !== "author" || (method !== undefined && method !== "FINDER"))
    throw badField("q", "INVALID_VALUE", "The only finder here is author");
  const author = query.get("author") ?? "";
  checkReader(shared, token, author);
  const found = [...shared.state.posts.values()]
    .filter((post) => post.author === author)
    .toReversed();
  return elements(exchange, found.map(entity));
}

/** Magic words may be anywhere in the body, escaped as little text wants it. Another upload makes no other post. */
function magicOf(exchange: Exchange): { text: string; key: string } {
  const body = exchange.body.toString("utf8").replace(/urn:li:(image|video|document):[\w-]+/g, "");
  return { text: unescaped(body.replaceAll("\\\\", "\\")), key: "" };
}

export function postRoutes(shared: LinkedInShared): Route[] {
  return [
    { ...versioned(shared, "POST /posts", "posts", create), magic: magicOf },
    versioned(shared, "GET /posts", "findPosts", find),
  ];
}
