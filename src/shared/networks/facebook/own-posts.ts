import { comparable } from "../contract/text.ts";
import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { idShape } from "../contract/answers.ts";
import { isEdge, pageUrl, readEdge, timeOf } from "../graph/request.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { type NotYet, type Done, unavailable, type PostSearch } from "../contract/outcome.ts";
import { classify } from "./errors.ts";
import { ownOptionsOf } from "./options.ts";
import { type Leg, pageOf, type Remote } from "./state.ts";

const PAGE_LENGTH = 25;
/** More than a page publishes within the time that is searched. */
const ENTRIES_MAX = 75;
const FIELDS =
  "id,from{id},message,created_time,permalink_url,attachments{media_type,target{id,url},subattachments{target{id}}}";

const target = shape(() =>
  lenient(z.object({ id: lenient(idShape()), url: lenient(z.string()) }), {}),
);
const attachment = objectShape(() => ({
  media_type: lenient(z.string(), ""),
  target: lenient(target()),
  subattachments: lenient(
    z.object({ data: lenient(lenientList(z.object({ target: target() })), []) }),
  ),
}));
const postShape = objectShape(() => ({
  id: idShape(),
  from: lenient(z.object({ id: idShape() })),
  message: lenient(z.string(), ""),
  created_time: lenient(z.string(), ""),
  permalink_url: lenient(z.string()),
  attachments: lenient(z.object({ data: lenient(lenientList(attachment()), []) }), { data: [] }),
}));
type Post = ShapeOf<typeof postShape>;

/**
 * Looks for the leg's post among the page's posts since the call: by its photos, which belong to one post only, or else
 * by its text. An earlier post is from elsewhere, or another leg's. Both lists sometimes omit posts, so both are
 * checked before a post counts as absent.
 */
export async function findOwnPost(leg: Leg): Promise<PostSearch> {
  const first = await findIn("published_posts", leg);
  if (first.kind !== "absent") return first;
  const second = await findIn("feed", leg);
  return second.kind === "done" ? second : first;
}

async function findIn(edge: "published_posts" | "feed", leg: Leg): Promise<PostSearch> {
  const posts = await listed(edge, FIELDS, postShape(), leg);
  if ("kind" in posts) return posts;
  // The feed has the posts of visitors too.
  const isOwn = ({ from }: Post) =>
    from === undefined ? edge === "published_posts" : from.id === leg.credentials.pageId;
  const found = posts.find((post) => isOwn(post) && isOurs(post, leg));
  if (found === undefined) return { kind: "absent", isComplete: false };
  const url = pageUrl(found.permalink_url) ?? `https://www.facebook.com/${found.id}`;
  return { kind: "done", externalId: found.id, url };
}

/** Returns the entries of one of the page's lists that may be the leg's. */
async function listed<Entry>(
  edge: string,
  fields: string,
  entryShape: z.ZodType<Entry>,
  leg: Leg,
): Promise<readonly Entry[] | NotYet> {
  const now = leg.tools.now();
  const since = String(Math.floor(((leg.sentAt ?? now).getTime() - CLOCK_SKEW_MS) / 1000));
  const path = `${leg.credentials.pageId}/${edge}`;
  const lengths = { pageLength: PAGE_LENGTH, entriesMax: ENTRIES_MAX };
  const list = { path, query: { fields, since }, ...lengths };
  const read = await readEdge(pageOf(leg), list, entryShape);
  if (isEdge(read)) return read.entries;
  return unavailable(read instanceof HttpFailure ? read : classify(read, now));
}

function isOurs(post: Post, leg: Leg): boolean {
  const { form, photos } = leg.remote;
  const { data: attachments } = post.attachments;
  if (photos.length > 0) {
    const ids = attachments.flatMap(({ target: own, subattachments }) => [
      own?.id,
      ...(subattachments?.data ?? []).map((inner) => inner.target.id),
    ]);
    return photos.some((photo) => ids.includes(photo));
  }
  if (form === "video" && attachments.every(({ media_type }) => media_type !== "video"))
    return false;
  if (isOlder(post, leg)) return false;
  const text = comparable(leg.draft.text);
  if (text !== "") return comparable(post.message) === text;
  const { link } = ownOptionsOf(leg.draft);
  return comparable(post.message) === "" && link !== undefined && isLinkedTo(attachments, link);
}

/** Times of posts are whole seconds, so a post may seem up to one second older than its call. */
const SECOND_MS = 1000;

function isOlder({ created_time }: Post, { sentAt }: Leg): boolean {
  return sentAt !== null && timeOf(created_time) < sentAt.getTime() - SECOND_MS;
}

/**
 * Reports whether an attachment leads to the link. Facebook wraps links in an address of its own that contains the
 * original.
 */
function isLinkedTo(attachments: Post["attachments"]["data"], link: string): boolean {
  const forms = [link, encodeURIComponent(link)];
  return attachments.some(({ target: own }) => forms.some((form) => own?.url?.includes(form)));
}

/** Clocks differ, so a post may seem a little older than its call. */
const CLOCK_SKEW_MS = 120_000;

const storyShape = objectShape(() => ({
  post_id: idShape(),
  media_id: idShape(),
  url: lenient(z.string()),
}));

/** Looks for the leg's story by its photo or video, which no other post has. */
export async function findStory(leg: Leg, mediaId: string): Promise<PostSearch> {
  const stories = await listed("stories", "post_id,media_id,media_type,url", storyShape(), leg);
  if ("kind" in stories) return stories;
  const found = stories.find((story) => story.media_id === mediaId);
  if (found === undefined) return { kind: "absent", isComplete: false };
  const published = { externalId: found.post_id, url: pageUrl(found.url) };
  return { kind: "done", ...published };
}

/** Returns the outcome for a video that is live. */
export async function publishedVideo(
  leg: Leg,
  { form, video, postedVideoId }: Remote,
  url: string | null,
): Promise<Done> {
  const id = postedVideoId ?? video?.id ?? "";
  if (form === "video_story") {
    const story = await findStory(leg, id);
    return story.kind === "done" ? story : { kind: "done", externalId: id, url };
  }
  const path = form === "reel" ? "reel" : `${leg.credentials.pageId}/videos`;
  const usual = `https://www.facebook.com/${path}/${id}`;
  return { kind: "done", externalId: id, url: url ?? usual };
}
