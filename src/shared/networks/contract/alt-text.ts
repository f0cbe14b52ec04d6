import type { LegDraft, MediaItem } from "./draft.ts";
import { isBlank, shortenedText } from "./text.ts";

/** White space and the invisible characters that word processors and chat programs leave around a text. */
const AROUND = /[\s\u200b\u2060\ufeff]/;

/**
 * Returns an alternative text as it is published: without space around it, and with one character for each line break,
 * as networks count them. Null for a text that shows nothing, because a reader would get a mark without a description.
 */
export function readableAltText(text: string | null): string | null {
  if (text === null || isBlank(text)) return null;
  let [start, end] = [0, text.length];
  while (AROUND.test(text.charAt(start))) start += 1;
  while (AROUND.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end).replace(/\r\n?/g, "\n");
}

/** Makes the rule that alternative texts beyond a network's limit are cut. */
export function shortenedAltTexts(charactersMax: number) {
  return {
    field: "altTexts",
    limit: charactersMax,
    unit: "UTF-16 units",
  } as const;
}

/** Returns the draft with each alternative text cut to `charactersMax` UTF-16 units. */
export function withShortAltTexts(draft: LegDraft, charactersMax: number): LegDraft {
  const media = draft.media.map(({ url, altText }) => {
    return { url, altText: altText === null ? null : shortenedText(altText, charactersMax) };
  });
  return { ...draft, media };
}

/** Returns the files whose alternative text is too long for the network, of those for which it accepts one. */
export function longAltTexts(
  { media }: LegDraft,
  charactersMax: number,
  takes: (item: MediaItem) => boolean = () => true,
): readonly number[] {
  return media.flatMap((item, mediaIndex) =>
    (item.altText ?? "").length > charactersMax && takes(item) ? [mediaIndex] : [],
  );
}

/** Returns the indices of files with an unused alternative text. `takes` says which files can have one. */
export function unusedAltTexts(
  draft: LegDraft,
  takes: (item: MediaItem) => boolean,
): readonly number[] {
  return longAltTexts(draft, 0, (item) => !takes(item));
}
