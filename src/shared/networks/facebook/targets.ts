import type { MediaTargets } from "../contract/media.ts";

/** https://developers.facebook.com/docs/graph-api/reference/page/photos; large PNGs come out blurred there.
 * It takes TIFF as well, which may tell its place anywhere in the file: that goes out as a JPEG of ours. */
const TARGETS = {
  image: {
    types: ["image/jpeg", "image/png", "image/gif", "image/bmp"],
    bytesMax: 10_000_000,
    pngBytesMax: 1_000_000,
    takesAnimation: false,
    turnsByExif: true,
  },
  // Facebook fetches videos itself and says what it does not take.
  video: {},
} as const satisfies MediaTargets;

export function media(): MediaTargets {
  return TARGETS;
}
