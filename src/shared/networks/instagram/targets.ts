import type { ImageTarget, MediaTargets } from "../contract/media.ts";
import type { LegDraft } from "../contract/network.ts";
import { ownOptionsOf } from "./options.ts";

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media */
const STORY_IMAGE = {
  types: ["image/jpeg"],
  bytesMax: 8_000_000,
  madeWidth: { min: 320, max: 1_440 },
  takesAnimation: false,
  turnsByExif: true,
} as const satisfies ImageTarget;

const FEED_IMAGE: ImageTarget = { ...STORY_IMAGE, ratio: { min: 4 / 5, max: 1.91 } };

const types = ["video/mp4", "video/quicktime"] as const;
const VIDEO = { types, bytesMax: 300_000_000, secondsMin: 3, secondsMax: 900 };
const STORY_VIDEO = { types, bytesMax: 100_000_000, secondsMin: 3, secondsMax: 60 };

/** A story fills the screen, whatever its shape; a feed has room for some shapes only. */
export function media(draft: LegDraft): MediaTargets {
  return ownOptionsOf(draft.options).kind === "story"
    ? { image: STORY_IMAGE, video: STORY_VIDEO }
    : { image: FEED_IMAGE, video: VIDEO };
}
