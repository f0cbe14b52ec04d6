import type { MediaFacts } from "../networks/contract/media.ts";
import type { FileAnswer, Piece } from "./file-job.ts";
import { refuseUnreadable } from "./fit-bytes.ts";
import { factsOfSample, mediaTypeOf } from "./image-facts.ts";
import { videoFacts } from "./video-facts.ts";

/** Longer images are not decoded at a look, which has to be short. */
const DECODED_BYTES_MAX = 131_072;

type File = Pick<MediaFacts, "contentType" | "size">;

/**
 * Says what a file is by some of its bytes, the first among them. Runs where it may be stopped at any time.
 * @throws MediaFailure of an image that could never be decoded
 */
export async function factsOf(file: File, pieces: readonly Piece[]): Promise<FileAnswer> {
  if (!file.contentType.startsWith("image/")) return videoFacts(file, pieces);
  const sample = pieces.find(({ start }) => start === 0)?.bytes ?? new Uint8Array();
  const isWhole = sample.length === file.size && file.size <= DECODED_BYTES_MAX;
  await refuseUnreadable(sample, file.contentType, isWhole);
  const { width, height } = mediaTypeOf(sample);
  const image = factsOfSample({ ...file, width, height, durationSeconds: null }, sample);
  return { kind: "facts", width, height, durationSeconds: null, image };
}
