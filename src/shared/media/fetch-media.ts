import type { FetchedMedia } from "../networks/contract/media.ts";
import { type HttpResponse, HttpFailure } from "../runtime/http-call.ts";
import {
  follow,
  mediaRequest,
  toMediaFailure,
  tooLarge,
  unreachable,
  type Dialler,
} from "./dialled.ts";
import { HeldBytes } from "./remote-bytes.ts";
import { contentTypeOf } from "./content-type.ts";
import { READ_BY_NOBODY, type ReadBy } from "./media-reader.ts";
import { readFacts } from "./read-facts.ts";

async function get(dialler: Dialler, url: string, bytesMax: number): Promise<HttpResponse> {
  try {
    return await dialler.request({ ...mediaRequest("GET", url), bytesMax });
  } catch (error) {
    const isTooLarge = error instanceof HttpFailure && error.reason === "too_large";
    throw isTooLarge ? tooLarge(bytesMax, error) : toMediaFailure(error);
  }
}

/**
 * Downloads a small media file as a whole.
 * @throws MediaFailure
 */
export async function fetchMedia(
  dialler: Dialler,
  url: string,
  {
    bytesMax,
    readBy = READ_BY_NOBODY,
  }: { readonly bytesMax: number; readonly readBy?: ReadBy | undefined },
): Promise<FetchedMedia> {
  const { answer } = await follow(url, (address) => get(dialler, address, bytesMax));
  if (answer.status !== 200) throw unreachable(`http_${answer.status}`);
  const bytes = answer.body;
  const file = { contentType: contentTypeOf(bytes), size: bytes.length };
  const held = new HeldBytes(bytes);
  if (!file.contentType.startsWith("image/"))
    return { bytes, contentType: file.contentType, width: null, height: null };
  const { width, height } = await readFacts(readBy, file, held, bytes);
  return { bytes, contentType: file.contentType, width, height };
}
