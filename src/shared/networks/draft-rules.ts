import type { LegDraft, NetworkName, Problem, TextMeasure } from "./network.ts";

export type MediaKind = "image" | "video" | "audio";

const KIND_BY_EXTENSION: Readonly<Record<string, MediaKind>> = {
  mp4: "video",
  m4v: "video",
  mov: "video",
  webm: "video",
  mkv: "video",
  avi: "video",
  mpg: "video",
  mpeg: "video",
  "3gp": "video",
  mp3: "audio",
  m4a: "audio",
  ogg: "audio",
  oga: "audio",
  opus: "audio",
  wav: "audio",
  flac: "audio",
};

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** What a reader takes for one character: a family emoji is one. */
export function countGraphemes(text: string): number {
  // Printable ASCII has no clusters, and most text is nothing else.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let count = 0;
  for (const segment of graphemes.segment(text)) count += segment.index >= 0 ? 1 : 0;
  return count;
}

export function extensionOf(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : "";
  return /\.([a-z0-9]{1,5})$/i.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** By the URL's ending alone; what ends in nothing known is taken for an image until it has been fetched. */
export function mediaKindOf(url: string): MediaKind {
  return KIND_BY_EXTENSION[extensionOf(url)] ?? "image";
}

type ProblemText = Pick<Problem, "code" | "rule" | "message" | "remediation"> &
  Partial<Pick<Problem, "field" | "mediaIndex">>;

export function errorOf(problem: ProblemText): Problem {
  return { severity: "error", field: null, mediaIndex: null, ...problem };
}

export function warningOf(problem: ProblemText): Problem {
  return { severity: "warning", field: null, mediaIndex: null, ...problem };
}

/** The field of the request that a draft's text or media came from. */
export function fieldOf(
  network: NetworkName,
  draft: LegDraft,
  name: "text" | "mediaUrls" | "altTexts",
): string {
  return draft.options[name] === undefined ? name : `platformOptions.${network}.${name}`;
}

/** Texts above nine tenths of the limit: a small edit makes them fail. */
export function nearLimitWarning(
  rule: string,
  field: string,
  { usedCharacters, maxCharacters }: TextMeasure,
): readonly Problem[] {
  if (usedCharacters > maxCharacters || usedCharacters * 10 <= maxCharacters * 9) return [];
  return [
    warningOf({
      code: "text_too_long",
      rule,
      message: `The text uses ${usedCharacters} of ${maxCharacters} characters.`,
      remediation: "Nothing needs to be done; a longer text may be refused.",
      field,
    }),
  ];
}
