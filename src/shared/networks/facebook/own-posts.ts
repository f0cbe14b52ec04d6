import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { isEdge, readEdge } from "../graph/edge.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import type { LegToPublish, NetworkTools, Published } from "../contract/network.ts";
import { composed } from "../contract/normal-form.ts";
import { classify } from "./errors.ts";
import { ownOptionsOf } from "./options.ts";
import { sinceOf } from "./published.ts";
import { credentialsOf, pageAccess, remoteOf } from "./state.ts";
import { pageUrl } from "./video-status.ts";

const PAGE_LENGTH = 25;
const PAGES_MAX = 3;
const FIELDS =
  "id,message,created_time,permalink_url,attachments{media_type,target{id,url},subattachments{target{id}}}";

const target = shape(() =>
  z
    .object({
      id: z.coerce.string().optional().catch(undefined),
      url: z.string().optional().catch(undefined),
    })
    .catch({}),
);
const postShape = shape(() =>
  z.object({
    id: z.coerce.string().min(1),
    message: z.string().catch(""),
    permalink_url: z.string().optional().catch(undefined),
    attachments: z
      .object({
        data: z.array(
          z.object({
            media_type: z.string().catch(""),
            target: target().optional(),
            subattachments: z.object({ data: z.array(z.object({ target: target() })) }).optional(),
          }),
        ),
      })
      .catch({ data: [] }),
  }),
);
type Post = ShapeOf<typeof postShape>;

export type Lookup =
  | { readonly kind: "found"; readonly published: Published }
  | { readonly kind: "absent" }
  | {
      readonly kind: "unavailable";
      readonly note: string;
      readonly retryAfterSeconds: number | null;
    };

/**
 * Looks for the leg's post among those of the page since the call: by its photos, which belong to one post only, else
 * by its words. Both lists leave out posts at times, so that both are looked at before a post counts as absent.
 */
export async function findOwnPost(leg: LegToPublish, tools: NetworkTools): Promise<Lookup> {
  const first = await findIn("published_posts", leg, tools);
  if (first.kind !== "absent") return first;
  const second = await findIn("feed", leg, tools);
  return second.kind === "found" ? second : first;
}

async function findIn(
  edge: "published_posts" | "feed",
  leg: LegToPublish,
  tools: NetworkTools,
): Promise<Lookup> {
  const credentials = credentialsOf(leg.credentials);
  const posts = await readEdge(
    pageAccess(credentials, tools),
    {
      path: `${credentials.pageId}/${edge}`,
      query: { fields: FIELDS, since: sinceOf(leg, tools), limit: String(PAGE_LENGTH) },
      pagesMax: PAGES_MAX,
    },
    postShape(),
    tools,
  );
  if (posts instanceof HttpFailure)
    return { kind: "unavailable", note: posts.message, retryAfterSeconds: null };
  if (!isEdge(posts)) {
    const { note, networkCode, retryAfterSeconds } = classify(posts, tools.now());
    return { kind: "unavailable", note: note || (networkCode ?? ""), retryAfterSeconds };
  }
  const found = posts.find((post) => isOurs(post, leg));
  if (found === undefined) return { kind: "absent" };
  const url = pageUrl(found.permalink_url) ?? `https://www.facebook.com/${found.id}`;
  return { kind: "found", published: { kind: "published", networkPostId: found.id, url } };
}

function isOurs(post: Post, leg: LegToPublish): boolean {
  const { form, photos } = remoteOf(leg.remote);
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
  const text = comparable(leg.draft.text);
  if (text !== "") return comparable(post.message) === text;
  const { link } = ownOptionsOf(leg.draft.options);
  return comparable(post.message) === "" && link !== undefined && isLinkedTo(attachments, link);
}

/** Facebook leads through an address of its own, with the real one inside. */
function isLinkedTo(attachments: Post["attachments"]["data"], link: string): boolean {
  const forms = [link, encodeURIComponent(link)];
  return attachments.some(({ target: own }) => forms.some((form) => own?.url?.includes(form)));
}

function comparable(text: string): string {
  return composed(text).replace(/\r\n?/g, "\n").trim();
}
