import type { MediaTargets } from "../media.ts";

/** https://developers.facebook.com/docs/graph-api/reference/page/photos; large PNGs come out blurred there. */
const TARGETS = {
  image: {
    types: ["image/jpeg", "image/png", "image/gif", "image/bmp", "image/tiff"],
    bytesMax: 10_000_000,
    pngBytesMax: 1_000_000,
    takesAnimation: false,
    turnsByExif: true,
  },
} as const satisfies MediaTargets;

export function media(): MediaTargets {
  return TARGETS;
}
