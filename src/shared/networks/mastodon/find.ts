import { exchange } from "../contract/answers.ts";
import { findBySearch } from "../contract/post-search.ts";
import { notYet, notYetAfter, unknowable } from "../contract/outcome.ts";
import type { Finding, PostSearch } from "../contract/outcome.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { ownOptionsOf } from "./options.ts";
import { hasOurFile, hasOurFiles, hasOurWords, isNewerThan, listOwnPosts } from "./own-posts.ts";
import { type NoList, type OwnPosts, publishedOf, timeOf } from "./own-posts.ts";
import { getMedia, readMedia } from "./prepare.ts";
import { findDefaultVisibility, keepsKeysOf, holdsRepeats } from "./software.ts";
import type { Leg } from "./state.ts";

/** A key is remembered for an hour. The rest allows for the call itself and for clocks that differ. */
const KEY_LIFE_MS = 50 * 60_000;
const ASK_AGAIN_SECONDS = 30;
/** By then, all effects of the first attempt are finished. Before that, a missing post proves nothing. */
const VISIBLE_MS = 30_000;
/** Clocks differ, so a post may seem a little older than the call that made it. */
const CLOCK_SKEW_MS = 60_000;
/** Servers that store whole seconds make a post seem older by less than one. */
const SECOND_MS = 1_000;

/**
 * Finds out whether an earlier call published the post. A server that keeps idempotency keys can be asked to repeat the
 * call while it remembers the key. On any other server, only the account's own posts tell, and they count only if they
 * would show the post. Otherwise the outcome stays unknown, and nothing is sent again.
 */
export const find = findBySearch({
  search: findOwnPost,
  visibleMs: VISIBLE_MS,
  // Mastodon holds a repeat until the first call has ended, so it can be sent at once. Other servers could make two posts.
  early: ({ leg }) =>
    keepsKeysOf(leg) && holdsRepeats(leg)
      ? { kind: "repeatable" }
      : notYet("an attempt may still be under way"),
  late({ leg, isMissing }) {
    const isRepeatable = keepsKeysOf(leg) && isKeyAlive(leg);
    if (isMissing || isRepeatable) return { kind: isMissing ? "absent" : "repeatable" };
    return keepsKeysOf(leg) ? lookAtFile(leg) : UNKNOWABLE;
  },
});

const UNKNOWABLE = unknowable("the network can't tell whether the post was made");

/** Asks about the leg's first file. If it is unused, no post has it, so this leg's post doesn't exist. */
async function lookAtFile(leg: Leg): Promise<Finding> {
  const { remote, tools } = leg;
  const [first] = remote.media;
  if (first === undefined) return UNKNOWABLE;
  const answer = await exchange(tools, getMedia(leg, first));
  if (answer instanceof HttpFailure) return notYet(answer.message);
  if (answer.status === 404) return UNKNOWABLE;
  const state = readMedia(answer, tools.now());
  if (typeof state === "string" || state.kind === "broken") return { kind: "absent" };
  return state.kind === "rejected"
    ? UNKNOWABLE
    : { kind: "not_yet", failure: state.failure, pollAfterSeconds: ASK_AGAIN_SECONDS };
}

/** Reports whether a server that keeps keys still remembers the first attempt's. */
export function isKeyAlive({ sentAt, tools }: Leg): boolean {
  return sentAt === null || tools.now().getTime() - sentAt.getTime() < KEY_LIFE_MS;
}

/**
 * Looks for the leg's post among the account's own. `absent` and complete: the list was read back to before the call,
 * would show the post, and shows none that could be it.
 */
export function findOwnPost(leg: Leg): Promise<PostSearch> {
  return keepsKeysOf(leg) ? findByTime(leg) : findNew(leg);
}

/**
 * Looks for the post on a server that keeps keys and gives every file to one post only: by the files, or else by the
 * text and the time of the call.
 */
async function findByTime(leg: Leg): Promise<PostSearch> {
  const sentAt = (leg.sentAt ?? leg.tools.now()).getTime();
  const since = sentAt - CLOCK_SKEW_MS;
  const posts = await listOwnPosts(leg, since);
  if ("kind" in posts) return withoutList(posts);
  const hasFiles = leg.remote.media.length > 0;
  const ofTheTime = posts.statuses.filter(({ created_at }) => Date.parse(created_at) >= since);
  const found = hasFiles
    ? posts.statuses.find((status) => hasOurFile(status, leg))
    : ofTheTime.find((status) => hasOurWords(status, leg));
  // The same text from shortly before the call is another post, or ours by a slow clock.
  const isOlder = found !== undefined && Date.parse(found.created_at) < sentAt - SECOND_MS;
  if (found !== undefined && (hasFiles || !isOlder)) return publishedOf(found);
  return absence(leg, posts, found === undefined);
}

/**
 * Looks for the post among those that the account did not have before the call, by the leg's text and files. Any other
 * new post may be the leg's, changed by the server, and two that fit may both be from elsewhere.
 */
async function findNew(leg: Leg): Promise<PostSearch> {
  const { before } = leg.remote;
  if (before === undefined) return { kind: "unreadable" };
  const posts = await listOwnPosts(leg, timeOf(before));
  if ("kind" in posts) return withoutList(posts);
  const made = posts.statuses.filter((status) => isNewerThan(before, status));
  const [found, ...others] = made.filter(
    (status) => hasOurWords(status, leg) && hasOurFiles(status, leg),
  );
  if (found !== undefined && others.length === 0) return publishedOf(found);
  return absence(leg, posts, made.length === 0);
}

const withoutList = (posts: NoList): PostSearch =>
  posts.kind === "try_later" ? notYetAfter(posts) : posts;

/** Reports whether a list without the post proves anything, because it shows another post of the same visibility. */
async function absence(
  leg: Leg,
  { statuses, isComplete }: OwnPosts,
  isMissing: boolean,
): Promise<PostSearch> {
  const shown = new Set(statuses.flatMap(({ visibility }) => visibility ?? []));
  if (!isMissing || !isComplete || shown.size === 0) return { kind: "absent", isComplete: false };
  const own = ownOptionsOf(leg.draft).visibility;
  const visibility = own ?? (await findDefaultVisibility(leg));
  if (typeof visibility === "object") return notYetAfter(visibility);
  return { kind: "absent", isComplete: visibility !== undefined && shown.has(visibility) };
}
