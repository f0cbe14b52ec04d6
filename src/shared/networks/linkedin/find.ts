import * as z from "zod";
import { HttpFailure } from "../../runtime/http-call.ts";
import type { ShapeOf } from "../../runtime/shape.ts";
import { exchange } from "../contract/answers.ts";
import { inForm } from "../contract/ask.ts";
import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import { findBySearch } from "../contract/post-search.ts";
import { notYet, unavailable, unknowable } from "../contract/outcome.ts";
import type { PostSearch, Finding } from "../contract/outcome.ts";
import { composed } from "../contract/text.ts";
import { ownOptionsOf } from "./options.ts";
import { plainText, publishedAs } from "./publish.ts";
import { wantedFiles } from "./upload.ts";
import { restMethod } from "./request.ts";
import { classifyFor } from "./session.ts";
import type { Leg } from "./state.ts";

/** By then, everything that the first attempt has caused is finished. */
const VISIBLE_MS = 30_000;
/** Lists show a post with a delay. */
const LISTED_MS = 60_000;
/** A duplicate is noticed for ten minutes. The last one is left for the repeated call itself. */
const REPEATABLE_MS = 9 * 60_000;
/** The first call and one repeat. */
const DOUBTS_MAX = 2;
const UNKNOWABLE = unknowable("the network can't tell any more whether the post was made");

/** Looks for an organization's post. A member's can't be listed, so the call is repeated once. */
export const find = findBySearch({
  search: (leg: Leg) => (canTell(leg) ? findOwnPost(leg) : UNREADABLE),
  visibleMs: LISTED_MS,
  early: ({ leg, search, ageMs }) =>
    search.kind === "unreadable"
      ? repeatOnce(leg, ageMs)
      : notYet("the list may not show the post yet"),
  late({ leg, search, ageMs, isMissing }) {
    if (search.kind === "ambiguous") return UNKNOWABLE;
    return isMissing ? { kind: "absent" } : repeatOnce(leg, ageMs);
  },
});

const UNREADABLE = Promise.resolve({ kind: "unreadable" } as const);

/** Reports whether the post can be looked up. A member's can't, because `r_member_social` is closed to new apps. */
export function canTell({ credentials }: Pick<Leg, "credentials">): boolean {
  return credentials.kind === "organization";
}

/**
 * Repeats a call while LinkedIn would recognize a duplicate and name the first post. Its documents say so for texts
 * (UGC Post API, "Content is a duplicate of"), but not for posts with files, which are never repeated.
 */
function repeatOnce(leg: Leg, ageMs: number): Finding {
  if (ageMs < VISIBLE_MS) return notYet("an attempt may still be under way");
  const isLast = leg.remote.doubts >= DOUBTS_MAX;
  if (isLast || ageMs > REPEATABLE_MS || wantedFiles(leg.draft).length > 0) return UNKNOWABLE;
  return { kind: "repeatable" };
}

const PAGE_LENGTH = 10;
const PAGES_MAX = 3;
/** Clocks differ, so the list is read back to a little before the call. */
const CLOCK_SKEW_MS = 60_000;
/** A post made longer before the call is from elsewhere, or another leg's. */
const OLDER_MS = 1000;

const mediaShape = objectShape(() => ({ id: z.string() }));
const postShape = objectShape(() => ({
  id: z.string().regex(/^urn:li:(?:share|ugcPost):\d+$/),
  commentary: lenient(z.string(), ""),
  createdAt: z.number(),
  lastModifiedAt: lenient(z.number()),
  lifecycleState: lenient(z.string(), "PUBLISHED"),
  content: lenient(
    z.object({
      media: lenient(mediaShape()),
      multiImage: lenient(z.object({ images: lenientList(mediaShape()) })),
      article: lenient(
        z.object({
          source: lenient(z.string()),
          thumbnail: lenient(z.string()),
        }),
      ),
    }),
  ),
}));
type Post = ShapeOf<typeof postShape>;
const listShape = objectShape(() => ({ elements: z.array(z.unknown()) }));

/**
 * Looks for the leg's post among those of its organization: by its files, which no other post has, or else by its text.
 * `ambiguous`: one has the text, but was made before the call or shows something else. An entry that can't be read may
 * be the post, so the list is then incomplete.
 */
async function findOwnPost(leg: Leg): Promise<PostSearch> {
  let isAmbiguous = false;
  let isUnderstood = true;
  const since = (leg.sentAt ?? leg.tools.now()).getTime() - CLOCK_SKEW_MS;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const posts = await readPage(leg, page * PAGE_LENGTH);
    if ("kind" in posts) return posts;
    const found = posts.known.find((post) => isOurs(post, leg, since));
    if (found !== undefined) return publishedAs(found.id);
    isUnderstood &&= posts.known.length === posts.length;
    isAmbiguous ||= posts.known.some((post) => isAlike(post, leg, since));
    if (isLastPage(posts, since))
      return isAmbiguous ? { kind: "ambiguous" } : { kind: "absent", isComplete: isUnderstood };
  }
  return isAmbiguous ? { kind: "ambiguous" } : { kind: "absent", isComplete: false };
}

interface Page {
  /** The entries that could be read. */
  readonly known: readonly Post[];
  readonly length: number;
}

function isLastPage({ known, length }: Page, since: number): boolean {
  // Sorted by the latest change: an old post that was edited may be among new ones, but never the reverse.
  const last = known.at(-1);
  const isBeyond = last !== undefined && (last.lastModifiedAt ?? last.createdAt) < since;
  return isBeyond || length < PAGE_LENGTH;
}

async function readPage(leg: Leg, start: number): Promise<Page | PostSearch> {
  const author = encodeURIComponent(leg.credentials.author);
  const query = `q=author&author=${author}&start=${start}&count=${PAGE_LENGTH}&sortBy=LAST_MODIFIED`;
  const answer = await exchange(leg.tools, restMethod(`posts?${query}`, "FINDER", leg));
  if (answer instanceof HttpFailure) return unavailable(answer);
  const list = inForm(listShape)(answer);
  if (list !== undefined) {
    const known = list.elements.flatMap((element) => postShape().safeParse(element).data ?? []);
    return { known, length: list.elements.length };
  }
  const classified = await classifyFor(answer, leg);
  return classified.effect === "refuse" ? { kind: "unreadable" } : unavailable(classified);
}

function isOurs(post: Post, leg: Leg, since: number): boolean {
  const own = new Set(leg.remote.assets.map(({ urn }) => urn));
  if (own.size > 0) return isOut(post) && mediaOf(post).some((urn) => own.has(urn));
  const isNewer = post.createdAt >= since + CLOCK_SKEW_MS - OLDER_MS;
  return isNewer && isAlike(post, leg, since) && showsAsMuch(post, leg);
}

function isOut({ lifecycleState }: Post): boolean {
  return lifecycleState !== "PUBLISH_FAILED" && lifecycleState !== "DRAFT";
}

/** Reports whether a post from the time of the call has the text of a leg without files. */
function isAlike(post: Post, leg: Leg, since: number): boolean {
  return (
    leg.remote.assets.length === 0 &&
    isOut(post) &&
    post.createdAt >= since &&
    comparable(plainText(post.commentary)) === comparable(leg.draft.text)
  );
}

/** Reports whether a post shows the leg's link, or only text when there is none. */
function showsAsMuch({ content = {} }: Post, { draft }: Leg): boolean {
  const { link } = ownOptionsOf(draft);
  const hasFiles = content.media !== undefined || content.multiImage !== undefined;
  if (link === undefined) return !hasFiles;
  return content.article !== undefined && (content.article.source ?? link.url) === link.url;
}

function mediaOf({ content }: Post): readonly string[] {
  const images = content?.multiImage?.images ?? [];
  const single = content?.media === undefined ? [] : [content.media];
  const thumbnail = content?.article?.thumbnail;
  return [
    ...[...images, ...single].map(({ id }) => id),
    ...(thumbnail === undefined ? [] : [thumbnail]),
  ];
}

/** Removes spaces at the ends of lines, which don't survive everywhere. */
function comparable(text: string): string {
  return composed(text).replace(/\s+/g, "");
}
