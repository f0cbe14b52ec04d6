import type { MediaKind } from "../draft-rules.ts";

/** What a draft becomes on the page. */
export const FORMS = ["text", "photos", "reel", "video", "photo_story", "video_story"] as const;
export type Form = (typeof FORMS)[number];

/** Facebook publishes no number; what public clients hold to. */
const PHOTOS_MAX = 10;

/** Why media does not make up a post, by the rule that it breaks. */
export const MEDIA_RULES = {
  "facebook.media.type": {
    message: "Facebook takes images and videos, no audio files.",
    remediation: "Remove the audio file, or make a video of it.",
  },
  "facebook.media.mixed": {
    message: "Facebook does not allow images and a video in one post.",
    remediation: "Use images alone or one video alone.",
  },
  "facebook.media.count": {
    message: `Facebook allows ${PHOTOS_MAX} images or one video in a post.`,
    remediation:
      "Use fewer media files, or give Facebook its own with platformOptions.facebook.mediaUrls.",
  },
  "facebook.reel.media": {
    message: "A reel is made of one video and nothing else.",
    remediation: "Give the post one video, or leave out platformOptions.facebook.kind.",
  },
  "facebook.story.media": {
    message: "A story is made of one image or one video.",
    remediation: "Give the post one media file, or leave out platformOptions.facebook.kind.",
  },
} as const;
export type MediaRule = keyof typeof MEDIA_RULES;

/** The form that media of these kinds takes, or the rule that it breaks. */
export function formOf(
  kind: "feed" | "reel" | "story" | undefined,
  kinds: readonly MediaKind[],
): Form | MediaRule {
  if (kinds.includes("audio")) return "facebook.media.type";
  const [only] = kinds;
  const isOneVideo = kinds.length === 1 && only === "video";
  if (kind === "reel") return isOneVideo ? "reel" : "facebook.reel.media";
  if (kind === "story") {
    if (kinds.length !== 1) return "facebook.story.media";
    return isOneVideo ? "video_story" : "photo_story";
  }
  if (isOneVideo) return kind === "feed" ? "video" : "reel";
  return photosOf(kinds);
}

function photosOf(kinds: readonly MediaKind[]): Form | MediaRule {
  if (kinds.length === 0) return "text";
  const videos = kinds.filter((kind) => kind === "video").length;
  if (videos > 0 && videos < kinds.length) return "facebook.media.mixed";
  return videos > 1 || kinds.length > PHOTOS_MAX ? "facebook.media.count" : "photos";
}

export function isForm(found: Form | MediaRule): found is Form {
  return FORMS.some((form) => form === found);
}
