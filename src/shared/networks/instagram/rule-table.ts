import { shortenedAltTexts } from "../contract/alt-text.ts";
import { type RuleTable, nearLimit } from "../contract/rules.ts";

/** In UTF-16 units: Instagram names no unit, and this is the strictest that it can mean. */
const CAPTION_MAX = 2200;
const NOTHING = "Nothing needs to be done.";

export const rules = {
  "instagram.text.length": {
    severity: "error",
    code: "text_too_long",
    limit: CAPTION_MAX,
    unit: "UTF-16 units",
    message: "The text has {used} characters; Instagram allows {limit}.",
    remediation: "Shorten the text, or give Instagram its own with platformOptions.instagram.text.",
  },
  "instagram.text.nearLimit": nearLimit(CAPTION_MAX, "UTF-16 units"),
  "instagram.text.hashtags": {
    severity: "error",
    code: "text_invalid",
    limit: 30,
    unit: "hashtags",
    message: "The text has {used} hashtags; Instagram allows {limit}.",
    remediation: "Use fewer hashtags.",
  },
  "instagram.text.mentions": {
    severity: "error",
    code: "text_invalid",
    limit: 20,
    unit: "mentions",
    message: "The text has {used} mentions; Instagram allows {limit}.",
    remediation: "Use fewer mentions.",
  },
  "instagram.text.caption": {
    severity: "error",
    code: "text_invalid",
    message: "Instagram does not take this caption.",
    remediation: "Use at most 2,200 characters, 30 hashtags and 20 mentions.",
  },
  "instagram.account.kind": {
    severity: "error",
    code: "account_restricted",
    message: "The Instagram account is not a professional one.",
    remediation: "Make it a business or creator account, then reconnect it.",
  },
  "instagram.media.required": {
    severity: "error",
    code: "text_invalid",
    message: "Instagram takes no post without an image or a video.",
    remediation: "Give the post a media file, or leave Instagram out.",
  },
  "instagram.media.type": {
    severity: "error",
    code: "media_rejected",
    message: "Instagram takes images and MP4 or MOV videos, no audio and no other files.",
    remediation: "Remove the file, or make an image or a video of it.",
  },
  "instagram.media.count": {
    severity: "error",
    code: "media_rejected",
    limit: 10,
    unit: "files",
    message: "Instagram allows {limit} media files in a post.",
    remediation:
      "Use fewer media files, or give Instagram its own with platformOptions.instagram.mediaUrls.",
  },
  "instagram.media.fileType": {
    severity: "warning",
    code: "media_rejected",
    message: "Instagram takes JPEG images and MP4 or MOV videos only.",
    remediation: "Convert the file to JPEG or MP4.",
  },
  "instagram.media.size": {
    severity: "error",
    code: "media_rejected",
    limit: 8_388_608,
    unit: "bytes",
    message:
      "The file is larger than Instagram takes: {limit} bytes of an image, 300 MB of a video.",
    remediation: "Use a smaller file; the video of a story has 100 MB at most.",
  },
  "instagram.media.imageType": {
    severity: "error",
    code: "media_rejected",
    message: "Instagram takes JPEG images only.",
    remediation: "Convert the image to JPEG.",
  },
  "instagram.media.ratio": {
    severity: "error",
    code: "media_rejected",
    message: "Instagram takes images from 4:5 to 1.91:1.",
    remediation: "Crop the image.",
  },
  "instagram.media.videoType": {
    severity: "error",
    code: "media_rejected",
    message: "Instagram takes MP4 and MOV videos with H.264 or HEVC and AAC.",
    remediation: "Encode the video anew.",
  },
  "instagram.media.thumbOffset": {
    severity: "error",
    code: "media_rejected",
    message: "The cover is to be taken from beyond the video's end.",
    remediation: "Use a smaller platformOptions.instagram.thumbOffsetMs.",
  },
  "instagram.media.altText": shortenedAltTexts("Instagram", 1000),
  "instagram.media.altTextUnused": {
    severity: "warning",
    code: "media_rejected",
    message: "Instagram takes alternative texts of images only; that of the video is left out.",
    remediation: NOTHING,
  },
  "instagram.reel.media": {
    severity: "error",
    code: "media_rejected",
    message: "A reel is made of one video and nothing else.",
    remediation: "Give the post one video, or leave out platformOptions.instagram.kind.",
  },
  "instagram.reel.trial": {
    severity: "error",
    code: "invalid_request",
    message: "The account may not publish trial reels.",
    remediation: "Contact support with the post's id.",
  },
  "instagram.story.media": {
    severity: "error",
    code: "media_rejected",
    message: "A story is made of one image or one video.",
    remediation: "Give the post one media file, or leave out platformOptions.instagram.kind.",
  },
  "instagram.story.text": {
    severity: "warning",
    code: "text_invalid",
    message: "An Instagram story has no text; the text is left out.",
    remediation: "Put the text into the image or video.",
  },
  "instagram.story.altText": {
    severity: "warning",
    code: "media_rejected",
    message: "An Instagram story has no alternative text; it is left out.",
    remediation: NOTHING,
  },
  "instagram.story.account": {
    severity: "error",
    code: "invalid_request",
    message: "Instagram lets only business accounts publish stories by other programs.",
    remediation: "Make it a business account, or publish as a post or a reel.",
  },
  "instagram.collaborators.unused": {
    severity: "warning",
    code: "invalid_request",
    message: "Stories have no collaborators; they are left out.",
    remediation: NOTHING,
  },
  "instagram.coverUrl.unused": {
    severity: "warning",
    code: "invalid_request",
    message: "Only reels have coverUrl; it is left out of this post.",
    remediation: NOTHING,
  },
  "instagram.thumbOffsetMs.unused": {
    severity: "warning",
    code: "invalid_request",
    message: "Only reels have thumbOffsetMs; it is left out of this post.",
    remediation: NOTHING,
  },
  "instagram.shareToFeed.unused": {
    severity: "warning",
    code: "invalid_request",
    message: "Only reels have shareToFeed; it is left out of this post.",
    remediation: NOTHING,
  },
} as const satisfies RuleTable;
