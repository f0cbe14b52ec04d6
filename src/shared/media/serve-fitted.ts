import { AppError, serviceUnavailable } from "../runtime/errors.ts";
import { IMAGE_SOURCE_BYTES_MAX, MediaFailure } from "../networks/contract/media.ts";
import type { FittedImage } from "../networks/contract/media.ts";
import type { MediaDeps } from "./deps.ts";
import { fitImage } from "./fit-image.ts";
import { openToken, type FittedClaims } from "./fitted-url.ts";
import { openMedia } from "./open-media.ts";
import { FairSlots } from "./fair-slots.ts";
import { mediaReader } from "./media-reader.ts";

/** Whoever has an address may ask for it any number of times: never more at once than leaves room for publishing. */
const slots = new FairSlots({ capacity: 2, perOwner: 1, waitingMax: 16 });

export interface ServedImage extends Pick<FittedImage, "bytes" | "contentType"> {
  /** How long a copy may be kept. */
  readonly freshSeconds: number;
}

const notFound = () => new AppError("not_found", "There is no such file.");

/**
 * The image of an address that `fittedUrl` made: fetched and fitted anew each time.
 * @throws AppError 404 when the token is not ours or has expired, or its image can't be had; 503
 */
export async function serveFitted(services: MediaDeps, token: string): Promise<ServedImage> {
  const now = services.clock.now();
  const claims = openToken(token, services.config.identity.dataKeys, now);
  if (claims === undefined) throw notFound();
  const fitted = await slots.run(hostOf(claims), 1, () => fit(services, claims));
  if (fitted === undefined) throw serviceUnavailable();
  const { bytes, contentType } = fitted;
  return { bytes, contentType, freshSeconds: Math.floor((claims.until - now.getTime()) / 1000) };
}

const hostOf = ({ url }: FittedClaims) => new URL(url).host;

async function fit(services: MediaDeps, claims: FittedClaims): Promise<FittedImage> {
  const { url, target } = claims;
  const readBy = { reader: mediaReader, owner: `host ${hostOf(claims)}` };
  const bytesMax = IMAGE_SOURCE_BYTES_MAX;
  try {
    const file = await openMedia(services.outbound, url, { bytesMax, readBy });
    try {
      return await fitImage(file, target, readBy);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    services.log.info("media not served", { code: error.code, reason: error.message });
    throw error.code === "media_unreachable" ? serviceUnavailable() : notFound();
  }
}
