import {
  type MediaKind,
  fieldOf,
  checkNames,
  kindsOf,
  type LegDraft,
  type NetworkData,
} from "../contract/draft.ts";
import { breach, checkNearLimit, type Problem, type TextMeasure } from "../contract/rules.ts";
import { checkAltTexts } from "../contract/alt-text.ts";
import type { MediaFacts, MediaTargets } from "../contract/media.ts";
import { type InstanceLimits, limitsOf } from "./instance.ts";
import { ownOptionsOf } from "./options.ts";
import { rules } from "./rule-table.ts";
import { countGraphemes } from "../contract/text.ts";
import { countedText } from "./counted-text.ts";

export function measure(draft: LegDraft, data: NetworkData): TextMeasure {
  const limits = limitsOf(data);
  const { spoilerText = "" } = ownOptionsOf(draft.options);
  return {
    usedCharacters: countCharacters(draft.text, spoilerText, limits.charactersPerUrl),
    maxCharacters: limits.charactersMax,
  };
}

export function check(draft: LegDraft, data: NetworkData): readonly Problem[] {
  const limits = limitsOf(data);
  return [
    ...checkText(draft, data),
    ...checkMedia(draft, limits),
    ...checkAltTexts(rules, "mastodon.media.altText", draft, { limit: limits.altTextMax }),
    ...checkFocus(draft),
  ];
}

function checkText(draft: LegDraft, data: NetworkData): readonly Problem[] {
  const field = fieldOf("mastodon", draft, "text");
  const measured = measure(draft, data);
  const { usedCharacters: used, maxCharacters: limit } = measured;
  const { spoilerText = "" } = ownOptionsOf(draft.options);
  const { needsMedia } = limitsOf(data);
  const hasNothing = `${draft.text}${spoilerText}`.trim() === "";
  const isEmpty = draft.media.length === 0 && !needsMedia && hasNothing;
  return [
    ...(used > limit ? [breach(rules, "mastodon.text.length", { used, limit, field })] : []),
    ...(isEmpty ? [breach(rules, "mastodon.content.empty", { field })] : []),
    ...checkNearLimit(rules, "mastodon.text.nearLimit", field, measured),
  ];
}

function checkMedia(draft: LegDraft, limits: InstanceLimits): readonly Problem[] {
  const { mediaMax: limit } = limits;
  const isRefused = checkNames(draft, (kinds) => isMixed(kinds, limits));
  const field = fieldOf("mastodon", draft, "mediaUrls");
  const { length: used } = draft.media;
  const isMissing = limits.needsMedia && used === 0;
  return [
    ...(isMissing ? [breach(rules, "mastodon.media.required", { field })] : []),
    ...(used > limit ? [breach(rules, "mastodon.media.count", { used, limit, field })] : []),
    ...(isRefused ? [breach(rules, "mastodon.media.mixed", { field })] : []),
  ];
}

/** Returns what only the files themselves show: a video with the name of an image. */
export function checkFiles(
  draft: LegDraft,
  limits: NetworkData,
  files: readonly (MediaFacts | null)[],
): readonly Problem[] {
  const field = fieldOf("mastodon", draft, "mediaUrls");
  return isMixed(kindsOf(draft, files), limitsOf(limits))
    ? [breach(rules, "mastodon.media.mixed", { field })]
    : [];
}

/** Returns whether files can't share a post: on most servers only images can. */
export function isMixed(kinds: readonly MediaKind[], { mixesFiles }: InstanceLimits): boolean {
  return !mixesFiles && kinds.length > 1 && kinds.some((kind) => kind !== "image");
}

function checkFocus({ media, options }: LegDraft): readonly Problem[] {
  const { focus = [] } = ownOptionsOf(options);
  const field = "platformOptions.mastodon.focus";
  return focus.length > media.length ? [breach(rules, "mastodon.focus.count", { field })] : [];
}

/** Of an instance that does not tell: what Mastodon 4 takes and does not have to convert. */
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

/** What stays in motion: https://github.com/mastodon/mastodon/pull/28516. Of a moving WebP the server makes a still. */
const PLAYED_TYPES = ["image/gif", "image/png"] as const;

/** Returns what the account's instance takes. The instance rotates photos and removes their metadata itself. */
export function media(_draft: LegDraft, data: NetworkData): MediaTargets {
  const { mediaTypes, imageBytesMax, imagePixelsMax, videoBytesMax } = limitsOf(data);
  const stated = mediaTypes.filter((type) => type.startsWith("image/"));
  const streamed = {
    ...(mediaTypes.length > 0 ? { types: mediaTypes } : {}),
    bytesMax: videoBytesMax,
  };
  return {
    image: {
      types: stated.length > 0 ? stated : IMAGE_TYPES,
      bytesMax: imageBytesMax,
      pixelsMax: imagePixelsMax,
      plays: PLAYED_TYPES,
      turnsByExif: true,
    },
    video: streamed,
    audio: streamed,
  };
}

/** Returns a post's length as the server counts it, content warning included. */
export function countCharacters(
  text: string,
  spoilerText: string,
  charactersPerUrl: number,
): number {
  const counted = countedText(text);
  return countGraphemes(spoilerText + counted.text) + counted.links * (charactersPerUrl - 1);
}
