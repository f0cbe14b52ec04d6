import { longAltTexts, shortenedAltTexts, unusedAltTexts } from "../contract/alt-text.ts";
import { extensionOf, fieldOf, kindOfType, mediaKindOf } from "../contract/draft.ts";
import type { LegDraft, MediaItem, MediaKind, NetworkData } from "../contract/draft.ts";
import type { MediaTargets, OptionPicture } from "../contract/media.ts";
import type { CheckFiles } from "../contract/network.ts";
import { breach, checkRules, ruleRows, textRules } from "../contract/rules.ts";
import type { Problem, TextMeasure } from "../contract/rules.ts";
import { isBlank, shortenedText } from "../contract/text.ts";
import { ownOptionsOf, TITLE_CHARACTERS_MAX } from "./options.ts";
import { type Asset, type AuthorKind, authorKindOf } from "./state.ts";

type NamedKind = MediaKind | "document" | undefined;

interface Facts {
  readonly draft: LegDraft;
  readonly options: ReturnType<typeof ownOptionsOf>;
  readonly measured: TextMeasure;
  /** By the names of the files. */
  readonly kinds: readonly NamedKind[];
  readonly author: AuthorKind | undefined;
}

const { error, warning } = ruleRows<Facts>();
const FILES_MAX = 20;
const FRAMES_MAX = 250;
const PAGES_MAX = 300;
const PIXELS_MAX = 36_152_319;
const ALT_TEXT_MAX = 4086;

export const rules = {
  // The text before it is escaped.
  ...textRules({
    network: "linkedin",
    id: "length",
    limit: 3000,
    unit: "UTF-16 units",
  }),
  "linkedin.content.empty": error("text_invalid", {
    field: "text",
    broken: ({ draft: { text, media }, options }) =>
      isBlank(text) && media.length === 0 && options.link === undefined,
  }),
  "linkedin.media.count": error("media_rejected", {
    limit: FILES_MAX,
    unit: "files",
    broken: ({ kinds }) =>
      kinds.length > FILES_MAX || countOf(kinds, "video") > 1 || countOf(kinds, "document") > 1,
  }),
  "linkedin.media.mixed": error("media_rejected", {
    broken: ({ kinds }) => new Set(kinds.filter((kind) => kind !== undefined)).size > 1,
  }),
  "linkedin.media.type": error("media_rejected", {
    broken: ({ kinds }) => kinds.flatMap((kind, index) => (kind === "audio" ? [index] : [])),
  }),
  "linkedin.media.typeUnknown": warning("type_unknown", {
    broken: ({ draft }) => draft.media.flatMap(foreignType),
  }),
  "linkedin.media.size": error("media_rejected"),
  "linkedin.media.frames": error("media_rejected", {
    limit: FRAMES_MAX,
    unit: "frames",
  }),
  "linkedin.media.pages": error("media_rejected", {
    limit: PAGES_MAX,
    unit: "pages",
  }),
  "linkedin.media.pixels": error("media_rejected", {
    limit: PIXELS_MAX,
    unit: "pixels",
  }),
  "linkedin.altText.shortened": warning("alt_text_shortened", {
    ...shortenedAltTexts(ALT_TEXT_MAX),
    field: "altTexts",
    broken: ({ draft }) => longAltTexts(draft, ALT_TEXT_MAX, isImage),
  }),
  "linkedin.altText.unused": warning("option_unused", {
    field: "altTexts",
    broken: ({ draft }) => unusedAltTexts(draft, isImage),
  }),
  "linkedin.document.title": warning("default_used", {
    field: "documentTitle",
    broken: ({ kinds, options }) =>
      kinds.includes("document") && options.documentTitle === undefined,
  }),
  "linkedin.document.form": warning("type_unknown"),
  "linkedin.documentTitle.unused": warning("option_unused", {
    broken: ({ kinds, options }) =>
      options.documentTitle !== undefined &&
      kinds.every((kind) => kind !== undefined && kind !== "document"),
  }),
  "linkedin.link.media": warning("link_card_skipped", {
    broken: ({ draft, options }) => options.link !== undefined && draft.media.length > 0,
  }),
  "linkedin.visibility.organization": error("feature_unsupported", {
    broken: ({ options, author }) =>
      options.visibility === "CONNECTIONS" && author === "organization",
  }),
  "linkedin.calls.appDay": error("rate_limited"),
  "linkedin.calls.limited": error("rate_limited"),
};

/** In the form of a request. Anything that isn't exactly in this form is text. */
export const MENTION =
  /@\[([^[\]()\n]{1,200})\]\(urn:li:(?:(?:organization|organizationBrand):\d{1,20}|person:[\w-]{1,100})\)/g;

export function measure(draft: LegDraft): TextMeasure {
  // A mention counts as the name that readers see.
  const { length: usedCharacters } = draft.text.replace(MENTION, "$1");
  return { usedCharacters, maxCharacters: rules["linkedin.text.length"].limit };
}

function factsOf(draft: LegDraft, kinds: readonly NamedKind[], limits: NetworkData): Facts {
  const options = ownOptionsOf(draft);
  return { draft, options, measured: measure(draft), kinds, author: authorKindOf(limits) };
}

export function check(draft: LegDraft, limits: NetworkData): readonly Problem[] {
  const kinds = draft.media.map(({ url }) => namedKind(url));
  return checkRules(rules, factsOf(draft, kinds, limits));
}

/** Finds problems that only the files show: kinds that can't share a post, and a document without a title. */
export const checkFiles: CheckFiles = (draft, limits, files) => {
  const kinds = files.map((file) => (file === null ? "image" : assetKindOf(file.contentType)));
  if (draft.media.length === 1) {
    const title = { "linkedin.document.title": rules["linkedin.document.title"] };
    const found = checkRules(title, factsOf(draft, kinds, limits));
    const place = { field: fieldOf("linkedin", draft, "mediaUrls"), mediaIndex: 0 };
    return files[0]?.isDynamicForm === true
      ? [...found, breach(rules, "linkedin.document.form", place)]
      : found;
  }
  const field = fieldOf("linkedin", draft, "mediaUrls");
  return kinds.flatMap((kind, mediaIndex) =>
    kind === "image" ? [] : [breach(rules, "linkedin.media.mixed", { field, mediaIndex })],
  );
};

export function assetKindOf(contentType: string): Asset["kind"] {
  const kind = kindOfType(contentType);
  return kind === "audio" ? "document" : kind;
}

function countOf(kinds: readonly NamedKind[], kind: NamedKind): number {
  return kinds.filter((found) => found === kind).length;
}

function namedKind(url: string): NamedKind {
  return /^(?:pdf|docx?|pptx?)$/.test(extensionOf(url)) ? "document" : mediaKindOf(url);
}

function isImage({ url }: MediaItem): boolean {
  return (namedKind(url) ?? "image") === "image";
}

/** Returns a file whose name suggests a type that LinkedIn doesn't accept. */
function foreignType({ url }: MediaItem, mediaIndex: number) {
  const kind = namedKind(url);
  const extension = extensionOf(url);
  // Image types that can't be converted.
  const isForeign =
    /^(?:bmp|svg)$/.test(extension) || (kind === "video" && !/^(?:mp4|m4v)$/.test(extension));
  return isForeign ? [mediaIndex] : [];
}

/**
 * Returns the title that readers see above a document: the given one, or else the name of its file, which is what its
 * server calls it, or else the last part of its address.
 */
export function documentTitleOf(draft: LegDraft, fileName?: string): string {
  const { documentTitle } = ownOptionsOf(draft);
  if (documentTitle !== undefined) return documentTitle;
  const { pathname } = new URL(draft.media[0]?.url ?? "https://file/Document");
  const title = (fileName ?? decoded(pathname.split("/").at(-1) ?? ""))
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
    pixelsMax: PIXELS_MAX,
    plays: ["image/gif"],
    framesMax: FRAMES_MAX,
    turnsByExif: false,
  },
  video: { types: ["video/mp4"], bytesMax: 500_000_000, secondsMin: 3, secondsMax: 1_800 },
  // …/shares/documents-api
  document: { types: DOCUMENT_TYPES, bytesMax: 100_000_000, pagesMax: PAGES_MAX },
} as const satisfies MediaTargets;

export function media(): MediaTargets {
  return TARGETS;
}

/** Returns the picture of a card, unless media take the card's place. */
export function pictures(draft: LegDraft): readonly OptionPicture[] {
  const url = ownOptionsOf(draft).link?.thumbnailUrl;
  if (url === undefined || draft.media.length > 0) return [];
  return [{ option: "link.thumbnailUrl", url, target: TARGETS.image }];
}
