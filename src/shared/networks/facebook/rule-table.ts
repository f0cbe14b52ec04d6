import { shortenedAltTexts } from "../contract/alt-text.ts";
import { type RuleTable, nearLimit } from "../contract/rules.ts";

/** Stated everywhere and in no document of Facebook's own. */
const TEXT_MAX = 63_206;
/** Facebook publishes no number; what public clients hold to. */
const PHOTOS_MAX = 10;

const OWN_TEXT =
  "Shorten the text, or give Facebook its own with platformOptions.facebook.text." as const;
const ANOTHER_VIDEO = "Use another video, or leave out platformOptions.facebook.kind.";

export const rules = {
  "facebook.text.length": {
    severity: "error",
    code: "text_too_long",
    limit: TEXT_MAX,
    unit: "UTF-16 units",
    message: "The text has {used} characters; Facebook allows {limit}.",
    remediation: OWN_TEXT,
  },
  "facebook.text.nearLimit": nearLimit(TEXT_MAX, "UTF-16 units"),
  "facebook.content.empty": {
    severity: "error",
    code: "text_invalid",
    message: "The post has neither text nor media nor a link.",
    remediation: "Give the post a text, a media file or a link.",
  },
  "facebook.media.type": {
    severity: "error",
    code: "media_rejected",
    message: "Facebook takes images and videos, no audio and no other files.",
    remediation: "Remove the file, or make an image or a video of it.",
  },
  "facebook.media.mixed": {
    severity: "error",
    code: "media_rejected",
    message: "Facebook does not allow images and a video in one post.",
    remediation: "Use images alone or one video alone.",
  },
  "facebook.media.count": {
    severity: "error",
    code: "media_rejected",
    limit: PHOTOS_MAX,
    unit: "files",
    message: "Facebook allows {limit} images or one video in a post.",
    remediation:
      "Use fewer media files, or give Facebook its own with platformOptions.facebook.mediaUrls.",
  },
  "facebook.media.image": {
    severity: "error",
    code: "media_rejected",
    message: "Facebook could not use an image of the post.",
    remediation: "Use a JPEG of at most 10 MB.",
  },
  "facebook.media.imageType": {
    severity: "warning",
    code: "media_rejected",
    message: "Facebook takes JPEG, PNG, GIF, BMP and TIFF images.",
    remediation: "Convert the image to JPEG.",
  },
  "facebook.media.altText": {
    severity: "warning",
    code: "media_rejected",
    message: "Facebook takes alternative texts of images only; that of the video is left out.",
    remediation: "Nothing needs to be done.",
  },
  // Meta documents a limit for Instagram alone; for Facebook's `alt_text_custom` it is taken to be the same.
  "facebook.media.altTextLength": shortenedAltTexts("Facebook", 1000),
  "facebook.reel.media": {
    severity: "error",
    code: "media_rejected",
    message: "A reel is made of one video and nothing else.",
    remediation: "Give the post one video, or leave out platformOptions.facebook.kind.",
  },
  "facebook.story.media": {
    severity: "error",
    code: "media_rejected",
    message: "A story is made of one image or one video.",
    remediation: "Give the post one media file, or leave out platformOptions.facebook.kind.",
  },
  "facebook.story.text": {
    severity: "warning",
    code: "text_invalid",
    message: "A Facebook story has no text; the text is left out.",
    remediation: "Put the text into the image or video.",
  },
  "facebook.title.unused": {
    severity: "warning",
    code: "invalid_request",
    message: "Only videos have a title; it is left out of this post.",
    remediation: "Nothing needs to be done.",
  },
  "facebook.link.own": {
    severity: "error",
    code: "link_rejected",
    message: "Facebook does not take links to itself.",
    remediation: "Leave out platformOptions.facebook.link, or link to another site.",
  },
  "facebook.link.media": {
    severity: "warning",
    code: "link_rejected",
    message: "A Facebook post shows either media or a link card; the card is left out.",
    remediation: "Remove the media or the link.",
  },
  "facebook.video.ratio": {
    severity: "error",
    code: "media_rejected",
    message: "Facebook takes reels and stories of 9:16 only.",
    remediation: ANOTHER_VIDEO,
  },
  "facebook.video.resolution": {
    severity: "error",
    code: "media_rejected",
    message: "Facebook takes reels and stories from 540 by 960 pixels on.",
    remediation: ANOTHER_VIDEO,
  },
  "facebook.video.duration": {
    severity: "error",
    code: "media_rejected",
    message: "Facebook takes reels of 3 to 90 seconds and video stories of at most 60.",
    remediation: ANOTHER_VIDEO,
  },
  "facebook.video.frameRate": {
    severity: "error",
    code: "media_rejected",
    message: "Facebook takes reels and stories of 24 to 60 pictures a second.",
    remediation: ANOTHER_VIDEO,
  },
} as const satisfies RuleTable;
