import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { isEdge, readEdge } from "../graph/edge.ts";
import type { LegToPublish, NetworkTools, Published } from "../contract/network.ts";
import type { Remote } from "./state.ts";
import { credentialsOf, pageAccess } from "./state.ts";
import { pageUrl } from "./video-status.ts";

/** Clocks differ: what a call made may seem a little older than the call. */
const CLOCK_SKEW_MS = 120_000;

const storyShape = shape(() =>
  z.object({
    post_id: z.coerce.string().min(1),
    media_id: z.coerce.string().min(1),
    url: z.string().optional().catch(undefined),
  }),
);

/** The leg's story, by the photo or video that no other post has; else why it is not known. */
export async function findStory(
  leg: LegToPublish,
  mediaId: string,
  tools: NetworkTools,
): Promise<Published | "absent" | "unavailable"> {
  const credentials = credentialsOf(leg.credentials);
  const stories = await readEdge(
    pageAccess(credentials, tools),
    {
      path: `${credentials.pageId}/stories`,
      query: { fields: "post_id,media_id,media_type,url", since: sinceOf(leg, tools) },
      pagesMax: 2,
    },
    storyShape(),
    tools,
  );
  if (!isEdge(stories)) return "unavailable";
  const found = stories.find((story) => story.media_id === mediaId);
  if (found === undefined) return "absent";
  return { kind: "published", networkPostId: found.post_id, url: pageUrl(found.url) };
}

/** In seconds, from where on something of this leg may be listed. */
export function sinceOf({ sentAt }: LegToPublish, tools: NetworkTools): string {
  const sentMs = (sentAt ?? tools.now()).getTime();
  return String(Math.floor((sentMs - CLOCK_SKEW_MS) / 1000));
}

/** What is known of a video that is live. */
export async function publishedVideo(
  leg: LegToPublish,
  { form, video, postedVideoId }: Remote,
  url: string | null,
  tools: NetworkTools,
): Promise<Published> {
  const id = postedVideoId ?? video?.id ?? "";
  if (form === "video_story") {
    const story = await findStory(leg, id, tools);
    return typeof story === "string" ? { kind: "published", networkPostId: id, url } : story;
  }
  const path = form === "reel" ? "reel" : `${credentialsOf(leg.credentials).pageId}/videos`;
  const usual = `https://www.facebook.com/${path}/${id}`;
  return { kind: "published", networkPostId: id, url: url ?? usual };
}
