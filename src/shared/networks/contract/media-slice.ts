import type { MediaFile } from "./media.ts";
import type { StreamedBody } from "../../runtime/http-call.ts";

/** What a slice holds in memory at a time. */
const PIECE_BYTES = 2 * 1024 * 1024;

/** The bytes from `first` up to and including `last` of a file, fetched while they are sent. */
export function sliceOf(file: Pick<MediaFile, "read">, first: number, last: number): StreamedBody {
  return {
    size: last - first + 1,
    async *chunks() {
      for (let at = first; at <= last; at += PIECE_BYTES)
        yield await file.read(at, Math.min(at + PIECE_BYTES - 1, last));
    },
  };
}
