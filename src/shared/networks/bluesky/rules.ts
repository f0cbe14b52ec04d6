import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import {
  breach,
  checkNearLimit,
  isFarBeyond,
  type Problem,
  type TextMeasure,
} from "../contract/rules.ts";
import { checkAltTexts } from "../contract/alt-text.ts";
import { countGraphemes } from "../contract/text.ts";
import {
  extensionOf,
  fieldOf,
  kindsOf,
  mediaKindOf,
  type LegDraft,
  type MediaItem,
  type NetworkData,
} from "../contract/draft.ts";
import type { ImageTarget, MediaFacts, MediaTargets } from "../contract/media.ts";
import { ownOptionsOf } from "./options.ts";
import { rules } from "./rule-table.ts";

const VIDEO_NAMES = /^(?:mp4|m4v|mov|webm|mpg|mpeg)$/;

export const RULES = {
  /** Up to here the shape that every client shows; above it the gallery, which older ones do not. */
  plainImagesMax: 4,
  /** Of servers that do not tell their own `blobUploadLimit`. */
  blobBytesMax: 52_428_800,
} as const;

const limitsShape = shape(() => z.object({ blobBytesMax: z.number().int().positive() }));

/** Returns the size of the largest file that the account's server takes. */
export function blobBytesMax(limits: NetworkData): number {
  const parsed = limitsShape().safeParse(limits);
  return parsed.success ? parsed.data.blobBytesMax : RULES.blobBytesMax;
}

export function measure(draft: LegDraft): TextMeasure {
  const { text } = draft;
  // A UTF-16 unit is a byte at least: so long a text is refused whatever a reader takes for a character in it.
  const isFarTooLong = isFarBeyond(text.length, rules["bluesky.text.bytes"].limit);
  return {
    usedCharacters: isFarTooLong ? text.length : countGraphemes(text),
    maxCharacters: rules["bluesky.text.graphemes"].limit,
  };
}

export function check(draft: LegDraft): readonly Problem[] {
  return [...checkText(draft), ...checkMedia(draft), ...checkLinkCard(draft)];
}

function checkText(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("bluesky", draft, "text");
  const measured = measure(draft);
  const { usedCharacters: used, maxCharacters } = measured;
  const bytes = Buffer.byteLength(draft.text);
  const hasContent = draft.media.length > 0 || Boolean(ownOptionsOf(draft.options).linkCard);
  const isEmpty = draft.text.trim() === "" && !hasContent;
  return [
    ...(used > maxCharacters ? [breach(rules, "bluesky.text.graphemes", { used, field })] : []),
    ...(bytes > rules["bluesky.text.bytes"].limit
      ? [breach(rules, "bluesky.text.bytes", { used: bytes, field })]
      : []),
    ...(isEmpty ? [breach(rules, "bluesky.content.empty", { field })] : []),
    ...checkNearLimit(rules, "bluesky.text.nearLimit", field, measured),
  ];
}

/** Returns what only the files themselves show: a video with the name of an image, an image that becomes a video. */
export function checkFiles(
  draft: LegDraft,
  _limits: NetworkData,
  files: readonly (MediaFacts | null)[],
): readonly Problem[] {
  const kinds = kindsOf(draft, files);
  const field = fieldOf("bluesky", draft, "mediaUrls");
  if (files.length > 1 && kinds.some((kind) => kind !== "image"))
    return [breach(rules, "bluesky.media.mixed", { field })];
  const becomesVideo = files.length === 1 && (kinds[0] === "video" || files[0]?.isMoving === true);
  // Of a file whose name says as much, `check` has told it.
  return becomesVideo
    ? checkAltTexts(rules, "bluesky.media.altTextVideo", draft, { takes: (item) => !isVideo(item) })
    : [];
}

function isVideo({ url }: MediaItem): boolean {
  return mediaKindOf(url) === "video";
}

function checkMedia(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("bluesky", draft, "mediaUrls");
  const kinds = draft.media.map((item) => mediaKindOf(item.url));
  const videos = kinds.filter((kind) => kind === "video").length;
  const images = kinds.filter((kind) => kind === "image").length;
  const isTooMany = kinds.length > rules["bluesky.media.count"].limit || videos > 1;
  return [
    ...(isTooMany ? [breach(rules, "bluesky.media.count", { field })] : []),
    ...(videos > 0 && images > 0 ? [breach(rules, "bluesky.media.mixed", { field })] : []),
    ...draft.media.flatMap((item, mediaIndex) => checkType(item.url, mediaIndex, field)),
    ...checkAltTexts(rules, "bluesky.media.altText", draft, { takes: (item) => !isVideo(item) }),
    ...checkAltTexts(rules, "bluesky.media.altTextVideo", draft, { takes: isVideo }),
  ];
}

/**
 * Returns a warning for a name that suggests a type that Bluesky does not take, and an error for audio. The type
 * itself is checked when the file is fetched.
 */
function checkType(url: string, mediaIndex: number, field: string): readonly Problem[] {
  const kind = mediaKindOf(url);
  const isForeign = kind === "audio" || (kind === "video" && !VIDEO_NAMES.test(extensionOf(url)));
  const severity = kind === "audio" ? "error" : "warning";
  return isForeign ? [breach(rules, "bluesky.media.type", { field, mediaIndex, severity })] : [];
}

function checkLinkCard(draft: LegDraft): readonly Problem[] {
  if (draft.media.length === 0 || !ownOptionsOf(draft.options).linkCard) return [];
  const field = "platformOptions.bluesky.linkCard";
  return [breach(rules, "bluesky.linkCard.media", { field })];
}

const IMAGE = {
  types: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  bytesMax: 2_000_000,
  edgeMax: 4_000,
  // Clients show the first picture alone; what moves goes out as a video.
  plays: [],
  turnsByExif: false,
} as const;

/**
 * https://github.com/bluesky-social/atproto `lexicons/app/bsky/embed`; edge, length and the types of videos are the
 * official client's. All but MP4 need the video service, which makes MP4 of them.
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
 * Returns what the picture of a link card may be: `app.bsky.embed.external` holds it to less than others, and the
 * account's own server may take less still.
 */
export function thumbnail(limits: NetworkData): ImageTarget {
  return { ...IMAGE, bytesMax: Math.min(1_000_000, blobBytesMax(limits)), edgeMax: 2_000 };
}

/** Returns what Bluesky takes; the account's own server may take less. A moving GIF that is alone becomes a video. */
export function media(draft: LegDraft, limits: NetworkData): MediaTargets {
  const { image, video } = TARGETS;
  const bytesMax = blobBytesMax(limits);
  return {
    image: { ...image, bytesMax: Math.min(image.bytesMax, bytesMax) },
    video,
    ...(draft.media.length > 1 ? {} : { moving: ["image/gif"] }),
  };
}
