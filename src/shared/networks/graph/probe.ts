import type { ClassifiedAnswer } from "../contract/answers.ts";
import { withFile } from "../contract/ask.ts";
import { type MediaKind, mediaKindOf, mediaKindOfType } from "../contract/draft.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { bytesMaxOf, mediaFailed, refusedFile } from "../contract/media-check.ts";
import { IMAGE_SOURCE_BYTES_MAX, MediaFailure } from "../contract/media.ts";
import type { FittedImage, ImageTarget, MediaFacts, MediaTargets } from "../contract/media.ts";
import type { Rejection, TryLater } from "../contract/outcome.ts";
import type { OwnLeg } from "../contract/state.ts";

/** Returns whether we can read a file that Meta could not. */
export async function isReadable(url: string, tools: NetworkTools): Promise<boolean> {
  try {
    await (await tools.openMedia(url, { bytesMax: Number.MAX_SAFE_INTEGER })).close();
    return true;
  } catch (error) {
    if (error instanceof MediaFailure) return error.code === "media_rejected";
    throw error;
  }
}

/**
 * Turns `media_unreachable` into `media_rejected` if we can read the file: Meta answers the same for an unreadable file
 * and for an address that it can't reach.
 */
export async function withProbe(
  classified: ClassifiedAnswer,
  url: string,
  tools: NetworkTools,
): Promise<ClassifiedAnswer> {
  const isRejected = classified.code === "media_unreachable" && (await isReadable(url, tools));
  return isRejected ? { ...classified, code: "media_rejected", effect: "refuse" } : classified;
}

/** What was found out about one of a draft's files. */
interface LookedAt {
  readonly kind: MediaKind;
  /** Null when we can't fetch the file. The network may be able to. */
  readonly file: MediaFacts | null;
}

/**
 * Determines the kinds of a draft's files by their bytes, before the network gets their addresses. Refuses a file that
 * the network doesn't accept. A file that we can't fetch may still be available to the network, so its kind follows
 * from its name.
 */
export async function lookAtFiles(
  network: string,
  { draft, tools }: Pick<OwnLeg<unknown, unknown>, "draft" | "tools">,
  targets: MediaTargets,
): Promise<readonly LookedAt[] | Rejection | TryLater> {
  const lookAt = async (
    url: string,
    mediaIndex: number,
  ): Promise<LookedAt | Rejection | TryLater> => {
    try {
      const file = await tools.openMedia(url, { bytesMax: bytesMaxOf(targets) });
      await file.close();
      const kind = mediaKindOfType(file.contentType);
      return refusedFile(network, file, targets, mediaIndex) ?? { kind, file };
    } catch (error) {
      if (!(error instanceof MediaFailure)) throw error;
      return error.code === "media_rejected" || error.isStored
        ? mediaFailed(network, error, mediaIndex)
        : { kind: mediaKindOf(url) ?? "image", file: null };
    }
  };
  // In parallel, so that a slow server is waited for only once, not for each of its files.
  const looks = await Promise.all(draft.media.map(({ url }, index) => lookAt(url, index)));
  const found: LookedAt[] = [];
  for (const look of looks) {
    if ("failure" in look) return look;
    found.push(look);
  }
  return found;
}

/**
 * Returns an image as the network accepts it. Undefined when it needs no repair and Meta fetches the file itself. A
 * file that we can't fetch is refused even if Meta could, because its contents, such as a location, are unknown.
 */
export async function repairedImage(
  network: string,
  { url, mediaIndex }: { readonly url: string; readonly mediaIndex?: number },
  target: ImageTarget,
  tools: NetworkTools,
): Promise<FittedImage | TryLater | Rejection | undefined> {
  return withFile(network, mediaIndex, async () => {
    const file = await tools.openMedia(url, { bytesMax: IMAGE_SOURCE_BYTES_MAX });
    // A file of the post was looked at before; a picture of an option was not.
    const refused = mediaIndex === undefined && refusedFile(network, file, { image: target });
    if (refused) return refused;
    const fitted = await tools.fitImage(file, target);
    return fitted.repairs.length === 0 ? undefined : fitted;
  });
}
