import {
  type MediaKind,
  extensionOf,
  fieldOf,
  mediaKindOf,
  kindOfType,
  type LegDraft,
  type NetworkData,
} from "../contract/draft.ts";
import { breach, checkNearLimit, type Problem, type TextMeasure } from "../contract/rules.ts";
import type { MediaFacts, MediaTargets } from "../contract/media.ts";
import { ownOptionsOf } from "./options.ts";
import { rules } from "./rule-table.ts";
import { type Asset, authorKindOf } from "./state.ts";

const DOCUMENT_NAMES = /^(?:pdf|docx?|pptx?)$/;
/** Of images those that can't be converted. */
const FOREIGN_NAMES = /^(?:heic|heif|bmp|svg|docx?|pptx?)$/;
const VIDEO_NAMES = /^(?:mp4|m4v)$/;

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: rules["linkedin.text.length"].limit };
}

export function check(draft: LegDraft, limits: NetworkData): readonly Problem[] {
  return [...checkText(draft), ...checkMedia(draft), ...checkOptions(draft, limits)];
}

function checkText(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("linkedin", draft, "text");
  const measured = measure(draft);
  const { usedCharacters: used, maxCharacters } = measured;
  const hasContent = draft.media.length > 0 || ownOptionsOf(draft.options).link !== undefined;
  const isEmpty = draft.text.trim() === "" && !hasContent;
  return [
    ...(used > maxCharacters ? [breach(rules, "linkedin.text.length", { used, field })] : []),
    ...(isEmpty ? [breach(rules, "linkedin.content.empty", { field })] : []),
    ...checkNearLimit(rules, "linkedin.text.nearLimit", field, measured),
  ];
}

function checkMedia(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("linkedin", draft, "mediaUrls");
  const kinds = draft.media.map((item) => namedKind(item.url));
  const count = (kind: string) => kinds.filter((found) => found === kind).length;
  const isTooMany =
    count("image") > rules["linkedin.media.count"].limit ||
    count("video") > 1 ||
    count("document") > 1;
  return [
    ...(isTooMany ? [breach(rules, "linkedin.media.count", { field })] : []),
    ...(new Set(kinds).size > 1 ? [breach(rules, "linkedin.media.mixed", { field })] : []),
    ...draft.media.flatMap((item, mediaIndex) => checkType(item.url, mediaIndex, field)),
    ...checkAltTexts(draft),
    ...checkTitle(draft, kinds),
  ];
}

/** Returns the kind of an upload by its content type, which LinkedIn takes. */
export function assetKindOf(contentType: string): Asset["kind"] {
  const kind = kindOfType(contentType);
  return kind === "audio" ? "document" : kind;
}

/** Returns the rule that keeps a file of this kind out of the post, although LinkedIn takes such files. */
export function brokenRule(
  kind: Asset["kind"],
  { isAlone, draft }: { readonly isAlone: boolean; readonly draft: LegDraft },
): "linkedin.media.mixed" | "linkedin.document.title" | undefined {
  if (kind !== "image" && !isAlone) return "linkedin.media.mixed";
  const lacksTitle = ownOptionsOf(draft.options).documentTitle === undefined;
  return kind === "document" && lacksTitle ? "linkedin.document.title" : undefined;
}

/** Returns what only the files themselves show: kinds that can't share a post, and a document without a title. */
export function checkFiles(
  draft: LegDraft,
  _limits: NetworkData,
  files: readonly (MediaFacts | null)[],
): readonly Problem[] {
  const isAlone = draft.media.length === 1;
  return files.flatMap((file, mediaIndex) => {
    const broken = file && brokenRule(assetKindOf(file.contentType), { isAlone, draft });
    if (!broken) return [];
    const field =
      broken === "linkedin.document.title"
        ? "platformOptions.linkedin.documentTitle"
        : fieldOf("linkedin", draft, "mediaUrls");
    return [breach(rules, broken, { field, mediaIndex })];
  });
}

function namedKind(url: string): MediaKind | "document" {
  return DOCUMENT_NAMES.test(extensionOf(url)) ? "document" : mediaKindOf(url);
}

/**
 * Returns a warning for a name that suggests a type that LinkedIn does not take, and an error for audio. The type
 * itself is checked when the file is fetched.
 */
function checkType(url: string, mediaIndex: number, field: string): readonly Problem[] {
  const kind = namedKind(url);
  const extension = extensionOf(url);
  const isForeign =
    kind === "audio" ||
    FOREIGN_NAMES.test(extension) ||
    (kind === "video" && !VIDEO_NAMES.test(extension));
  const severity = kind === "audio" ? "error" : "warning";
  return isForeign ? [breach(rules, "linkedin.media.type", { field, mediaIndex, severity })] : [];
}

function checkAltTexts(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("linkedin", draft, "altTexts");
  return draft.media.flatMap(({ url, altText }, mediaIndex) => {
    const { length: used } = altText ?? "";
    if (used > rules["linkedin.media.altText"].limit)
      return [breach(rules, "linkedin.media.altText", { field, mediaIndex })];
    return used > 0 && namedKind(url) !== "image"
      ? [breach(rules, "linkedin.media.altTextUnused", { field, mediaIndex })]
      : [];
  });
}

function checkTitle(draft: LegDraft, kinds: readonly string[]): readonly Problem[] {
  const { documentTitle } = ownOptionsOf(draft.options);
  if (documentTitle !== undefined || !kinds.includes("document")) return [];
  const field = "platformOptions.linkedin.documentTitle";
  return [breach(rules, "linkedin.document.title", { field })];
}

function checkOptions(draft: LegDraft, limits: NetworkData): readonly Problem[] {
  const { link, visibility } = ownOptionsOf(draft.options);
  const problems: Problem[] = [];
  if (link !== undefined && draft.media.length > 0) {
    const field = "platformOptions.linkedin.link";
    problems.push(breach(rules, "linkedin.link.media", { field }));
  }
  if (visibility === "CONNECTIONS" && authorKindOf(limits) === "organization") {
    const field = "platformOptions.linkedin.visibility";
    problems.push(breach(rules, "linkedin.visibility.organization", { field }));
  }
  return problems;
}

/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/images-api and …/videos-api */
export const TARGETS = {
  image: {
    types: ["image/jpeg", "image/png", "image/gif"],
    bytesMax: 20_000_000,
    pixelsMax: rules["linkedin.media.pixels"].limit,
    takesAnimation: true,
    turnsByExif: false,
  },
  video: { types: ["video/mp4"], bytesMax: 500_000_000, secondsMin: 3, secondsMax: 1_800 },
  // …/shares/documents-api
  document: { types: ["application/pdf"], bytesMax: 100_000_000 },
} as const satisfies MediaTargets;

export function media(): MediaTargets {
  return TARGETS;
}
