import { longAltTexts, shortenedAltTexts, unusedAltTexts } from "../contract/alt-text.ts";
import { checkNames, extensionOf, fieldOf, kindsOf, mediaKindOf } from "../contract/draft.ts";
import type { LegDraft, MediaItem, MediaKind } from "../contract/draft.ts";
import type { ImageTarget, MediaTargets, OptionPicture } from "../contract/media.ts";
import type { CheckFiles } from "../contract/network.ts";
import { breach, isFarBeyond, ruleRows, textRules } from "../contract/rules.ts";
import type { Problem, TextMeasure } from "../contract/rules.ts";
import {
  checkForm,
  type FormFacts,
  formRules,
  isForm,
  isStory,
  noPost,
} from "../graph/post-form.ts";
import { ownOptionsOf } from "./options.ts";

/** The forms that a draft can take on the account. */
export const FORMS = ["image", "reel", "carousel", "image_story", "video_story"] as const;
export type Form = (typeof FORMS)[number];

type Facts = FormFacts<Form, ReturnType<typeof ownOptionsOf>>;
const { error, warning } = ruleRows<Facts>();
/** In UTF-16 units. Instagram names no unit, and this is the strictest interpretation. */
const CAPTION_MAX = 2200;
const FILES_MAX = 10;
const ALT_TEXT_MAX = 1000;

/** Makes the rules about a number of hashtags or mentions: too many, and nearly too many. */
function countRules(unit: "hashtags" | "mentions", limit: number, pattern: RegExp) {
  const countOf = ({ draft, measured }: Facts) =>
    isFarBeyond(measured.usedCharacters, CAPTION_MAX)
      ? 0
      : [...draft.text.matchAll(pattern)].length;
  return {
    count: error("text_invalid", {
      limit,
      unit,
      used: countOf,
    }),
    nearLimit: warning("near_limit", {
      limit,
      unit,
      broken(facts) {
        const used = countOf(facts);
        return used * 10 > limit * 9 && used <= limit ? [{ used }] : [];
      },
    }),
  };
}

const HASHTAGS = countRules("hashtags", 30, /(?<![\w&])#[\p{L}\p{N}_]+/gu);
const MENTIONS = countRules("mentions", 20, /(?<![\w.])@[\w.]+/g);

/** Makes the rule that an option of reels is left out of other posts. */
function ofReels(name: "coverUrl" | "thumbOffsetMs" | "shareToFeed") {
  return warning("option_unused", {
    broken: ({ form, options }) =>
      form !== undefined && form !== "reel" && options[name] !== undefined,
  });
}

export const rules = {
  ...textRules({
    network: "instagram",
    id: "length",
    limit: CAPTION_MAX,
    unit: "UTF-16 units",
  }),
  "instagram.text.hashtags": HASHTAGS.count,
  "instagram.text.hashtagsNearLimit": HASHTAGS.nearLimit,
  "instagram.text.mentions": MENTIONS.count,
  "instagram.text.mentionsNearLimit": MENTIONS.nearLimit,
  "instagram.text.caption": error("text_invalid"),
  "instagram.account.kind": error("account_restricted"),
  "instagram.media.required": error("media_rejected"),
  "instagram.media.type": error("media_rejected"),
  "instagram.media.typeUnknown": warning("type_unknown", {
    broken: ({ draft, isNone }) => (isNone ? [] : draft.media.flatMap(unusualFile)),
  }),
  "instagram.media.count": error("media_rejected", {
    limit: FILES_MAX,
    unit: "files",
  }),
  "instagram.media.size": error("media_rejected", {
    limit: 8_388_608,
    unit: "bytes",
  }),
  "instagram.media.imageType": error("media_rejected"),
  "instagram.media.ratio": error("media_rejected"),
  "instagram.media.videoType": error("media_rejected"),
  "instagram.media.frameRate": error("media_rejected"),
  "instagram.media.bitRate": error("media_rejected"),
  "instagram.media.chroma": error("media_rejected"),
  "instagram.media.wide": error("media_rejected", {
    limit: 1_920,
    unit: "pixels",
  }),
  "instagram.media.depth": warning("type_unknown"),
  "instagram.media.editList": warning("type_unknown"),
  "instagram.media.thumbOffset": error("media_rejected", { field: "thumbOffsetMs" }),
  "instagram.altText.shortened": warning("alt_text_shortened", {
    ...shortenedAltTexts(ALT_TEXT_MAX),
    broken: (facts) => (hasAltTexts(facts) ? longAltTexts(facts.draft, ALT_TEXT_MAX, isImage) : []),
  }),
  "instagram.altText.unused": warning("option_unused", {
    field: "altTexts",
    broken: (facts) => (hasAltTexts(facts) ? unusedAltTexts(facts.draft, isImage) : []),
  }),
  ...formRules("instagram"),
  "instagram.story.altText": warning("option_unused", {
    field: "altTexts",
    broken: ({ draft, form }) =>
      isStory(form) && draft.media.some(({ altText }) => (altText ?? "") !== ""),
  }),
  "instagram.story.account": error("feature_unsupported", { field: "kind" }),
  "instagram.collaborators.unused": warning("option_unused", {
    broken: ({ form, options }) => isStory(form) && (options.collaborators ?? []).length > 0,
  }),
  "instagram.coverUrl.unused": ofReels("coverUrl"),
  "instagram.thumbOffsetMs.unused": ofReels("thumbOffsetMs"),
  "instagram.thumbOffsetMs.cover": warning("option_unused", {
    broken: ({ form, options: { coverUrl, thumbOffsetMs } }) =>
      (form === undefined || form === "reel") &&
      coverUrl !== undefined &&
      thumbOffsetMs !== undefined,
  }),
  "instagram.shareToFeed.unused": ofReels("shareToFeed"),
  "instagram.account.spam": error("content_rejected"),
  "instagram.account.checkpoint": error("connection_needs_reauth"),
  "instagram.account.confirmation": error("account_restricted"),
  "instagram.collaborators.invalid": error("invalid_request"),
};

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: CAPTION_MAX };
}

/** Returns the quota that every post counts towards. A carousel or a story counts as one. */
export function quotaOf(): string {
  return "posts";
}

export function check(draft: LegDraft): readonly Problem[] {
  const options = ownOptionsOf(draft);
  return checkForm(rules, { draft, options, measured: measure(draft) }, formOf);
}

/** Finds problems that only the files show: their kinds, and the length of a video. */
export const checkFiles: CheckFiles = (draft, _limits, files) => {
  const { thumbOffsetMs = 0 } = ownOptionsOf(draft);
  const form = formOf(draft, kindsOf(draft, files));
  if (!isForm(form)) return [noPost(rules, form, draft)];
  const mediaField = fieldOf("instagram", draft, "mediaUrls");
  const doubtful = files.flatMap((file, mediaIndex) => {
    const place = { field: mediaField, mediaIndex };
    return [
      ...((file?.film?.h264Bits ?? 8) > 8 ? [breach(rules, "instagram.media.depth", place)] : []),
      ...(file?.film?.isCut === true ? [breach(rules, "instagram.media.editList", place)] : []),
    ];
  });
  const seconds = files[0]?.durationSeconds ?? Infinity;
  if (form !== "reel" || thumbOffsetMs <= seconds * 1000) return doubtful;
  const field = "platformOptions.instagram.thumbOffsetMs";
  return [...doubtful, breach(rules, "instagram.media.thumbOffset", { field, mediaIndex: 0 })];
};

/** Returns a file whose name suggests a type that Instagram doesn't accept and that can't be converted. */
function unusualFile({ url }: MediaItem, mediaIndex: number) {
  const isUnusual = /^(?:bmp|svg|webm|mkv|avi)$/.test(extensionOf(url));
  return isUnusual ? [mediaIndex] : [];
}

function isImage({ url }: MediaItem): boolean {
  return mediaKindOf(url) !== "video";
}

/** Reports whether the post can have alternative texts. */
function hasAltTexts({ form, isNone }: Facts): boolean {
  return !isNone && !isStory(form);
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
const CODING = {
  frameRate: { min: 23, max: 60 },
  bitRateMax: 25_000_000,
  chroma: ["4:2:0"],
  widthMax: 1_920,
} as const;
const VIDEO = { ...CODING, types, bytesMax: 300_000_000, secondsMin: 3, secondsMax: 900 };
const STORY_VIDEO = { ...CODING, types, bytesMax: 100_000_000, secondsMin: 3, secondsMax: 60 };

/** Returns the media that Instagram accepts. A story accepts an image of any shape, a feed only of some. */
export function media(draft: LegDraft): MediaTargets {
  return ownOptionsOf(draft).kind === "story"
    ? { image: STORY_IMAGE, video: STORY_VIDEO }
    : { image: FEED_IMAGE, video: VIDEO };
}

/** Returns the cover of a reel, which may have any shape. Other posts have none. */
export function pictures(draft: LegDraft): readonly OptionPicture[] {
  const { coverUrl: url } = ownOptionsOf(draft);
  const form = checkNames(draft, (kinds) => formOf(draft, kinds));
  if (url === undefined || (form !== undefined && form !== "reel")) return [];
  return [{ option: "coverUrl", url, target: STORY_IMAGE }];
}

/** Why files make no post. */
type MediaRule =
  `instagram.${"media" | "reel" | "story"}.${"required" | "type" | "count" | "media"}` &
    keyof typeof rules;

/** Returns the form that files of these kinds take, or the rule that they break. */
export function formOf(draft: LegDraft, kinds: readonly MediaKind[]): Form | MediaRule {
  const { kind } = ownOptionsOf(draft);
  if (kinds.length === 0) return "instagram.media.required";
  if (kinds.includes("audio")) return "instagram.media.type";
  const [only] = kinds.length === 1 ? kinds : [];
  if (kind === "reel") return only === "video" ? "reel" : "instagram.reel.media";
  if (kind === "story") {
    if (only === undefined) return "instagram.story.media";
    return only === "video" ? "video_story" : "image_story";
  }
  if (only !== undefined) return only === "video" ? "reel" : "image";
  return kinds.length > FILES_MAX ? "instagram.media.count" : "carousel";
}
