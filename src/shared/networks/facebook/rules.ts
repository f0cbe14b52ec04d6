import { breach, checkNearLimit, type Problem, type TextMeasure } from "../contract/rules.ts";
import {
  extensionOf,
  fieldOf,
  checkNames,
  kindsOf,
  type LegDraft,
  type NetworkData,
  type MediaKind,
} from "../contract/draft.ts";
import { checkAltTexts } from "../contract/alt-text.ts";
import type { MediaFacts, MediaTargets } from "../contract/media.ts";
import { ownOptionsOf } from "./options.ts";
import { rules } from "./rule-table.ts";

/** By the name alone: types that Facebook does not take and that can't be converted. */
const UNUSUAL_IMAGES: ReadonlySet<string> = new Set(["heic", "heif", "svg"]);
const OWN_HOSTS = /(?:^|\.)(?:facebook|fb)\.com$/i;

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: rules["facebook.text.length"].limit };
}

/**
 * Returns the quota that the draft counts towards: that of reels. A video that nobody asked to be a reel becomes one by
 * its shape and length, which are known when it is prepared.
 */
export function quotaOf(draft: LegDraft, remote?: NetworkData): string | undefined {
  const isReel =
    remote?.["form"] === undefined
      ? ownOptionsOf(draft.options).kind === "reel"
      : remote["form"] === "reel";
  return isReel ? "reels" : undefined;
}

export function check(draft: LegDraft): readonly Problem[] {
  return [...checkText(draft), ...checkMedia(draft), ...checkLink(draft)];
}

/** Returns the draft's form by the names of its files alone; undefined where they don't tell. */
function formNamed(draft: LegDraft): ReturnType<typeof formOf> | undefined {
  return checkNames(draft, (kinds) => formOf(ownOptionsOf(draft.options).kind, kinds));
}

function checkText(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("facebook", draft, "text");
  const measured = measure(draft);
  const { usedCharacters: used, maxCharacters } = measured;
  const { link } = ownOptionsOf(draft.options);
  const isEmpty = draft.text.trim() === "" && draft.media.length === 0 && link === undefined;
  return [
    ...(used > maxCharacters ? [breach(rules, "facebook.text.length", { used, field })] : []),
    ...(isEmpty ? [breach(rules, "facebook.content.empty", { field })] : []),
    ...checkNearLimit(rules, "facebook.text.nearLimit", field, measured),
  ];
}

function checkMedia(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("facebook", draft, "mediaUrls");
  const form = formNamed(draft);
  if (form !== undefined && !isForm(form)) return [breach(rules, form, { field })];
  return [
    ...draft.media.flatMap(({ url }, mediaIndex) =>
      UNUSUAL_IMAGES.has(extensionOf(url))
        ? [breach(rules, "facebook.media.imageType", { field, mediaIndex })]
        : [],
    ),
    ...(form === undefined ? [] : checkLeftOut(draft, form)),
    ...(form === undefined || hasPhotos(form)
      ? checkAltTexts(rules, "facebook.media.altTextLength", draft)
      : []),
  ];
}

function hasPhotos(form: Form): boolean {
  return form === "photos" || form === "photo_story";
}

/** Warns of content that the form can't publish. */
function checkLeftOut(draft: LegDraft, form: Form): readonly Problem[] {
  const isStory = form === "photo_story" || form === "video_story";
  const hasTitle = form === "reel" || form === "video";
  const mediaIndex = draft.media.findIndex((item) => (item.altText ?? "") !== "");
  const problems: Problem[] = [];
  if (isStory && draft.text.trim() !== "") {
    const field = fieldOf("facebook", draft, "text");
    problems.push(breach(rules, "facebook.story.text", { field }));
  }
  if (mediaIndex >= 0 && !hasPhotos(form)) {
    const field = fieldOf("facebook", draft, "altTexts");
    problems.push(breach(rules, "facebook.media.altText", { field, mediaIndex }));
  }
  if (ownOptionsOf(draft.options).title !== undefined && !hasTitle) {
    const field = "platformOptions.facebook.title";
    problems.push(breach(rules, "facebook.title.unused", { field }));
  }
  return problems;
}

/** As Facebook says them: a reel and a story of a video, which nobody asked for, become an ordinary video instead. */
const SECONDS = { min: 3, reelMax: 90, storyMax: 60 };
const FRAME = { width: 540, height: 960, ratio: 9 / 16, tolerance: 0.02 };

/** Returns what only the files themselves show: their kinds, and whether a video is what was asked for. */
export function checkFiles(
  draft: LegDraft,
  _limits: NetworkData,
  files: readonly (MediaFacts | null)[],
): readonly Problem[] {
  const field = fieldOf("facebook", draft, "mediaUrls");
  const { kind } = ownOptionsOf(draft.options);
  const form = formOf(kind, kindsOf(draft, files));
  if (!isForm(form)) return [breach(rules, form, { field })];
  const [video] = files;
  const isAsked = kind !== undefined && (form === "reel" || form === "video_story");
  if (!isAsked || !video) return [];
  return brokenByVideo(video, form === "reel" ? SECONDS.reelMax : SECONDS.storyMax).map((rule) =>
    breach(rules, rule, { field, mediaIndex: 0 }),
  );
}

/** Returns whether a video is too wide, too small, too short or too long for a reel, as far as it shows. */
export function isUnfitForReel(video: MediaFacts | null): boolean {
  return video !== null && brokenByVideo(video, SECONDS.reelMax).length > 0;
}

function brokenByVideo(
  { durationSeconds, width, height }: MediaFacts,
  secondsMax: number,
): (keyof typeof rules)[] {
  const isLong = durationSeconds !== null && Math.floor(durationSeconds) > secondsMax;
  const isShort = durationSeconds !== null && durationSeconds < SECONDS.min;
  const isOfLength = !isLong && !isShort;
  const isSeen = width !== null && height !== null && height > 0;
  const isShaped = !isSeen || Math.abs(width / height - FRAME.ratio) <= FRAME.tolerance;
  const isLarge = !isSeen || (width >= FRAME.width && height >= FRAME.height);
  return [
    ...(isOfLength ? [] : (["facebook.video.duration"] as const)),
    ...(isShaped ? [] : (["facebook.video.ratio"] as const)),
    ...(isLarge ? [] : (["facebook.video.resolution"] as const)),
  ];
}

function checkLink(draft: LegDraft): readonly Problem[] {
  const { link } = ownOptionsOf(draft.options);
  if (link === undefined) return [];
  const field = "platformOptions.facebook.link";
  if (OWN_HOSTS.test(new URL(link).hostname))
    return [breach(rules, "facebook.link.own", { field })];
  return draft.media.length === 0 ? [] : [breach(rules, "facebook.link.media", { field })];
}

/** https://developers.facebook.com/docs/graph-api/reference/page/photos; large PNGs come out blurred there.
 * It takes TIFF as well, which may contain a location anywhere in the file: it is converted to JPEG. */
const TARGETS = {
  image: {
    types: ["image/jpeg", "image/png", "image/gif", "image/bmp"],
    bytesMax: 10_000_000,
    pngBytesMax: 1_000_000,
    plays: [],
    turnsByExif: true,
  },
  // Facebook fetches videos itself and says what it does not take.
  video: {},
} as const satisfies MediaTargets;

export function media(): MediaTargets {
  return TARGETS;
}

/** What a draft becomes on the page. */
export const FORMS = ["text", "photos", "reel", "video", "photo_story", "video_story"] as const;
export type Form = (typeof FORMS)[number];

/** Why media does not make up a post. */
export type MediaRule = keyof typeof rules &
  `facebook.${"media" | "reel" | "story"}.${"type" | "mixed" | "count" | "media"}`;

/** Returns the form that files of these kinds take, or the rule that they break. */
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
