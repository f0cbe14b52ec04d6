import type { MediaTargets } from "../contract/media.ts";
import type { LegDraft, NetworkData } from "../contract/network.ts";
import { blobBytesMax } from "./rules.ts";

/** https://github.com/bluesky-social/atproto `lexicons/app/bsky/embed`; edge and length are the official client's. */
const TARGETS = {
  image: {
    types: ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"],
    bytesMax: 2_000_000,
    edgeMax: 4_000,
    takesAnimation: true,
    turnsByExif: false,
  },
  video: { types: ["video/mp4"], bytesMax: 300_000_000, secondsMax: 600 },
} as const satisfies MediaTargets;

/** The account's own server may take less. */
export function media(_draft: LegDraft, limits: NetworkData): MediaTargets {
  const { image, video } = TARGETS;
  const bytesMax = blobBytesMax(limits);
  return { image: { ...image, bytesMax: Math.min(image.bytesMax, bytesMax) }, video };
}
