import { MediaFailure } from "../networks/network.ts";
import { fetchMedia } from "../connect/fetch-media.ts";
import type { Services } from "../services.ts";

export interface MediaCheck {
  readonly url: string;
  readonly ok: boolean;
  readonly contentType: string | null;
  readonly bytes: number | null;
  readonly error: string | null;
}

/** Enough for every image; a longer video is judged by what its server says. */
const BYTES_MAX = 32 * 1024 * 1024;
const AT_ONCE = 4;

/** Downloads media files to see whether they can be had and what they are. Never throws. */
export async function checkMedia(
  services: Services,
  urls: readonly string[],
): Promise<MediaCheck[]> {
  const check = async (url: string): Promise<MediaCheck> => {
    try {
      const { bytes, contentType } = await fetchMedia(services, url, { bytesMax: BYTES_MAX });
      return { url, ok: true, contentType, bytes: bytes.length, error: null };
    } catch (error) {
      if (!(error instanceof MediaFailure)) throw error;
      return { url, ok: false, contentType: null, bytes: null, error: error.code };
    }
  };
  const checks: MediaCheck[] = [];
  for (let index = 0; index < urls.length; index += AT_ONCE)
    checks.push(...(await Promise.all(urls.slice(index, index + AT_ONCE).map(check))));
  return checks;
}
