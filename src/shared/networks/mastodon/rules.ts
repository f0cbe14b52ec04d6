import { longAltTexts, shortenedAltTexts } from "../contract/alt-text.ts";
import { checkNames, fieldOf, kindsOf } from "../contract/draft.ts";
import type { LegDraft, MediaKind, NetworkData } from "../contract/draft.ts";
import type { MediaTargets } from "../contract/media.ts";
import type { CheckFiles } from "../contract/network.ts";
import { breach, checkRules, ruleRows, textRules } from "../contract/rules.ts";
import type { Problem, TextMeasure } from "../contract/rules.ts";
import { countGraphemes, isBlank } from "../contract/text.ts";
import { countedText } from "./counted-text.ts";
import { type Counts, type InstanceLimits, LIMITS, limitsOf } from "./limits.ts";
import { ownOptionsOf } from "./options.ts";

interface Facts {
  readonly draft: LegDraft;
  readonly options: ReturnType<typeof ownOptionsOf>;
  readonly limits: InstanceLimits;
  readonly measured: TextMeasure;
}

const { error, warning } = ruleRows<Facts>();
const ofText = textRules({
  network: "mastodon",
  id: "length",
  limit: LIMITS.charactersMax,
  unit: "characters",
});

export const rules = {
  "mastodon.text.length": {
    ...ofText["mastodon.text.length"],
    variesByServer: true as const,
  },
  "mastodon.text.nearLimit": {
    ...ofText["mastodon.text.nearLimit"],
    variesByServer: true as const,
  },
  "mastodon.content.empty": error("text_invalid", {
    field: "text",
    broken: ({ draft: { text, media }, options: { spoilerText = "" }, limits }) =>
      media.length === 0 && !limits.needsMedia && isBlank(`${text}${spoilerText}`),
  }),
  "mastodon.text.required": error("text_invalid", {
    variesByServer: true,
    field: "text",
    broken: ({ draft: { text, media }, options: { spoilerText = "" }, limits }) =>
      limits.needsText && media.length > 0 && `${text}${spoilerText}`.trim() === "",
  }),
  "mastodon.media.required": error("media_rejected", {
    variesByServer: true,
    broken: ({ draft, limits }) => limits.needsMedia && draft.media.length === 0,
  }),
  "mastodon.media.missing": warning("kind_changed", {
    variesByServer: true,
  }),
  "mastodon.visibility.changed": warning("option_unused", {
    variesByServer: true,
  }),
  "mastodon.media.count": error("media_rejected", {
    limit: LIMITS.mediaMax,
    unit: "files",
    variesByServer: true,
    used: ({ draft }) => draft.media.length,
    limitOf: ({ limits }) => limits.mediaMax,
  }),
  "mastodon.media.mixed": error("media_rejected", {
    variesByServer: true,
    broken: ({ draft, limits }) => checkNames(draft, (kinds) => isMixed(kinds, limits)) === true,
  }),
  "mastodon.media.type": error("media_rejected", {
    variesByServer: true,
  }),
  "mastodon.media.size": error("media_rejected", {
    limit: LIMITS.imageBytesMax,
    unit: "bytes",
    variesByServer: true,
  }),
  "mastodon.media.pixels": error("media_rejected", {
    limit: LIMITS.imagePixelsMax,
    unit: "pixels",
    variesByServer: true,
  }),
  "mastodon.media.frameRate": error("media_rejected", {
    variesByServer: true,
  }),
  "mastodon.altText.shortened": warning("alt_text_shortened", {
    ...shortenedAltTexts(LIMITS.altTextMax),
    variesByServer: true,
    field: "altTexts",
    broken: ({ draft, limits }) => longAltTexts(draft, limits.altTextMax),
    limitOf: ({ limits }) => limits.altTextMax,
  }),
  "mastodon.visibility.direct": error("feature_unsupported", {
    variesByServer: true,
    broken: ({ options: { visibility }, limits }) => visibility === "direct" && !limits.hasDirect,
  }),
  "mastodon.focus.count": error("invalid_request", {
    broken: ({ draft, options: { focus = [] } }) => focus.length > draft.media.length,
  }),
  "mastodon.visibility.unsupported": error("feature_unsupported"),
  "mastodon.altText.required": error("media_rejected"),
  "mastodon.altText.refused": error("media_rejected"),
  "mastodon.account.notPermitted": error("account_restricted"),
  "mastodon.account.unconfirmed": error("account_restricted"),
  "mastodon.account.passwordReset": error("account_restricted"),
  "mastodon.account.awaitingApproval": error("account_restricted"),
  "mastodon.account.moved": error("account_restricted"),
  "mastodon.account.full": error("media_rejected"),
};

/** Returns a post's length as the server counts it, with the content warning. */
export function countCharacters(
  text: string,
  spoilerText: string,
  perUrl: number,
  counts: Counts = "links",
): number {
  if (counts === "letters") return countGraphemes((spoilerText + text).trim());
  if (counts === "codePoints") return Array.from(spoilerText + text).length;
  const counted = countedText(text);
  return countGraphemes(spoilerText + counted.text) + counted.links * (perUrl - 1);
}

export function measure(draft: LegDraft, data: NetworkData): TextMeasure {
  const { charactersPerUrl, charactersMax: maxCharacters, counts } = limitsOf(data);
  const { spoilerText = "" } = ownOptionsOf(draft);
  const usedCharacters = countCharacters(draft.text, spoilerText, charactersPerUrl, counts);
  return { usedCharacters, maxCharacters };
}

export function check(draft: LegDraft, data: NetworkData): readonly Problem[] {
  const options = ownOptionsOf(draft);
  const limits = limitsOf(data);
  return checkRules(rules, { draft, options, limits, measured: measure(draft, data) });
}

/** Finds problems that only the files show, such as a video named like an image. */
export const checkFiles: CheckFiles = (draft, limits, files) => {
  const field = fieldOf("mastodon", draft, "mediaUrls");
  return isMixed(kindsOf(draft, files), limitsOf(limits))
    ? [breach(rules, "mastodon.media.mixed", { field })]
    : [];
};

/** Reports whether files can't share a post. On most servers only images can. */
export function isMixed(kinds: readonly MediaKind[], { mixesFiles }: InstanceLimits): boolean {
  return !mixesFiles && kinds.length > 1 && kinds.some((kind) => kind !== "image");
}

/** Types for an instance that states none: those that Mastodon 4 accepts without conversion. */
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

/** Types that stay animated: https://github.com/mastodon/mastodon/pull/28516. An animated WebP becomes a still. */
const PLAYED_TYPES = ["image/gif", "image/png"] as const;

/** Returns the media that the account's instance accepts. It rotates photos and removes their metadata itself. */
export function media(_draft: LegDraft, data: NetworkData): MediaTargets {
  const { mediaTypes, imageBytesMax, imagePixelsMax, gifPixelsMax } = limitsOf(data);
  const { videoBytesMax, videoFrameRateMax } = limitsOf(data);
  const stated = mediaTypes.filter((type) => type.startsWith("image/"));
  const types = mediaTypes.length > 0 ? { types: mediaTypes } : {};
  const streamed = { ...types, bytesMax: videoBytesMax };
  return {
    image: {
      types: stated.length > 0 ? stated : IMAGE_TYPES,
      bytesMax: imageBytesMax,
      pixelsMax: imagePixelsMax,
      gifPixelsMax,
      plays: PLAYED_TYPES,
      turnsByExif: true,
    },
    video: { ...streamed, frameRate: { min: 0, max: videoFrameRateMax } },
    audio: streamed,
  };
}
