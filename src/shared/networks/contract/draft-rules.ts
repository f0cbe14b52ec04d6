import { graphemesOf } from "./graphemes.ts";
import { kindOfType } from "./judge-file.ts";
import type { MediaFacts } from "./media.ts";
import type { LegDraft, Problem, TextMeasure } from "./network.ts";
import type { Rule, RuleTable } from "./rule.ts";
import { NEARLY } from "./rule.ts";

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

const FAR = 4;

/** Whether a text is so much too long that nothing else in it is worth counting. */
export function isFarBeyond(used: number, limit: number): boolean {
  return used > limit * FAR;
}

/** What a reader takes for one character: a family emoji is one. */
export function countGraphemes(text: string): number {
  // Printable ASCII has no clusters, and most text is nothing else.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let count = 0;
  for (const segment of graphemesOf(text)) count += segment.index >= 0 ? 1 : 0;
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

/** By what the file's bytes say: what is neither a video nor sound is taken for an image, or refused for its type. */
export function mediaKindOfType(contentType: string): MediaKind {
  const kind = kindOfType(contentType);
  return kind === "document" ? "image" : kind;
}

/** The kinds of a draft's files: by their bytes where they were looked into, by their names where not. */
export function kindsOf(
  { media }: LegDraft,
  files: readonly (MediaFacts | null)[],
): readonly MediaKind[] {
  return media.map(({ url }, index) => {
    const seen = files[index];
    return seen ? mediaKindOfType(seen.contentType) : mediaKindOf(url);
  });
}

/** The field of the request that a draft's text or media came from. */
export function fieldOf(
  network: string,
  draft: LegDraft,
  name: "text" | "mediaUrls" | "altTexts",
): string {
  return draft.options[name] === undefined ? name : `platformOptions.${network}.${name}`;
}

interface Breach extends Partial<Pick<Problem, "field" | "mediaIndex" | "severity">> {
  readonly used?: number;
  /** In place of the table's own. */
  readonly limit?: number;
}

/** A problem in the words of the rule that is broken. */
export function breach<Table extends RuleTable>(
  table: Table,
  id: keyof Table & string,
  { used, limit, field = null, mediaIndex = null, severity }: Breach = {},
): Problem {
  // Safe: the id is a key of the table.
  const rule = table[id] as Rule;
  const numbers: Readonly<Record<string, number | undefined>> = {
    used,
    limit: limit ?? rule.limit,
  };
  return {
    severity: severity ?? rule.severity,
    code: rule.code,
    rule: id,
    message: rule.message.replace(/\{(\w+)\}/g, (_place, name: string) => `${numbers[name] ?? ""}`),
    remediation: rule.remediation,
    field,
    mediaIndex,
  };
}

export function checkNearLimit<Table extends RuleTable>(
  table: Table,
  id: keyof Table & string,
  field: string,
  { usedCharacters: used, maxCharacters: limit }: TextMeasure,
): readonly Problem[] {
  if (used > limit || used <= limit * NEARLY) return [];
  return [breach(table, id, { used, limit, field })];
}
