import {
  type MediaKind,
  extensionOf,
  fieldOf,
  mediaKindOf,
  kindOfType,
  type LegDraft,
  type MediaItem,
  type NetworkData,
} from "../contract/draft.ts";
import { breach, checkNearLimit, type Problem, type TextMeasure } from "../contract/rules.ts";
import type { MediaFacts, MediaTargets } from "../contract/media.ts";
import { checkAltTexts } from "../contract/alt-text.ts";
import { shortenedText } from "../contract/text.ts";
import { ownOptionsOf, TITLE_CHARACTERS_MAX } from "./options.ts";
import { rules } from "./rule-table.ts";
import { type Asset, authorKindOf } from "./state.ts";

const DOCUMENT_NAMES = /^(?:pdf|docx?|pptx?)$/;
/** Of images those that can't be converted. */
const FOREIGN_NAMES = /^(?:heic|heif|bmp|svg)$/;
const VIDEO_NAMES = /^(?:mp4|m4v)$/;

/** As a request writes it; what is not exactly so is text. */
export const MENTION =
  /@\[([^[\]()\n]{1,200})\]\(urn:li:(?:(?:organization|organizationBrand):\d{1,20}|person:[\w-]{1,100})\)/g;

export function measure(draft: LegDraft): TextMeasure {
  // A mention counts as the name that readers see.
  const { length: usedCharacters } = draft.text.replace(MENTION, "$1");
  return { usedCharacters, maxCharacters: rules["linkedin.text.length"].limit };
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
  const known = new Set(kinds.filter((kind) => kind !== undefined));
  const count = (kind: string) => kinds.filter((found) => found === kind).length;
  const isTooMany =
    kinds.length > rules["linkedin.media.count"].limit ||
    count("video") > 1 ||
    count("document") > 1;
  return [
    ...(isTooMany ? [breach(rules, "linkedin.media.count", { field })] : []),
    ...(known.size > 1 ? [breach(rules, "linkedin.media.mixed", { field })] : []),
    ...draft.media.flatMap((item, mediaIndex) => checkType(item.url, mediaIndex, field)),
    ...checkUnusedAltTexts(draft),
    ...checkAltTexts(rules, "linkedin.media.altText", draft, { takes: isImage }),
    ...(known.has("document") ? checkTitle(draft) : []),
  ];
}

/** Returns the kind of an upload by its content type, which LinkedIn takes. */
export function assetKindOf(contentType: string): Asset["kind"] {
  const kind = kindOfType(contentType);
  return kind === "audio" ? "document" : kind;
}

/** Returns what only the files themselves show: kinds that can't share a post, and a document without a title. */
export function checkFiles(
  draft: LegDraft,
  _limits: NetworkData,
  files: readonly (MediaFacts | null)[],
): readonly Problem[] {
  const isAlone = draft.media.length === 1;
  return files.flatMap((file, mediaIndex) => {
    const kind = file === null ? "image" : assetKindOf(file.contentType);
    if (kind === "image") return [];
    if (!isAlone) {
      const field = fieldOf("linkedin", draft, "mediaUrls");
      return [breach(rules, "linkedin.media.mixed", { field, mediaIndex })];
    }
    return kind === "document" ? checkTitle(draft) : [];
  });
}

function namedKind(url: string): MediaKind | "document" | undefined {
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

function isImage({ url }: MediaItem): boolean {
  return (namedKind(url) ?? "image") === "image";
}

function checkUnusedAltTexts(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("linkedin", draft, "altTexts");
  return draft.media.flatMap((item, mediaIndex) =>
    (item.altText ?? "") === "" || isImage(item)
      ? []
      : [breach(rules, "linkedin.media.altTextUnused", { field, mediaIndex })],
  );
}

function checkTitle(draft: LegDraft): readonly Problem[] {
  if (ownOptionsOf(draft.options).documentTitle !== undefined) return [];
  const field = "platformOptions.linkedin.documentTitle";
  return [breach(rules, "linkedin.document.title", { field })];
}

/** Returns what readers see above a document: the title that was given, else the name of its file. */
export function documentTitleOf(draft: LegDraft): string {
  const { documentTitle } = ownOptionsOf(draft.options);
  if (documentTitle !== undefined) return documentTitle;
  const { pathname } = new URL(draft.media[0]?.url ?? "https://file/Document");
  const name = pathname.split("/").at(-1) ?? "";
  const title = decoded(name)
    .replace(/\.[a-z]{3,4}$/i, "")
    .replace(/[-_\s]+/g, " ")
    .trim();
  return shortenedText(title === "" ? "Document" : title, TITLE_CHARACTERS_MAX);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
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

const DOCUMENT_TYPES = [
  "application/pdf",
  "application/msword",
  "application/vnd.ms-powerpoint",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
] as const;

/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/images-api and …/videos-api */
export const TARGETS = {
  image: {
    types: ["image/jpeg", "image/png", "image/gif"],
    bytesMax: 20_000_000,
    pixelsMax: rules["linkedin.media.pixels"].limit,
    plays: ["image/gif"],
    framesMax: rules["linkedin.media.frames"].limit,
    turnsByExif: false,
  },
  video: { types: ["video/mp4"], bytesMax: 500_000_000, secondsMin: 3, secondsMax: 1_800 },
  // …/shares/documents-api
  document: { types: DOCUMENT_TYPES, bytesMax: 100_000_000 },
} as const satisfies MediaTargets;

export function media(): MediaTargets {
  return TARGETS;
}
