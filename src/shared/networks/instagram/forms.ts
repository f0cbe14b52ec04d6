import type { MediaKind } from "../draft-rules.ts";
import type { LegErrorCode } from "../errors.ts";

/** What a draft becomes on the account. */
export const FORMS = ["image", "reel", "carousel", "image_story", "video_story"] as const;
export type Form = (typeof FORMS)[number];

const CAROUSEL_MAX = 10;

interface MediaProblem {
  readonly code: LegErrorCode;
  readonly message: string;
  readonly remediation: string;
}

/** Why media does not make up a post, by the rule that it breaks. */
export const MEDIA_RULES = {
  "instagram.media.required": {
    code: "text_invalid",
    message: "Instagram takes no post without an image or a video.",
    remediation: "Give the post a media file, or leave Instagram out.",
  },
  "instagram.media.type": {
    code: "media_rejected",
    message: "Instagram takes images and videos, no audio files.",
    remediation: "Remove the audio file, or make a video of it.",
  },
  "instagram.media.count": {
    code: "media_rejected",
    message: `Instagram allows ${CAROUSEL_MAX} media files in a post.`,
    remediation:
      "Use fewer media files, or give Instagram its own with platformOptions.instagram.mediaUrls.",
  },
  "instagram.reel.media": {
    code: "media_rejected",
    message: "A reel is made of one video and nothing else.",
    remediation: "Give the post one video, or leave out platformOptions.instagram.kind.",
  },
  "instagram.story.media": {
    code: "media_rejected",
    message: "A story is made of one image or one video.",
    remediation: "Give the post one media file, or leave out platformOptions.instagram.kind.",
  },
} as const satisfies Record<string, MediaProblem>;
export type MediaRule = keyof typeof MEDIA_RULES;

/** The form that media of these kinds takes, or the rule that it breaks. */
export function formOf(
  kind: "feed" | "reel" | "story" | undefined,
  kinds: readonly MediaKind[],
): Form | MediaRule {
  if (kinds.length === 0) return "instagram.media.required";
  if (kinds.includes("audio")) return "instagram.media.type";
  const [only] = kinds.length === 1 ? kinds : [];
  if (kind === "reel") return only === "video" ? "reel" : "instagram.reel.media";
  if (kind === "story") {
    if (only === undefined) return "instagram.story.media";
    return only === "video" ? "video_story" : "image_story";
  }
  if (only !== undefined) return only === "video" ? "reel" : "image";
  return kinds.length > CAROUSEL_MAX ? "instagram.media.count" : "carousel";
}

export function isForm(found: Form | MediaRule): found is Form {
  return FORMS.some((form) => form === found);
}

export function isStory(form: Form | MediaRule | undefined): boolean {
  return form === "image_story" || form === "video_story";
}
