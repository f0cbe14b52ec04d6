import type { MediaTargets } from "../contract/media.ts";
import type { LegDraft, NetworkData } from "../contract/network.ts";
import { limitsOf } from "./instance.ts";

/** Of an instance that does not tell: what Mastodon 4 takes and does not have to convert. */
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

/** What the account's instance takes. It turns photos and leaves out their metadata itself. */
export function media(_draft: LegDraft, data: NetworkData): MediaTargets {
  const { mediaTypes, imageBytesMax, imagePixelsMax, videoBytesMax } = limitsOf(data);
  const told = mediaTypes.filter((type) => type.startsWith("image/"));
  const streamed = {
    ...(mediaTypes.length > 0 ? { types: mediaTypes } : {}),
    bytesMax: videoBytesMax,
  };
  return {
    image: {
      types: told.length > 0 ? told : IMAGE_TYPES,
      bytesMax: imageBytesMax,
      pixelsMax: imagePixelsMax,
      takesAnimation: true,
      turnsByExif: true,
    },
    video: streamed,
    audio: streamed,
  };
}
