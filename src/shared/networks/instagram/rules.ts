import { longAltTexts, shortenedAltTexts, unusedAltTexts } from "../contract/alt-text.ts";
import { checkNames, extensionOf, fieldOf, kindsOf, mediaKindOf } from "../contract/draft.ts";
import type { LegDraft, MediaItem, MediaKind } from "../contract/draft.ts";
import { typeGuess } from "../contract/media-check.ts";
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
      message: `The text has {used} ${unit}; Instagram allows {limit}.`,
      remediation: `Use fewer ${unit}.`,
      used: countOf,
    }),
    nearLimit: warning("near_limit", {
      limit,
      unit,
      message: `The text has {used} of {limit} ${unit}.`,
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
    message: `Only reels have ${name}; it is left out of this post.`,
    broken: ({ form, options }) =>
      form !== undefined && form !== "reel" && options[name] !== undefined,
  });
}

export const rules = {
  ...textRules({
    network: "instagram",
    title: "Instagram",
    id: "length",
    limit: CAPTION_MAX,
    unit: "UTF-16 units",
  }),
  "instagram.text.hashtags": HASHTAGS.count,
  "instagram.text.hashtagsNearLimit": HASHTAGS.nearLimit,
  "instagram.text.mentions": MENTIONS.count,
  "instagram.text.mentionsNearLimit": MENTIONS.nearLimit,
  "instagram.text.caption": error("text_invalid", {
    message: "Instagram does not take this caption.",
    remediation: "Use at most 2,200 characters, 30 hashtags and 20 mentions.",
  }),
  "instagram.account.kind": error("account_restricted", {
    message: "The Instagram account is not a professional one.",
    remediation: "Make it a business or creator account, then reconnect it.",
  }),
  "instagram.media.required": error("media_rejected", {
    message: "Instagram takes no post without an image or a video.",
    remediation: "Give the post a media file, or leave Instagram out.",
  }),
  "instagram.media.type": error("media_rejected", {
    message:
      "Instagram takes JPEG images, to which most others are converted, and MP4 or MOV videos; no audio and no other files.",
    remediation: "Convert the file to JPEG or MP4, or leave it out.",
  }),
  "instagram.media.typeUnknown": warning("type_unknown", {
    ...typeGuess("Instagram", "JPEG or MP4"),
    broken: ({ draft, isNone }) => (isNone ? [] : draft.media.flatMap(unusualFile)),
  }),
  "instagram.media.count": error("media_rejected", {
    limit: FILES_MAX,
    unit: "files",
    message: "Instagram allows {limit} media files in a post.",
    remediation:
      "Use fewer media files, or give Instagram its own with platformOptions.instagram.mediaUrls.",
  }),
  "instagram.media.size": error("media_rejected", {
    limit: 8_388_608,
    unit: "bytes",
    message:
      "The file is larger than Instagram takes: {limit} bytes of an image, 300 MB of a video.",
    remediation: "Use a smaller file; the video of a story has 100 MB at most.",
  }),
  "instagram.media.imageType": error("media_rejected", {
    message: "Instagram takes JPEG images only.",
    remediation: "Convert the image to JPEG.",
  }),
  "instagram.media.ratio": error("media_rejected", {
    message: "Instagram takes images from 4:5 to 1.91:1.",
    remediation: "Crop the image.",
  }),
  "instagram.media.videoType": error("media_rejected", {
    message: "Instagram takes MP4 and MOV videos with H.264 or HEVC and AAC.",
    remediation: "Re-encode the video.",
  }),
  "instagram.media.frameRate": error("media_rejected", {
    message: "Instagram takes videos of 23 to 60 pictures a second.",
    remediation: "Re-encode the video with 30 pictures a second.",
  }),
  "instagram.media.bitRate": error("media_rejected", {
    message: "Instagram takes videos of at most 25 megabits a second.",
    remediation: "Re-encode the video with a lower bit rate.",
  }),
  "instagram.media.chroma": error("media_rejected", {
    message: "Instagram takes videos with 4:2:0 chroma subsampling only.",
    remediation: "Re-encode the video with 4:2:0 (yuv420p).",
  }),
  "instagram.media.wide": error("media_rejected", {
    limit: 1_920,
    unit: "pixels",
    message: "Instagram takes videos of at most {limit} pixels in width.",
    remediation: "Re-encode the video with a smaller width.",
  }),
  "instagram.media.depth": warning("type_unknown", {
    message:
      "The video is H.264 with more than 8 bits a colour, which few programs play. Instagram may refuse it.",
    remediation: "Re-encode the video with 8 bits (yuv420p).",
  }),
  "instagram.media.editList": warning("type_unknown", {
    message:
      "The video has an edit list that leaves out a part of it. Instagram takes none: it may refuse the video, or show that part.",
    remediation: "Export the video again, so that its file has only what is shown.",
  }),
  "instagram.media.thumbOffset": error("media_rejected", {
    message: "The cover is to be taken from beyond the video's end.",
    remediation: "Use a smaller platformOptions.instagram.thumbOffsetMs.",
  }),
  "instagram.altText.shortened": warning("alt_text_shortened", {
    ...shortenedAltTexts("Instagram", ALT_TEXT_MAX),
    broken: (facts) => (hasAltTexts(facts) ? longAltTexts(facts.draft, ALT_TEXT_MAX, isImage) : []),
  }),
  "instagram.altText.unused": warning("option_unused", {
    message: "Instagram takes alternative texts of images only; that of the video is left out.",
    field: "altTexts",
    broken: (facts) => (hasAltTexts(facts) ? unusedAltTexts(facts.draft, isImage) : []),
  }),
  ...formRules("instagram", "An Instagram"),
  "instagram.story.altText": warning("option_unused", {
    message: "An Instagram story has no alternative text; it is left out.",
    field: "altTexts",
    broken: ({ draft, form }) =>
      isStory(form) && draft.media.some(({ altText }) => (altText ?? "") !== ""),
  }),
  "instagram.story.account": error("feature_unsupported", {
    message: "Instagram lets only business accounts publish stories by other programs.",
    remediation: "Make it a business account, or publish as a post or a reel.",
  }),
  "instagram.collaborators.unused": warning("option_unused", {
    message: "Stories have no collaborators; they are left out.",
    broken: ({ form, options }) => isStory(form) && (options.collaborators ?? []).length > 0,
  }),
  "instagram.coverUrl.unused": ofReels("coverUrl"),
  "instagram.thumbOffsetMs.unused": ofReels("thumbOffsetMs"),
  "instagram.thumbOffsetMs.cover": warning("option_unused", {
    message: "A reel has one cover: coverUrl is used, and thumbOffsetMs is left out.",
    remediation: "Give one of the two.",
    broken: ({ form, options: { coverUrl, thumbOffsetMs } }) =>
      (form === undefined || form === "reel") &&
      coverUrl !== undefined &&
      thumbOffsetMs !== undefined,
  }),
  "instagram.shareToFeed.unused": ofReels("shareToFeed"),
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
  const isUnusual = /^(?:heic|heif|bmp|svg|webm|mkv|avi)$/.test(extensionOf(url));
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
