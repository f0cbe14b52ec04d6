import type { MediaFacts } from "../networks/contract/media.ts";
import type { FileAnswer, Piece } from "./file-job.ts";
import { refuseUnreadable } from "./fit-bytes.ts";
import { factsOfSample, mediaTypeOf } from "./image-facts.ts";
import { videoFacts } from "./video-facts.ts";

/** Longer images are not decoded here, since reading facts has to be fast. */
const DECODED_BYTES_MAX = 131_072;

type File = Pick<MediaFacts, "contentType" | "size">;

/**
 * Reads the facts of a file from some of its bytes, which include the first. Runs in a process that may be stopped.
 * @throws MediaFailure for an image that can't be decoded
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
