import { fetchableUrl } from "../graph/probe.ts";
import { mediaFailed } from "../contract/media-failed.ts";
import { IMAGE_SOURCE_BYTES_MAX, MediaFailure } from "../contract/media.ts";
import type { LegToPublish, NetworkTools, Rejected, TryLater } from "../contract/network.ts";
import type { Remote } from "./state.ts";
import { media } from "./targets.ts";

export type Fields = Readonly<Record<string, string | undefined>>;

/** What a container is told of its file. Instagram fetches files itself: one that does not fit it gets from us. */
export async function fileFields(
  { draft }: LegToPublish,
  { kinds }: Remote,
  mediaIndex: number,
  tools: NetworkTools,
): Promise<{ readonly fields: Fields } | TryLater | Rejected> {
  const item = draft.media[mediaIndex];
  if (item === undefined) throw new Error("a container without a media item");
  if (kinds[mediaIndex] === "video") return { fields: { video_url: fetchableUrl(item.url) } };
  const { image } = media(draft);
  const alt_text = item.altText || undefined;
  try {
    const file = await tools.openMedia(item.url, { bytesMax: IMAGE_SOURCE_BYTES_MAX });
    const repairs = await tools.planImage(file, image);
    const isFit = repairs.length === 0;
    const address = isFit ? fetchableUrl(item.url) : tools.fittedUrl(item.url, image);
    return { fields: { image_url: address, alt_text } };
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    // It may be only us who can't have it: Instagram tells.
    return error.code === "media_unreachable"
      ? { fields: { image_url: fetchableUrl(item.url), alt_text } }
      : mediaFailed("instagram", error, mediaIndex);
  }
}
