import type { MediaTargets } from "../media.ts";
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
  video: { bytesMax: 500_000_000, secondsMin: 3, secondsMax: 1_800 },
} as const satisfies MediaTargets;

/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/documents-api */
export const DOCUMENT_BYTES_MAX = 100_000_000;

export function media(): MediaTargets {
  return TARGETS;
}
