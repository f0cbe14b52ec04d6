import type { MediaKind } from "../contract/draft-rules.ts";
import { breach, checkNearLimit, fieldOf, kindsOf, mediaKindOf } from "../contract/draft-rules.ts";
import type { MediaFacts } from "../contract/media.ts";
import type { LegDraft, NetworkData, Problem, TextMeasure } from "../contract/network.ts";
import type { Limits } from "./instance.ts";
import { limitsOf } from "./instance.ts";
import { countCharacters } from "./length.ts";
import { ownOptionsOf } from "./options.ts";
import { rules } from "./rule-table.ts";

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
    ...checkAltTexts(draft, limits),
    ...checkFocus(draft),
  ];
}

function checkText(draft: LegDraft, data: NetworkData): readonly Problem[] {
  const field = fieldOf("mastodon", draft, "text");
  const measured = measure(draft, data);
  const { usedCharacters: used, maxCharacters: limit } = measured;
  const { spoilerText = "" } = ownOptionsOf(draft.options);
  const isEmpty = draft.media.length === 0 && `${draft.text}${spoilerText}`.trim() === "";
  return [
    ...(used > limit ? [breach(rules, "mastodon.text.length", { used, limit, field })] : []),
    ...(isEmpty ? [breach(rules, "mastodon.content.empty", { field })] : []),
    ...checkNearLimit(rules, "mastodon.text.nearLimit", field, measured),
  ];
}

function checkMedia(draft: LegDraft, { mediaMax: limit }: Limits): readonly Problem[] {
  const field = fieldOf("mastodon", draft, "mediaUrls");
  const kinds = draft.media.map((item) => mediaKindOf(item.url));
  const { length: used } = kinds;
  return [
    ...(used > limit ? [breach(rules, "mastodon.media.count", { used, limit, field })] : []),
    ...(isMixed(kinds) ? [breach(rules, "mastodon.media.mixed", { field })] : []),
  ];
}

/** What only the files themselves tell: a video by the name of an image. */
export function judgeFiles(
  draft: LegDraft,
  _limits: NetworkData,
  files: readonly (MediaFacts | null)[],
): readonly Problem[] {
  const field = fieldOf("mastodon", draft, "mediaUrls");
  return isMixed(kindsOf(draft, files)) ? [breach(rules, "mastodon.media.mixed", { field })] : [];
}

/** Only images can share a post with each other. */
export function isMixed(kinds: readonly MediaKind[]): boolean {
  return kinds.length > 1 && kinds.some((kind) => kind !== "image");
}

function checkAltTexts(draft: LegDraft, { altTextMax: limit }: Limits): readonly Problem[] {
  const field = fieldOf("mastodon", draft, "altTexts");
  return draft.media.flatMap(({ altText }, mediaIndex) =>
    (altText ?? "").length <= limit
      ? []
      : [breach(rules, "mastodon.media.altText", { limit, field, mediaIndex })],
  );
}

function checkFocus({ media, options }: LegDraft): readonly Problem[] {
  const { focus = [] } = ownOptionsOf(options);
  const field = "platformOptions.mastodon.focus";
  return focus.length > media.length ? [breach(rules, "mastodon.focus.count", { field })] : [];
}
