import { longAltTexts, shortenedAltTexts, unusedAltTexts } from "../contract/alt-text.ts";
import { extensionOf, fieldOf, kindsOf } from "../contract/draft.ts";
import type { LegDraft, MediaItem, MediaKind, NetworkData } from "../contract/draft.ts";
import type { MediaFacts, MediaTargets } from "../contract/media.ts";
import type { CheckFiles } from "../contract/network.ts";
import { breach, ruleRows, textRules } from "../contract/rules.ts";
import type { Problem, TextMeasure } from "../contract/rules.ts";
import { isBlank } from "../contract/text.ts";
import { checkForm, type FormFacts, formRules, isForm, noPost } from "../graph/post-form.ts";
import { ownOptionsOf } from "./options.ts";

/** The forms that a draft can take on the page. */
export const FORMS = ["text", "photos", "reel", "video", "photo_story", "video_story"] as const;
export type Form = (typeof FORMS)[number];

type Facts = FormFacts<Form, ReturnType<typeof ownOptionsOf>>;
const { error, warning } = ruleRows<Facts>();
/** Stated everywhere, but in no document of Facebook's own. */
const TEXT_MAX = 63_206;
/** Facebook publishes no number. Public clients use this one. */
const PHOTOS_MAX = 10;
/** Meta only documents a limit for Instagram. Facebook's `alt_text_custom` is assumed to have the same. */
const ALT_TEXT_MAX = 1000;

export const rules = {
  ...textRules({
    network: "facebook",
    id: "length",
    limit: TEXT_MAX,
    unit: "UTF-16 units",
  }),
  "facebook.content.empty": error("text_invalid", {
    field: "text",
    broken: ({ draft: { text, media }, options }) =>
      isBlank(text) && media.length === 0 && options.link === undefined,
  }),
  "facebook.media.type": error("media_rejected"),
  "facebook.media.typeUnknown": warning("type_unknown", {
    broken: ({ draft, isNone }) => (isNone ? [] : draft.media.flatMap(unusualImage)),
  }),
  "facebook.media.mixed": error("media_rejected"),
  "facebook.media.count": error("media_rejected", {
    limit: PHOTOS_MAX,
    unit: "files",
  }),
  "facebook.media.image": error("media_rejected"),
  "facebook.altText.unused": warning("option_unused", {
    field: "altTexts",
    // Only the first file is reported, because there is at most one video.
    broken: ({ draft, form }) =>
      form === undefined || hasPhotos(form) ? [] : unusedAltTexts(draft, () => false).slice(0, 1),
  }),
  "facebook.altText.shortened": warning("alt_text_shortened", {
    ...shortenedAltTexts(ALT_TEXT_MAX),
    broken: ({ draft, form, isNone }) =>
      !isNone && (form === undefined || hasPhotos(form)) ? longAltTexts(draft, ALT_TEXT_MAX) : [],
  }),
  ...formRules("facebook"),
  "facebook.title.unused": warning("option_unused", {
    broken: ({ form, options }) =>
      form !== undefined && form !== "reel" && form !== "video" && options.title !== undefined,
  }),
  "facebook.link.own": error("link_rejected", {
    broken: ({ options }) => isOwnLink(options.link),
  }),
  "facebook.link.media": warning("link_card_skipped", {
    broken: ({ draft, options: { link } }) =>
      link !== undefined && !isOwnLink(link) && draft.media.length > 0,
  }),
  "facebook.video.kind": warning("kind_changed"),
  "facebook.video.ratio": error("media_rejected"),
  "facebook.video.resolution": error("media_rejected"),
  "facebook.video.duration": error("media_rejected"),
  "facebook.video.frameRate": error("media_rejected"),
  "facebook.account.role": error("permission_missing"),
  "facebook.account.pause": error("rate_limited"),
  "facebook.account.identity": error("account_restricted"),
  "facebook.account.securityCheck": error("account_restricted"),
  "facebook.account.publishingAuthorization": error("account_restricted"),
  "facebook.account.limited": error("account_restricted"),
  "facebook.account.checkpoint": error("connection_needs_reauth"),
  "facebook.account.confirmation": error("account_restricted"),
  "facebook.post.hidden": error("invalid_request"),
};

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: TEXT_MAX };
}

/**
 * Returns the quota that the draft counts towards: that of reels. Other videos become reels by their shape and length,
 * which are known when they are prepared.
 */
export function quotaOf(draft: LegDraft, remote?: NetworkData): string | undefined {
  const isReel =
    remote?.["form"] === undefined
      ? ownOptionsOf(draft).kind === "reel"
      : remote["form"] === "reel";
  return isReel ? "reels" : undefined;
}

export function check(draft: LegDraft): readonly Problem[] {
  const options = ownOptionsOf(draft);
  return checkForm(rules, { draft, options, measured: measure(draft) }, formOf);
}

function hasPhotos(form: Form): boolean {
  return form === "photos" || form === "photo_story";
}

/** Returns a file whose name suggests a type that Facebook doesn't accept and that can't be converted. */
function unusualImage({ url }: MediaItem, mediaIndex: number) {
  return extensionOf(url) === "svg" ? [mediaIndex] : [];
}

/**
 * Hosts of Facebook's own pages, which it accepts no links to ("Cannot post Facebook.com links", error 1609008), and of the
 * short addresses that lead there. Other sites of Meta are like any other: its documentation of the feed dialog shares a
 * page of developers.facebook.com, and m.me leads to a conversation in Messenger.
 * https://developers.facebook.com/docs/sharing/reference/feed-dialog
 */
const OWN_HOSTS: ReadonlySet<string> = new Set([
  ...["", "www.", "m.", "web.", "mbasic.", "touch."].map((front) => `${front}facebook.com`),
  "fb.com",
  "www.fb.com",
  "m.fb.com",
  "fb.me",
  "www.fb.me",
  "fb.watch",
  "www.fb.watch",
]);

function isOwnLink(link: string | undefined): boolean {
  if (link === undefined) return false;
  const host = new URL(link).hostname.replace(/\.$/, "");
  return OWN_HOSTS.has(host);
}

/** Facebook's limits. A video that would be a reel without being requested as one becomes an ordinary video instead. */
const SECONDS = { min: 3, reelMax: 90, storyMax: 60 };
const FRAME_RATE = { min: 24, max: 60 };
const FRAME = { width: 540, height: 960, ratio: 9 / 16, tolerance: 0.02 };

/** Finds problems that only the files show: their kinds, and whether a video fits the requested form. */
export const checkFiles: CheckFiles = (draft, _limits, files) => {
  const { kind } = ownOptionsOf(draft);
  const form = formOf(draft, kindsOf(draft, files));
  const [video] = files;
  if (!isForm(form)) return [noPost(rules, form, draft)];
  if ((form !== "reel" && form !== "video_story") || !video) return [];
  const field = fieldOf("facebook", draft, "mediaUrls");
  if (kind === undefined)
    return isUnfitForReel(video)
      ? [breach(rules, "facebook.video.kind", { field, mediaIndex: 0 })]
      : [];
  return brokenByVideo(video, form === "reel" ? SECONDS.reelMax : SECONDS.storyMax).map((rule) =>
    breach(rules, rule, { field, mediaIndex: 0 }),
  );
};

/** Reports whether a video is too wide, too small, too short or too long for a reel, as far as that is known. */
export function isUnfitForReel(video: MediaFacts | null): boolean {
  return video !== null && brokenByVideo(video, SECONDS.reelMax).length > 0;
}

function brokenByVideo(
  { durationSeconds, width, height, film }: MediaFacts,
  secondsMax: number,
): (keyof typeof rules)[] {
  const isLong = durationSeconds !== null && Math.floor(durationSeconds) > secondsMax;
  const isShort = durationSeconds !== null && durationSeconds < SECONDS.min;
  const isSeen = width !== null && height !== null && height > 0;
  const isShaped = !isSeen || Math.abs(width / height - FRAME.ratio) <= FRAME.tolerance;
  const isLarge = !isSeen || (width >= FRAME.width && height >= FRAME.height);
  const rate = Math.round(film?.frameRate ?? FRAME_RATE.min);
  const isSmooth = rate >= FRAME_RATE.min && rate <= FRAME_RATE.max;
  return [
    ...(isLong || isShort ? (["facebook.video.duration"] as const) : []),
    ...(isShaped ? [] : (["facebook.video.ratio"] as const)),
    ...(isLarge ? [] : (["facebook.video.resolution"] as const)),
    ...(isSmooth ? [] : (["facebook.video.frameRate"] as const)),
  ];
}

/**
 * https://developers.facebook.com/docs/graph-api/reference/page/photos (large PNGs become blurred there). TIFF may
 * contain a location anywhere in the file, so it is converted to JPEG.
 */
const TARGETS = {
  image: {
    types: ["image/jpeg", "image/png", "image/gif", "image/bmp"],
    bytesMax: 10_000_000,
    pngBytesMax: 1_000_000,
    plays: [],
    turnsByExif: true,
  },
  // Facebook fetches videos itself and says what it doesn't accept.
  video: {},
} as const satisfies MediaTargets;

export function media(): MediaTargets {
  return TARGETS;
}

/** Why files make no post. */
type MediaRule = `facebook.${"media" | "reel" | "story"}.${"type" | "mixed" | "count" | "media"}` &
  keyof typeof rules;

/** Returns the form that files of these kinds take, or the rule that they break. */
export function formOf(draft: LegDraft, kinds: readonly MediaKind[]): Form | MediaRule {
  const { kind } = ownOptionsOf(draft);
  if (kinds.includes("audio")) return "facebook.media.type";
  const [only] = kinds;
  const isOneVideo = kinds.length === 1 && only === "video";
  if (kind === "reel") return isOneVideo ? "reel" : "facebook.reel.media";
  if (kind === "story") {
    if (kinds.length !== 1) return "facebook.story.media";
    return isOneVideo ? "video_story" : "photo_story";
  }
  if (isOneVideo) return kind === "feed" ? "video" : "reel";
  if (kinds.length === 0) return "text";
  const videos = kinds.filter((kind) => kind === "video").length;
  if (videos > 0 && videos < kinds.length) return "facebook.media.mixed";
  return videos > 1 || kinds.length > PHOTOS_MAX ? "facebook.media.count" : "photos";
}
