import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange } from "../contract/classified.ts";
import type { Lookup } from "../contract/doubt.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import type { LegToPublish, NetworkTools, Published } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { composed } from "../contract/normal-form.ts";
import { plainText } from "./little-text.ts";
import { SITE, restRequest } from "./request.ts";
import { judge } from "./session.ts";
import type { Credentials } from "./state.ts";
import { credentialsOf, remoteOf } from "./state.ts";

const PAGE_LENGTH = 10;
const PAGES_MAX = 3;
/** Clocks differ: a post may seem a little older than the call that made it. */
const CLOCK_SKEW_MS = 60_000;

const mediaShape = shape(() => z.object({ id: z.string() }));
const postShape = shape(() =>
  z.object({
    id: z.string().regex(/^urn:li:(?:share|ugcPost):\d+$/),
    commentary: z.string().catch(""),
    createdAt: z.number(),
    lastModifiedAt: z.number().optional().catch(undefined),
    lifecycleState: z.string().catch("PUBLISHED"),
    content: z
      .object({
        media: mediaShape().optional().catch(undefined),
        multiImage: z
          .object({ images: z.array(mediaShape()) })
          .optional()
          .catch(undefined),
        article: z
          .object({ thumbnail: z.string().optional().catch(undefined) })
          .optional()
          .catch(undefined),
      })
      .optional()
      .catch(undefined),
  }),
);
type Post = ShapeOf<typeof postShape>;
const listShape = shape(() => z.object({ elements: z.array(z.unknown()) }));

export function publishedAs(urn: string): Published {
  return { kind: "published", networkPostId: urn, url: `${SITE}/feed/update/${urn}/` };
}

/** Looks for the leg's post among those of its organisation: by its files, which are in no other, else by its words. */
export async function findOwnPost(leg: LegToPublish, tools: NetworkTools): Promise<Lookup> {
  const credentials = credentialsOf(leg.credentials);
  const since = (leg.sentAt ?? tools.now()).getTime() - CLOCK_SKEW_MS;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await exchange(tools, listPosts(credentials, page * PAGE_LENGTH, tools));
    const posts = await readList(answer, credentials, tools);
    if ("kind" in posts) return posts;
    const found = posts.known.find((post) => isOurs(post, leg, since));
    if (found !== undefined) return { kind: "found", published: publishedAs(found.id) };
    // Newest change first: an old post that was edited stands among new ones, never the other way round.
    const last = posts.known.at(-1);
    const isBeyond = last !== undefined && (last.lastModifiedAt ?? last.createdAt) < since;
    if (isBeyond || posts.length < PAGE_LENGTH) return { kind: "absent", isComplete: true };
  }
  return { kind: "absent", isComplete: false };
}

function listPosts(credentials: Credentials, start: number, tools: NetworkTools) {
  const author = encodeURIComponent(credentials.author);
  const query = `q=author&author=${author}&start=${start}&count=${PAGE_LENGTH}&sortBy=LAST_MODIFIED`;
  const { headers, ...request } = restRequest(`posts?${query}`, credentials, tools);
  return { ...request, headers: { ...headers, "x-restli-method": "FINDER" } };
}

async function readList(
  answer: HttpResponse | HttpFailure,
  credentials: Credentials,
  tools: NetworkTools,
): Promise<{ readonly known: readonly Post[]; readonly length: number } | Lookup> {
  if (answer instanceof HttpFailure) {
    return { kind: "unavailable", note: answer.message, retryAfterSeconds: null };
  }
  const parsed = listShape().safeParse(answer.json());
  if (answer.status === 200 && parsed.success) {
    const { elements } = parsed.data;
    const known = elements.flatMap((element) => postShape().safeParse(element).data ?? []);
    return { known, length: elements.length };
  }
  const { note, networkCode, effect, retryAfterSeconds } = await judge(answer, credentials, tools);
  return effect === "refuse"
    ? { kind: "unreadable" }
    : { kind: "unavailable", note: note || (networkCode ?? ""), retryAfterSeconds };
}

function isOurs(post: Post, leg: LegToPublish, since: number): boolean {
  if (post.lifecycleState === "PUBLISH_FAILED" || post.lifecycleState === "DRAFT") return false;
  const own = new Set(remoteOf(leg.remote).assets.map(({ urn }) => urn));
  if (own.size > 0) return mediaOf(post).some((urn) => own.has(urn));
  return (
    post.createdAt >= since && comparable(plainText(post.commentary)) === comparable(leg.draft.text)
  );
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

/** Spaces at the ends of lines do not survive everywhere. */
function comparable(text: string): string {
  return composed(text).replace(/\s+/g, "");
}
