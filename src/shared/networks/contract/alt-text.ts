import type { LegDraft, MediaItem } from "./draft.ts";
import { shortenedText } from "./text.ts";

/** Makes the rule that alternative texts beyond a network's limit are cut. */
export function shortenedAltTexts(network: string, charactersMax: number) {
  return {
    field: "altTexts",
    limit: charactersMax,
    unit: "UTF-16 units",
    message: `The alternative text is longer than the {limit} characters that ${network} takes; it is cut behind a word.`,
    remediation: "Shorten the alternative text to choose yourself what is left out.",
  } as const;
}

/** Returns the draft with each alternative text cut to `charactersMax` UTF-16 units, after a word. */
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
