import type { MediaFacts } from "../networks/media.ts";
import type { RemoteBytes } from "./remote-bytes.ts";

export type VideoFacts = Pick<MediaFacts, "width" | "height" | "durationSeconds">;

/** Index tables of long videos take a few megabytes; what needs more is left to the network to judge. */
const BYTES_MAX = 8 * 1024 * 1024;
const UNKNOWN: VideoFacts = { width: null, height: null, durationSeconds: null };

/** Length and frame of a video, upright as it is seen, out of a bounded number of its bytes. Nulls where they don't tell. */
export async function videoFacts(bytes: Pick<RemoteBytes, "size" | "read">): Promise<VideoFacts> {
  const { CustomSource, Input, MATROSKA, MP4, QTFF, WEBM } = await import("mediabunny");
  let left = BYTES_MAX;
  const source = new CustomSource({
    getSize: () => bytes.size,
    maxCacheSize: BYTES_MAX,
    async read(start, end) {
      left -= end - start;
      if (left < 0) throw new RangeError("the file's index is too large to be read");
      return await bytes.read(start, end - 1);
    },
    handleUnhandledError: () => undefined,
  });
  const input = new Input({ source, formats: [MP4, QTFF, MATROSKA, WEBM] });
  try {
    const durationSeconds = await input.getDurationFromMetadata();
    const track = await input.getPrimaryVideoTrack();
    return {
      durationSeconds,
      width: (await track?.getDisplayWidth()) ?? null,
      height: (await track?.getDisplayHeight()) ?? null,
    };
  } catch {
    // Damaged, in pieces or of another kind: none of it keeps a network from taking it.
    return UNKNOWN;
  } finally {
    input.dispose();
  }
}
