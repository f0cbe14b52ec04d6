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

/** A number that says something: what a damaged table adds up to does not. */
const told = (value: number | null | undefined) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;

const loadLibrary = () => import("mediabunny");

/** Loads what reads videos. Rejects where the installation is at fault, and no video. */
export function loadVideoLibrary(): Promise<unknown> {
  return loadLibrary();
}

/**
 * Tells length and frame of a video, upright as it is seen, out of some of its bytes, or which others it takes to tell.
 * Nulls where they don't tell. It may fill the memory or never end: it runs where it is stopped then.
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
        durationSeconds: told(durationSeconds),
        width: told(width),
        height: told(height),
      };
  } catch {
    // Damaged, in pieces or of another kind: none of it keeps a network from taking it.
  } finally {
    input.dispose();
  }
  return missing === undefined ? UNKNOWN : { kind: "missing", ...missing };
}
