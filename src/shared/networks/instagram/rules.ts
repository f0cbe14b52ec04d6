import {
  breach,
  checkNearLimit,
  isFarBeyond,
  type Problem,
  type TextMeasure,
} from "../contract/rules.ts";
import {
  extensionOf,
  fieldOf,
  checkNames,
  kindsOf,
  mediaKindOf,
  type LegDraft,
  type MediaItem,
  type NetworkData,
  type MediaKind,
} from "../contract/draft.ts";
import { checkAltTexts } from "../contract/alt-text.ts";
import type { MediaFacts, ImageTarget, MediaTargets } from "../contract/media.ts";
import { ownOptionsOf } from "./options.ts";
import { rules } from "./rule-table.ts";

/** What a caption may hold only so many of. */
const COUNTED = [
  { rule: "instagram.text.hashtags", pattern: /(?<![\w&])#[\p{L}\p{N}_]+/gu },
  { rule: "instagram.text.mentions", pattern: /(?<![\w.])@[\w.]+/g },
] as const;

/** By the name alone: types that Instagram does not take and that can't be converted. */
const UNUSUAL_FILES = /^(?:heic|heif|bmp|svg|webm|mkv|avi)$/;

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: rules["instagram.text.length"].limit };
}

/** Returns the quota that every post counts towards: a carousel or a story counts as one. */
export function quotaOf(): string {
  return "posts";
}

export function check(draft: LegDraft): readonly Problem[] {
  const form = checkNames(draft, (kinds) => formOf(ownOptionsOf(draft.options).kind, kinds));
  return [...checkText(draft), ...checkMedia(draft, form), ...checkLeftOut(draft, form)];
}

function checkText(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("instagram", draft, "text");
  const measured = measure(draft);
  const { usedCharacters: used, maxCharacters } = measured;
  const tooLong = { used, field };
  if (isFarBeyond(used, maxCharacters)) return [breach(rules, "instagram.text.length", tooLong)];
  return [
    ...(used > maxCharacters ? [breach(rules, "instagram.text.length", tooLong)] : []),
    ...COUNTED.flatMap((counted) => checkCount(draft.text, counted, field)),
    ...checkNearLimit(rules, "instagram.text.nearLimit", field, measured),
  ];
}

function checkCount(
  text: string,
  { rule, pattern }: (typeof COUNTED)[number],
  field: string,
): readonly Problem[] {
  const used = [...text.matchAll(pattern)].length;
  const { limit } = rules[rule];
  if (used * 10 <= limit * 9) return [];
  const severity = used > limit ? "error" : "warning";
  return [breach(rules, rule, { used, field, severity })];
}

/** What the names of the files tell of the draft's form; undefined where they tell nothing. */
type NamedForm = Form | MediaRule | undefined;

function checkMedia(draft: LegDraft, form: NamedForm): readonly Problem[] {
  const field = fieldOf("instagram", draft, "mediaUrls");
  if (form !== undefined && !isForm(form)) return [breach(rules, form, { field })];
  const unusual = draft.media.flatMap(({ url }, mediaIndex) =>
    UNUSUAL_FILES.test(extensionOf(url))
      ? [breach(rules, "instagram.media.fileType", { field, mediaIndex })]
      : [],
  );
  if (isStory(form)) return unusual;
  return [
    ...unusual,
    ...checkUnusedAltTexts(draft),
    ...checkAltTexts(rules, "instagram.media.altText", draft, { takes: (item) => !isVideo(item) }),
  ];
}

function isVideo({ url }: MediaItem): boolean {
  return mediaKindOf(url) === "video";
}

function checkUnusedAltTexts(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("instagram", draft, "altTexts");
  return draft.media.flatMap((item, mediaIndex) =>
    isDescribed(item) && isVideo(item)
      ? [breach(rules, "instagram.media.altTextUnused", { field, mediaIndex })]
      : [],
  );
}

function isDescribed({ altText }: MediaItem): boolean {
  return (altText ?? "") !== "";
}

/** Returns what only the files themselves show: their kinds, and how long a video is. */
export function checkFiles(
  draft: LegDraft,
  _limits: NetworkData,
  files: readonly (MediaFacts | null)[],
): readonly Problem[] {
  const { kind, thumbOffsetMs = 0 } = ownOptionsOf(draft.options);
  const form = formOf(kind, kindsOf(draft, files));
  if (!isForm(form))
    return [breach(rules, form, { field: fieldOf("instagram", draft, "mediaUrls") })];
  const seconds = files[0]?.durationSeconds ?? Infinity;
  if (form !== "reel" || thumbOffsetMs <= seconds * 1000) return [];
  const field = "platformOptions.instagram.thumbOffsetMs";
  return [breach(rules, "instagram.media.thumbOffset", { field, mediaIndex: 0 })];
}

/** Warns of content that the form can't publish. */
function checkLeftOut(draft: LegDraft, form: NamedForm): readonly Problem[] {
  if (form === undefined || !isForm(form)) return [];
  const { collaborators = [] } = ownOptionsOf(draft.options);
  const problems: Problem[] = [];
  if (isStory(form) && draft.text.trim() !== "") {
    const field = fieldOf("instagram", draft, "text");
    problems.push(breach(rules, "instagram.story.text", { field }));
  }
  if (isStory(form) && draft.media.some(isDescribed)) {
    const field = fieldOf("instagram", draft, "altTexts");
    problems.push(breach(rules, "instagram.story.altText", { field }));
  }
  if (isStory(form) && collaborators.length > 0) problems.push(unused("collaborators"));
  return [...problems, ...checkReelOptions(draft, form)];
}

function checkReelOptions(draft: LegDraft, form: Form): readonly Problem[] {
  const options = ownOptionsOf(draft.options);
  if (form === "reel") return [];
  return (["coverUrl", "thumbOffsetMs", "shareToFeed"] as const).flatMap((name) =>
    options[name] === undefined ? [] : [unused(name)],
  );
}

function unused(name: "collaborators" | "coverUrl" | "thumbOffsetMs" | "shareToFeed"): Problem {
  return breach(rules, `instagram.${name}.unused`, { field: `platformOptions.instagram.${name}` });
}

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media */
const STORY_IMAGE = {
  types: ["image/jpeg"],
  bytesMax: 8_000_000,
  madeWidth: { min: 320, max: 1_440 },
  plays: [],
  turnsByExif: true,
} as const satisfies ImageTarget;

const FEED_IMAGE: ImageTarget = { ...STORY_IMAGE, ratio: { min: 4 / 5, max: 1.91 } };

const types = ["video/mp4", "video/quicktime"] as const;
const VIDEO = { types, bytesMax: 300_000_000, secondsMin: 3, secondsMax: 900 };
const STORY_VIDEO = { types, bytesMax: 100_000_000, secondsMin: 3, secondsMax: 60 };

/** Returns what Instagram takes. A story takes an image of any shape, a feed only of some. */
export function media(draft: LegDraft): MediaTargets {
  return ownOptionsOf(draft.options).kind === "story"
    ? { image: STORY_IMAGE, video: STORY_VIDEO }
    : { image: FEED_IMAGE, video: VIDEO };
}

/** What a draft becomes on the account. */
export const FORMS = ["image", "reel", "carousel", "image_story", "video_story"] as const;
export type Form = (typeof FORMS)[number];

/** Why media does not make up a post. */
export type MediaRule = keyof typeof rules &
  `instagram.${"media" | "reel" | "story"}.${"required" | "type" | "count" | "media"}`;

/** Returns the form that files of these kinds take, or the rule that they break. */
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
