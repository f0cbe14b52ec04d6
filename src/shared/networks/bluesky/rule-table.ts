import { shortenedAltTexts } from "../contract/alt-text.ts";
import { type RuleTable, nearLimit } from "../contract/rules.ts";

const GRAPHEMES_MAX = 300;

export const rules = {
  "bluesky.text.graphemes": {
    severity: "error",
    code: "text_too_long",
    limit: GRAPHEMES_MAX,
    unit: "graphemes",
    message: "The text has {used} characters; Bluesky allows {limit}.",
    remediation: "Shorten the text, or give Bluesky its own with platformOptions.bluesky.text.",
  },
  "bluesky.text.nearLimit": nearLimit(GRAPHEMES_MAX, "graphemes"),
  "bluesky.text.bytes": {
    severity: "error",
    code: "text_too_long",
    limit: 3000,
    unit: "bytes",
    message: "The text has {used} bytes; Bluesky allows {limit}.",
    remediation: "Use fewer emoji and combined characters, or shorten the text.",
  },
  "bluesky.content.empty": {
    severity: "error",
    code: "text_invalid",
    message: "The post has neither text nor media.",
    remediation: "Give the post a text or a media file.",
  },
  "bluesky.media.count": {
    severity: "error",
    code: "media_rejected",
    limit: 10,
    unit: "files",
    message: "Bluesky allows {limit} images or one video in a post.",
    remediation:
      "Use fewer media files, or give Bluesky its own with platformOptions.bluesky.mediaUrls.",
  },
  "bluesky.media.mixed": {
    severity: "error",
    code: "media_rejected",
    message: "Bluesky does not allow images and a video in one post.",
    remediation: "Use images alone or one video alone.",
  },
  "bluesky.media.type": {
    severity: "error",
    code: "media_rejected",
    message:
      "Bluesky takes images and videos as MP4, MOV, WebM or MPEG; some servers take MP4 alone.",
    remediation: "Convert the file to MP4.",
  },
  "bluesky.media.size": {
    severity: "error",
    code: "media_rejected",
    variesByServer: true,
    message: "The file is larger than Bluesky or the account's server takes.",
    remediation: "Use a smaller file.",
  },
  "bluesky.media.duration": {
    severity: "error",
    code: "media_rejected",
    message: "The video is longer than the 10 minutes that Bluesky takes.",
    remediation: "Use a shorter video.",
  },
  // Of the official client (`MAX_ALT_TEXT` in bluesky-social/social-app); records themselves have no limit.
  "bluesky.media.altText": shortenedAltTexts("Bluesky", 2000),
  // `alt` of `app.bsky.embed.video`, which counts graphemes: this is the strictest that it can mean.
  "bluesky.media.altTextVideo": shortenedAltTexts("a video on Bluesky", 1000),
  "bluesky.linkCard.media": {
    severity: "warning",
    code: "link_rejected",
    message: "A Bluesky post shows either media or a link card; the card is left out.",
    remediation: "Remove the media or the link card.",
  },
} as const satisfies RuleTable;
