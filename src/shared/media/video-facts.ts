import type { MediaFacts } from "../networks/contract/media.ts";
import type { FileAnswer, Piece } from "./file-job.ts";

interface Range {
  readonly start: number;
  readonly end: number;
}

const UNKNOWN = {
  kind: "facts",
  width: null,
  height: null,
  durationSeconds: null,
  image: null,
} as const;

function cutFrom(pieces: readonly Piece[], { start, end }: Range): Uint8Array | undefined {
  const piece = pieces.find((one) => one.start <= start && end <= one.start + one.bytes.length);
  return piece?.bytes.subarray(start - piece.start, end - piece.start);
}

/** Returns the number when it is valid: the sums of a damaged table may not be. */
const valid = (value: number | null | undefined) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;

const loadLibrary = () => import("mediabunny");

/** Loads the video library. Rejects when the installation is broken. */
export function loadVideoLibrary(): Promise<unknown> {
  return loadLibrary();
}

/**
 * Reads a video's length and its frame as it is seen from some of its bytes, or returns which others are needed.
 * Unknown values are null. Hostile files may fill the memory or never end, so it runs in a process that can be stopped.
 */
export async function videoFacts(
  { size }: Pick<MediaFacts, "size">,
  pieces: readonly Piece[],
): Promise<FileAnswer> {
  const { CustomSource, Input, MATROSKA, MP4, QTFF, WEBM } = await loadLibrary();
  let missing: Range | undefined;
  const source = new CustomSource({
    getSize: () => size,
    read(start, end) {
      const wanted = { start, end: Math.min(end, size) };
      const bytes = cutFrom(pieces, wanted);
      if (bytes !== undefined) return bytes;
      missing ??= wanted;
      throw new RangeError("not there yet");
    },
    handleUnhandledError: () => undefined,
  });
  const input = new Input({ source, formats: [MP4, QTFF, MATROSKA, WEBM] });
  try {
    const durationSeconds = await input.getDurationFromMetadata();
    const track = await input.getPrimaryVideoTrack();
    const width = await track?.getDisplayWidth();
    const height = await track?.getDisplayHeight();
    if (missing === undefined)
      return {
        ...UNKNOWN,
        durationSeconds: valid(durationSeconds),
        width: valid(width),
        height: valid(height),
      };
  } catch {
    // Damaged, incomplete or of another type: a network may still take it.
  } finally {
    input.dispose();
  }
  return missing === undefined ? UNKNOWN : { kind: "missing", ...missing };
}
