import type { MediaKind } from "../contract/draft-rules.ts";
import { rules } from "./rule-table.ts";

/** What a draft becomes on the page. */
export const FORMS = ["text", "photos", "reel", "video", "photo_story", "video_story"] as const;
export type Form = (typeof FORMS)[number];

/** Why media does not make up a post. */
export type MediaRule = keyof typeof rules &
  `facebook.${"media" | "reel" | "story"}.${"type" | "mixed" | "count" | "media"}`;

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
  return videos > 1 || kinds.length > rules["facebook.media.count"].limit
    ? "facebook.media.count"
    : "photos";
}

export function isForm(found: Form | MediaRule): found is Form {
  return FORMS.some((form) => form === found);
}
