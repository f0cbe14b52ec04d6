import type { FetchedMedia } from "../networks/media.ts";
import type { HttpResponse } from "../networks/network.ts";
import { HttpFailure } from "../networks/network.ts";
import { follow, mediaRequest, toMediaFailure, tooLarge, unreachable } from "./dialled.ts";
import type { Dialler } from "./dialled.ts";
import { mediaTypeOf } from "./media-type.ts";

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
  { bytesMax }: { readonly bytesMax: number },
): Promise<FetchedMedia> {
  const { answer } = await follow(url, (address) => get(dialler, address, bytesMax));
  if (answer.status !== 200) throw unreachable(`http_${answer.status}`);
  return { bytes: answer.body, ...mediaTypeOf(answer.body) };
}
