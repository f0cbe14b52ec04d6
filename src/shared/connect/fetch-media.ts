import { HttpFailure, MediaFailure, type FetchedMedia } from "../networks/network.ts";
import type { HttpResponse } from "../networks/network.ts";
import type { Services } from "../services.ts";
import { mediaTypeOf } from "./media-type.ts";

const REDIRECTS_MAX = 2;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

const unreachable = (message: string, cause?: unknown) =>
  new MediaFailure("media_unreachable", message, { cause });

async function get(services: Services, url: string, bytesMax: number): Promise<HttpResponse> {
  try {
    return await services.outbound.request({
      method: "GET",
      url,
      headers: { accept: "*/*" },
      bytesMax,
    });
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    if (error.reason === "too_large")
      throw new MediaFailure("media_rejected", `larger than ${bytesMax} bytes`, { cause: error });
    throw unreachable(error.reason, error);
  }
}

/**
 * Downloads a customer's media file. Up to two redirects are followed, each judged like the first address.
 * @throws MediaFailure
 */
export async function fetchMedia(
  services: Services,
  url: string,
  limits: { readonly bytesMax: number },
): Promise<FetchedMedia> {
  let address = url;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const response = await get(services, address, limits.bytesMax);
    if (response.status === 200) return { bytes: response.body, ...mediaTypeOf(response.body) };
    const location = response.headers["location"];
    if (!REDIRECTS.includes(response.status) || location === undefined)
      throw unreachable(`http_${response.status}`);
    if (!URL.canParse(location, address)) throw unreachable("redirected to no address");
    address = new URL(location, address).href;
  }
  throw unreachable("redirected too often");
}
