import type { MediaKind } from "../draft-rules.ts";
import { errorOf, extensionOf, fieldOf, mediaKindOf } from "../draft-rules.ts";
import { nearLimitWarning, warningOf } from "../draft-rules.ts";
import type { LegDraft, NetworkData, Problem, TextMeasure } from "../network.ts";
import { ownOptionsOf } from "./options.ts";
import type { Asset } from "./state.ts";
import { authorKindOf } from "./state.ts";

export const RULES = {
  /** Of what was written, before it is escaped. */
  textMax: 3000,
  imagesMax: 20,
  altTextMax: 4086,
  imagePixelsMax: 36_152_319,
  imageBytesMax: 20_000_000,
  /** LinkedIn takes 500 MB; the file is held in memory. */
  videoBytesMax: 300_000_000,
  documentBytesMax: 100_000_000,
} as const;

export const KIND_BY_TYPE: Readonly<Record<string, Asset["kind"]>> = {
  "image/jpeg": "image",
  "image/png": "image",
  "image/gif": "image",
  "video/mp4": "video",
  "application/pdf": "document",
};

const DOCUMENT_NAMES = /^(?:pdf|docx?|pptx?)$/;
const FOREIGN_NAMES = /^(?:webp|avif|heic|heif|bmp|tiff?|svg|docx?|pptx?)$/;
const VIDEO_NAMES = /^(?:mp4|m4v)$/;

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: RULES.textMax };
}

export function check(draft: LegDraft, limits: NetworkData): readonly Problem[] {
  return [...checkText(draft), ...checkMedia(draft), ...checkOptions(draft, limits)];
}

function checkText(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("linkedin", draft, "text");
  const measured = measure(draft);
  const problems: Problem[] = [];
  if (measured.usedCharacters > measured.maxCharacters) {
    problems.push(
      errorOf({
        code: "text_too_long",
        rule: "linkedin.text.length",
        message: `The text has ${measured.usedCharacters} characters; LinkedIn allows ${measured.maxCharacters}.`,
        remediation:
          "Shorten the text, or give LinkedIn its own with platformOptions.linkedin.text.",
        field,
      }),
    );
  }
  const hasContent = draft.media.length > 0 || ownOptionsOf(draft.options).link !== undefined;
  if (draft.text.trim() === "" && !hasContent) {
    problems.push(
      errorOf({
        code: "text_invalid",
        rule: "linkedin.content.empty",
        message: "The post has neither text nor media.",
        remediation: "Give the post a text or a media file.",
        field,
      }),
    );
  }
  return [...problems, ...nearLimitWarning("linkedin.text.nearLimit", field, measured)];
}

function checkMedia(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("linkedin", draft, "mediaUrls");
  const kinds = draft.media.map((item) => namedKind(item.url));
  const count = (kind: string) => kinds.filter((found) => found === kind).length;
  const problems: Problem[] = [];
  if (count("image") > RULES.imagesMax || count("video") > 1 || count("document") > 1) {
    problems.push(
      errorOf({
        code: "media_rejected",
        rule: "linkedin.media.count",
        message: `LinkedIn allows ${RULES.imagesMax} images, one video or one document in a post.`,
        remediation:
          "Use fewer media files, or give LinkedIn its own with platformOptions.linkedin.mediaUrls.",
        field,
      }),
    );
  }
  if (new Set(kinds).size > 1) {
    problems.push(
      errorOf({
        code: "media_rejected",
        rule: "linkedin.media.mixed",
        message: "LinkedIn does not allow files of several kinds in one post.",
        remediation: "Use images alone, one video alone or one document alone.",
        field,
      }),
    );
  }
  return [
    ...problems,
    ...draft.media.flatMap((item, mediaIndex) => checkType(item.url, mediaIndex, field)),
    ...checkAltTexts(draft),
    ...checkTitle(draft, kinds),
  ];
}

function namedKind(url: string): MediaKind | "document" {
  return DOCUMENT_NAMES.test(extensionOf(url)) ? "document" : mediaKindOf(url);
}

/** A file's type is judged by its content when it is fetched; what its name says can only warn, except for audio. */
function checkType(url: string, mediaIndex: number, field: string): readonly Problem[] {
  const kind = namedKind(url);
  const extension = extensionOf(url);
  const isForeign =
    kind === "audio" ||
    FOREIGN_NAMES.test(extension) ||
    (kind === "video" && !VIDEO_NAMES.test(extension));
  if (!isForeign) return [];
  const problem = {
    code: "media_rejected",
    rule: "linkedin.media.type",
    message: "LinkedIn takes JPEG, PNG and GIF images, MP4 video and PDF documents.",
    remediation: "Convert the file to one of these.",
    field,
    mediaIndex,
  } as const;
  return [kind === "audio" ? errorOf(problem) : warningOf(problem)];
}

function checkAltTexts(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("linkedin", draft, "altTexts");
  return draft.media.flatMap(({ altText }, mediaIndex) =>
    (altText ?? "").length <= RULES.altTextMax
      ? []
      : [
          errorOf({
            code: "media_rejected",
            rule: "linkedin.media.altText",
            message: `The alternative text is longer than ${RULES.altTextMax} characters.`,
            remediation: "Shorten the alternative text.",
            field,
            mediaIndex,
          }),
        ],
  );
}

function checkTitle(draft: LegDraft, kinds: readonly string[]): readonly Problem[] {
  const { documentTitle } = ownOptionsOf(draft.options);
  if (documentTitle !== undefined || !kinds.includes("document")) return [];
  return [
    errorOf({
      code: "text_invalid",
      rule: "linkedin.document.title",
      message: "LinkedIn does not take a document without a title.",
      remediation: "Give the document a title with platformOptions.linkedin.documentTitle.",
      field: "platformOptions.linkedin.documentTitle",
    }),
  ];
}

function checkOptions(draft: LegDraft, limits: NetworkData): readonly Problem[] {
  const { link, visibility } = ownOptionsOf(draft.options);
  const problems: Problem[] = [];
  if (link !== undefined && draft.media.length > 0) {
    problems.push(
      warningOf({
        code: "link_rejected",
        rule: "linkedin.link.media",
        message: "A LinkedIn post shows either media or a link card; the card is left out.",
        remediation: "Remove the media or the link card.",
        field: "platformOptions.linkedin.link",
      }),
    );
  }
  if (visibility === "CONNECTIONS" && authorKindOf(limits) === "organization") {
    problems.push(
      errorOf({
        code: "invalid_request",
        rule: "linkedin.visibility.organization",
        message: "A company page has no connections that it could post to.",
        remediation: "Leave out the visibility, or link a member's account.",
        field: "platformOptions.linkedin.visibility",
      }),
    );
  }
  return problems;
}
