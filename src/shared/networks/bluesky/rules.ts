import { objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import { longAltTexts, shortenedAltTexts } from "../contract/alt-text.ts";
import { extensionOf, fieldOf, kindsOf, mediaKindOf } from "../contract/draft.ts";
import type { LegDraft, MediaItem, MediaKind, NetworkData } from "../contract/draft.ts";
import type { ImageTarget, MediaTargets, OptionPicture } from "../contract/media.ts";
import type { CheckFiles } from "../contract/network.ts";
import { breach, checkRules, isFarBeyond, ruleRows, textRules } from "../contract/rules.ts";
import type { Problem, TextMeasure } from "../contract/rules.ts";
import { countGraphemes, isBlank } from "../contract/text.ts";
import { ownOptionsOf } from "./options.ts";
import { BYTES_MAX, fits, GRAPHEMES_MAX, shownText } from "./short-links.ts";

interface Facts {
  readonly draft: LegDraft;
  readonly options: ReturnType<typeof ownOptionsOf>;
  readonly measured: TextMeasure;
  /** The text as it is published. */
  readonly shown: string;
  /** By the names of the files. */
  readonly kinds: readonly (MediaKind | undefined)[];
}

const { error, warning } = ruleRows<Facts>();
const FILES_MAX = 10;
/** Limit of the official client (`MAX_ALT_TEXT` in bluesky-social/social-app). Records themselves have no limit. */
const ALT_TEXT_MAX = 2000;
/** `alt` of `app.bsky.embed.video`, which counts graphemes. This is the strictest interpretation. */
export const VIDEO_ALT_TEXT_MAX = 1000;

const ofVideos = (broken: (facts: Pick<Facts, "draft">) => readonly number[]) =>
  warning("alt_text_shortened", {
    ...shortenedAltTexts(VIDEO_ALT_TEXT_MAX),
    field: "altTexts",
    broken,
  });

export const rules = {
  ...textRules({
    network: "bluesky",
    id: "graphemes",
    limit: GRAPHEMES_MAX,
    unit: "graphemes",
  }),
  "bluesky.text.bytes": error("text_too_long", {
    limit: BYTES_MAX,
    unit: "bytes",
    used: ({ shown }) => Buffer.byteLength(shown),
  }),
  "bluesky.text.links": warning("text_shortened", {
    broken: ({ draft, shown }) => shown !== draft.text && fits(shown),
  }),
  "bluesky.text.mention": warning("option_unused"),
  "bluesky.content.empty": error("text_invalid", {
    field: "text",
    broken: ({ draft: { text, media }, options }) =>
      isBlank(text) && media.length === 0 && !options.linkCard,
  }),
  "bluesky.media.count": error("media_rejected", {
    limit: FILES_MAX,
    unit: "files",
    broken: ({ kinds }) =>
      kinds.length > FILES_MAX || kinds.filter((kind) => kind === "video").length > 1,
  }),
  "bluesky.media.mixed": error("media_rejected", {
    broken: ({ kinds }) => kinds.includes("video") && kinds.includes("image"),
  }),
  "bluesky.media.type": error("media_rejected", {
    broken: ({ kinds }) => kinds.flatMap((kind, index) => (kind === "audio" ? [index] : [])),
  }),
  "bluesky.media.typeUnknown": warning("type_unknown", {
    broken: ({ draft }) => draft.media.flatMap(foreignType),
  }),
  "bluesky.media.size": error("media_rejected", {
    variesByServer: true,
  }),
  "bluesky.media.duration": error("media_rejected"),
  "bluesky.altText.shortened": warning("alt_text_shortened", {
    ...shortenedAltTexts(ALT_TEXT_MAX),
    field: "altTexts",
    broken: ({ draft }) => longAltTexts(draft, ALT_TEXT_MAX, (item) => !isVideo(item)),
  }),
  "bluesky.altText.videoShortened": ofVideos(({ draft }) =>
    longAltTexts(draft, VIDEO_ALT_TEXT_MAX, isVideo),
  ),
  "bluesky.linkCard.unread": warning("link_card_skipped"),
  "bluesky.linkCard.picture": warning("thumbnail_failed"),
  "bluesky.linkCard.media": warning("link_card_skipped", {
    broken: ({ draft, options }) => draft.media.length > 0 && Boolean(options.linkCard),
  }),
  "bluesky.account.appPassword": error("connection_needs_reauth"),
  "bluesky.account.deactivated": error("account_restricted"),
  "bluesky.account.unconfirmed": error("account_restricted"),
};

/** Up to this number, every client shows the post. Above it, it is a gallery, which older clients don't show. */
export const PLAIN_IMAGES_MAX = 4;

/** Bluesky's own servers, for those that do not tell their `blobUploadLimit`. */
const BLOB_BYTES_MAX = 52_428_800;
const limitsShape = objectShape(() => ({
  blobBytesMax: lenient(z.number().int().positive(), BLOB_BYTES_MAX),
}));

export function blobBytesMax(limits: NetworkData): number {
  return limitsShape().parse(limits).blobBytesMax;
}

/** Returns the text as it is published. One this long is refused however its links are shown. */
function shownOf({ text }: LegDraft): string {
  return isFarBeyond(text.length, BYTES_MAX) ? text : shownText(text).text;
}

export function measure(draft: LegDraft): TextMeasure {
  const shown = shownOf(draft);
  // A UTF-16 unit takes at least a byte, so such a text is refused however its characters are counted.
  const isFar = isFarBeyond(shown.length, BYTES_MAX);
  const usedCharacters = isFar ? shown.length : countGraphemes(shown);
  return { usedCharacters, maxCharacters: GRAPHEMES_MAX };
}

export function check(draft: LegDraft): readonly Problem[] {
  const kinds = draft.media.map(({ url }) => mediaKindOf(url));
  return checkRules(rules, {
    draft,
    options: ownOptionsOf(draft),
    measured: measure(draft),
    shown: shownOf(draft),
    kinds,
  });
}

/** Finds problems that only the files show: a video named like an image, or an image that becomes a video. */
export const checkFiles: CheckFiles = (draft, _limits, files) => {
  const kinds = kindsOf(draft, files);
  const field = fieldOf("bluesky", draft, "mediaUrls");
  if (files.length > 1 && kinds.some((kind) => kind !== "image"))
    return [breach(rules, "bluesky.media.mixed", { field })];
  const becomesVideo = files.length === 1 && (kinds[0] === "video" || files[0]?.isMoving === true);
  // If the file's name shows a video, `check` has already warned.
  const isTold = (item: MediaItem) => becomesVideo && !isVideo(item);
  const found = ofVideos(() => longAltTexts(draft, VIDEO_ALT_TEXT_MAX, isTold));
  return checkRules({ "bluesky.altText.videoShortened": found }, { draft });
};

function isVideo({ url }: MediaItem): boolean {
  return mediaKindOf(url) === "video";
}

/** Returns a file whose name suggests a type that Bluesky doesn't accept. */
function foreignType(item: MediaItem, mediaIndex: number) {
  const isKnown = /^(?:mp4|m4v|mov|webm|mpg|mpeg)$/.test(extensionOf(item.url));
  return isVideo(item) && !isKnown ? [mediaIndex] : [];
}

const IMAGE = {
  types: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  bytesMax: 2_000_000,
  edgeMax: 4_000,
  // Clients only show the first frame, so an animated image is published as a video.
  plays: [],
  turnsByExif: false,
} as const;

/**
 * https://github.com/bluesky-social/atproto `lexicons/app/bsky/embed`. Edge, length and video types are the official
 * client's. All but MP4 need the video service, which converts them to MP4.
 */
const TARGETS = {
  image: IMAGE,
  video: {
    types: ["video/mp4", "video/quicktime", "video/webm", "video/mpeg"],
    bytesMax: 300_000_000,
    secondsMax: 600,
  },
} as const satisfies MediaTargets;

/**
 * Returns what the image of a link card may be. `app.bsky.embed.external` allows less than other embeds, and the
 * account's own server may accept less still.
 */
export function thumbnail(limits: NetworkData): ImageTarget {
  return { ...IMAGE, bytesMax: Math.min(SMALL_BYTES, blobBytesMax(limits)), edgeMax: 2_000 };
}

/** Returns the picture of a card that is given, unless media take the card's place. */
export function pictures(draft: LegDraft, limits: NetworkData): readonly OptionPicture[] {
  const { linkCard } = ownOptionsOf(draft);
  const url = linkCard ? linkCard.thumbnailUrl : undefined;
  if (url === undefined || draft.media.length > 0) return [];
  return [{ option: "linkCard.thumbnailUrl", url, target: thumbnail(limits) }];
}

/** The limit of all images before April 2026, and still on servers with lexicons from then. */
const SMALL_BYTES = 1_000_000;

export function smallImage(image: ImageTarget): ImageTarget {
  return { ...image, bytesMax: Math.min(SMALL_BYTES, image.bytesMax) };
}

/**
 * Returns the media that Bluesky accepts; the account's server may accept less. A lone animated GIF becomes a video.
 */
export function media(draft: LegDraft, limits: NetworkData): MediaTargets {
  const { image, video } = TARGETS;
  const bytesMax = blobBytesMax(limits);
  return {
    image: { ...image, bytesMax: Math.min(image.bytesMax, bytesMax) },
    video,
    ...(draft.media.length > 1 ? {} : { moving: ["image/gif"] }),
  };
}
