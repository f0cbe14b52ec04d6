import { shortenedAltTexts } from "../contract/alt-text.ts";
import { type RuleTable, nearLimit } from "../contract/rules.ts";

/** Mastodon's own limits, which hold where the account's server tells no others. */
const CHARACTERS_MAX = 500;

export const rules = {
  "mastodon.text.length": {
    severity: "error",
    code: "text_too_long",
    limit: CHARACTERS_MAX,
    unit: "characters",
    variesByServer: true,
    message: "The text counts {used} characters; this server allows {limit}.",
    remediation: "Shorten the text, or give Mastodon its own with platformOptions.mastodon.text.",
  },
  "mastodon.text.nearLimit": { ...nearLimit(CHARACTERS_MAX, "characters"), variesByServer: true },
  "mastodon.content.empty": {
    severity: "error",
    code: "text_invalid",
    message: "The post has neither text nor media.",
    remediation: "Give the post a text or a media file.",
  },
  "mastodon.media.required": {
    severity: "error",
    code: "media_rejected",
    variesByServer: true,
    message: "This server takes no post without a media file.",
    remediation: "Add an image or a video, or link an account on another server.",
  },
  "mastodon.media.count": {
    severity: "error",
    code: "media_rejected",
    limit: 4,
    unit: "files",
    variesByServer: true,
    message: "The post has {used} media files; this server allows {limit}.",
    remediation:
      "Use fewer media files, or give Mastodon its own with platformOptions.mastodon.mediaUrls.",
  },
  "mastodon.media.mixed": {
    severity: "error",
    code: "media_rejected",
    variesByServer: true,
    message: "Mastodon allows several images, or one video or audio file alone.",
    remediation: "Use images alone, or one video or audio file alone.",
  },
  "mastodon.media.type": {
    severity: "error",
    code: "media_rejected",
    variesByServer: true,
    message: "The server does not take files of this type.",
    remediation: "Convert the file to JPEG or MP4.",
  },
  "mastodon.media.size": {
    severity: "error",
    code: "media_rejected",
    limit: 16_777_216,
    unit: "bytes",
    variesByServer: true,
    message: "The file is larger than the server takes.",
    remediation: "Use a smaller file.",
  },
  "mastodon.media.pixels": {
    severity: "error",
    code: "media_rejected",
    limit: 33_177_600,
    unit: "pixels",
    variesByServer: true,
    message: "An image has more pixels than the server takes.",
    remediation: "Use a smaller image.",
  },
  "mastodon.media.altText": { ...shortenedAltTexts("this server", 1500), variesByServer: true },
  "mastodon.focus.count": {
    severity: "error",
    code: "invalid_request",
    message: "There are more focal points than media files.",
    remediation: "Give platformOptions.mastodon.focus as many entries as there are media files.",
  },
} as const satisfies RuleTable;
