import type { MediaKind } from "../draft-rules.ts";
import { mediaKindOfType } from "../draft-rules.ts";
import { bytesMaxOf } from "../judge-file.ts";
import { mediaFailed, refusedFile } from "../media-failed.ts";
import type { MediaTargets } from "../media.ts";
import { MediaFailure } from "../media.ts";
import type { LegDraft, NetworkTools, Rejected, TryLater } from "../network.ts";
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
  const kinds: MediaKind[] = [];
  for (const [mediaIndex, { url }] of draft.media.entries()) {
    try {
      const file = await tools.openMedia(url, { bytesMax: bytesMaxOf(targets) });
      await file.close();
      const refused = refusedFile(network, file, targets, mediaIndex);
      if (refused !== undefined) return refused;
      kinds.push(mediaKindOfType(file.contentType));
    } catch (error) {
      if (!(error instanceof MediaFailure)) throw error;
      if (error.code === "media_rejected") return mediaFailed(network, error, mediaIndex);
      kinds.push(await findMediaKind(url, tools));
    }
  }
  return kinds;
}
