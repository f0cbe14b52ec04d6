import type { MediaTargets } from "../contract/media.ts";
import { rules } from "./rule-table.ts";

/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/images-api and …/videos-api */
export const TARGETS = {
  image: {
    types: ["image/jpeg", "image/png", "image/gif"],
    bytesMax: 20_000_000,
    pixelsMax: rules["linkedin.media.pixels"].limit,
    takesAnimation: true,
    turnsByExif: false,
  },
  video: { types: ["video/mp4"], bytesMax: 500_000_000, secondsMin: 3, secondsMax: 1_800 },
  // …/shares/documents-api
  document: { types: ["application/pdf"], bytesMax: 100_000_000 },
} as const satisfies MediaTargets;

export function media(): MediaTargets {
  return TARGETS;
}
