import { shortenedAltTexts } from "../contract/alt-text.ts";
import { type RuleTable, nearLimit } from "../contract/rules.ts";

/** Of what was written, before it is escaped. */
const TEXT_MAX = 3000;

export const rules = {
  "linkedin.text.length": {
    severity: "error",
    code: "text_too_long",
    limit: TEXT_MAX,
    unit: "UTF-16 units",
    message: "The text has {used} characters; LinkedIn allows {limit}.",
    remediation: "Shorten the text, or give LinkedIn its own with platformOptions.linkedin.text.",
  },
  "linkedin.text.nearLimit": nearLimit(TEXT_MAX, "UTF-16 units"),
  "linkedin.content.empty": {
    severity: "error",
    code: "text_invalid",
    message: "The post has neither text nor media.",
    remediation: "Give the post a text or a media file.",
  },
  "linkedin.media.count": {
    severity: "error",
    code: "media_rejected",
    limit: 20,
    unit: "files",
    message: "LinkedIn allows {limit} images, one video or one document in a post.",
    remediation:
      "Use fewer media files, or give LinkedIn its own with platformOptions.linkedin.mediaUrls.",
  },
  "linkedin.media.mixed": {
    severity: "error",
    code: "media_rejected",
    message: "LinkedIn does not allow files of several kinds in one post.",
    remediation: "Use images alone, one video alone or one document alone.",
  },
  "linkedin.media.type": {
    severity: "error",
    code: "media_rejected",
    message:
      "LinkedIn takes JPEG, PNG and GIF images, MP4 video, and PDF, DOC(X) and PPT(X) documents.",
    remediation: "Convert the file to one of these.",
  },
  "linkedin.media.size": {
    severity: "error",
    code: "media_rejected",
    message: "The file is larger than LinkedIn takes.",
    remediation: "Use a smaller file.",
  },
  "linkedin.media.frames": {
    severity: "error",
    code: "media_rejected",
    limit: 250,
    unit: "frames",
    message: "A GIF has more than the {limit} frames that LinkedIn takes.",
    remediation: "Shorten the animation.",
  },
  "linkedin.media.pixels": {
    severity: "error",
    code: "media_rejected",
    limit: 36_152_319,
    unit: "pixels",
    message: "An image has more than the {limit} pixels that LinkedIn takes.",
    remediation: "Use a smaller image.",
  },
  "linkedin.media.altText": shortenedAltTexts("LinkedIn", 4086),
  "linkedin.media.altTextUnused": {
    severity: "warning",
    code: "media_rejected",
    message: "LinkedIn takes alternative texts of images only; that of this file is left out.",
    remediation: "Nothing needs to be done.",
  },
  "linkedin.document.title": {
    severity: "warning",
    code: "text_invalid",
    message: "The document has no title; the name of its file stands above it.",
    remediation: "Give the document a title with platformOptions.linkedin.documentTitle.",
  },
  "linkedin.link.media": {
    severity: "warning",
    code: "link_rejected",
    message: "A LinkedIn post shows either media or a link card; the card is left out.",
    remediation: "Remove the media or the link card.",
  },
  "linkedin.visibility.organization": {
    severity: "error",
    code: "invalid_request",
    message: "A company page has no connections that it could post to.",
    remediation: "Leave out the visibility, or link a member's account.",
  },
} as const satisfies RuleTable;
