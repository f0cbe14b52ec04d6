import type { MediaKind } from "../contract/draft-rules.ts";
import { mediaKindOfType } from "../contract/draft-rules.ts";
import { bytesMaxOf } from "../contract/judge-file.ts";
import { mediaFailed, refusedFile } from "../contract/media-failed.ts";
import type { MediaTargets } from "../contract/media.ts";
import { MediaFailure } from "../contract/media.ts";
import type { LegDraft, NetworkTools, Rejected, TryLater } from "../contract/network.ts";
import { findMediaKind } from "./probe.ts";

/**
 * The kinds of a draft's files, by their bytes, before the network is sent their addresses. A file that it does not take
 * is refused here; one that we can't have, it may still get: that one is judged by its name.
 */
export async function lookAtFiles(
  network: string,
  { draft, targets }: { readonly draft: LegDraft; readonly targets: MediaTargets },
  tools: NetworkTools,
): Promise<readonly MediaKind[] | Rejected | TryLater> {
  // Side by side: somebody's slow server is waited for once and not for each of its files.
  const looks = await Promise.all(
    draft.media.map(({ url }, mediaIndex) => lookAt({ network, targets, url, mediaIndex }, tools)),
  );
  const kinds: MediaKind[] = [];
  for (const look of looks) {
    if (typeof look !== "string") return look;
    kinds.push(look);
  }
  return kinds;
}

interface Looked {
  readonly network: string;
  readonly targets: MediaTargets;
  readonly url: string;
  readonly mediaIndex: number;
}

async function lookAt(
  { network, targets, url, mediaIndex }: Looked,
  tools: NetworkTools,
): Promise<MediaKind | Rejected | TryLater> {
  try {
    const file = await tools.openMedia(url, { bytesMax: bytesMaxOf(targets) });
    await file.close();
    return refusedFile(network, file, targets, mediaIndex) ?? mediaKindOfType(file.contentType);
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    return error.code === "media_rejected"
      ? mediaFailed(network, error, mediaIndex)
      : await findMediaKind(url, tools);
  }
}
