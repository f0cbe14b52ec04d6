import type { MediaKind } from "../contract/draft-rules.ts";
import { rules } from "./rule-table.ts";

/** What a draft becomes on the account. */
export const FORMS = ["image", "reel", "carousel", "image_story", "video_story"] as const;
export type Form = (typeof FORMS)[number];

/** Why media does not make up a post. */
export type MediaRule = keyof typeof rules &
  `instagram.${"media" | "reel" | "story"}.${"required" | "type" | "count" | "media"}`;

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
  return kinds.length > rules["instagram.media.count"].limit ? "instagram.media.count" : "carousel";
}

export function isForm(found: Form | MediaRule): found is Form {
  return FORMS.some((form) => form === found);
}

export function isStory(form: Form | MediaRule | undefined): boolean {
  return form === "image_story" || form === "video_story";
}
