import {
  errorOf,
  extensionOf,
  fieldOf,
  mediaKindOf,
  nearLimitWarning,
  warningOf,
} from "../draft-rules.ts";
import type { LegDraft, Problem, TextMeasure } from "../network.ts";
import type { Form } from "./forms.ts";
import { formOf, isForm, MEDIA_RULES } from "./forms.ts";
import { ownOptionsOf } from "./options.ts";

const TEXT_MAX = 63_206;
/** Said by the name alone; the file itself is judged by Facebook. */
const UNUSUAL_IMAGES: ReadonlySet<string> = new Set(["webp", "heic", "avif", "svg"]);
const OWN_HOSTS = /(?:^|\.)(?:facebook|fb)\.com$/i;

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: TEXT_MAX };
}

/** A reel that Facebook does not take as one becomes an ordinary video, but is counted before that is known. */
export function quotaOf(draft: LegDraft): string | undefined {
  return formNamed(draft) === "reel" ? "reels" : undefined;
}

export function check(draft: LegDraft): readonly Problem[] {
  return [...checkText(draft), ...checkMedia(draft), ...checkLink(draft)];
}

/** By the names of the files alone. */
function formNamed(draft: LegDraft): ReturnType<typeof formOf> {
  const kinds = draft.media.map((item) => mediaKindOf(item.url));
  return formOf(ownOptionsOf(draft.options).kind, kinds);
}

function checkText(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("facebook", draft, "text");
  const measured = measure(draft);
  const problems: Problem[] = [];
  if (measured.usedCharacters > TEXT_MAX) {
    problems.push(
      errorOf({
        code: "text_too_long",
        rule: "facebook.text.length",
        message: `The text has ${measured.usedCharacters} characters; Facebook allows ${TEXT_MAX}.`,
        remediation:
          "Shorten the text, or give Facebook its own with platformOptions.facebook.text.",
        field,
      }),
    );
  }
  const { link } = ownOptionsOf(draft.options);
  if (draft.text.trim() === "" && draft.media.length === 0 && link === undefined) {
    problems.push(
      errorOf({
        code: "text_invalid",
        rule: "facebook.content.empty",
        message: "The post has neither text nor media nor a link.",
        remediation: "Give the post a text, a media file or a link.",
        field,
      }),
    );
  }
  return [...problems, ...nearLimitWarning("facebook.text.nearLimit", field, measured)];
}

function checkMedia(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("facebook", draft, "mediaUrls");
  const form = formNamed(draft);
  if (!isForm(form)) {
    return [errorOf({ code: "media_rejected", rule: form, ...MEDIA_RULES[form], field })];
  }
  return [
    ...draft.media.flatMap((item, mediaIndex) => checkType(item.url, mediaIndex, field)),
    ...checkLeftOut(draft, form),
  ];
}

function checkType(url: string, mediaIndex: number, field: string): readonly Problem[] {
  if (!UNUSUAL_IMAGES.has(extensionOf(url))) return [];
  return [
    warningOf({
      code: "media_rejected",
      rule: "facebook.media.imageType",
      message: "Facebook takes JPEG, PNG, GIF, BMP and TIFF images.",
      remediation: "Convert the image to JPEG.",
      field,
      mediaIndex,
    }),
  ];
}

/** What a form has no place for is not published: better known before. */
function checkLeftOut(draft: LegDraft, form: Form): readonly Problem[] {
  const isStory = form === "photo_story" || form === "video_story";
  const hasPhotos = form === "photos" || form === "photo_story";
  const problems: Problem[] = [];
  if (isStory && draft.text.trim() !== "") {
    problems.push(
      warningOf({
        code: "text_invalid",
        rule: "facebook.story.text",
        message: "A Facebook story has no text; the text is left out.",
        remediation: "Put the text into the image or video.",
        field: fieldOf("facebook", draft, "text"),
      }),
    );
  }
  const described = draft.media.findIndex((item) => (item.altText ?? "") !== "");
  if (described >= 0 && !hasPhotos) {
    problems.push(
      warningOf({
        code: "media_rejected",
        rule: "facebook.media.altText",
        message: "Facebook takes alternative texts of images only; that of the video is left out.",
        remediation: "Nothing needs to be done.",
        field: fieldOf("facebook", draft, "altTexts"),
        mediaIndex: described,
      }),
    );
  }
  return problems;
}

function checkLink(draft: LegDraft): readonly Problem[] {
  const { link } = ownOptionsOf(draft.options);
  if (link === undefined) return [];
  const field = "platformOptions.facebook.link";
  if (OWN_HOSTS.test(new URL(link).hostname)) {
    return [
      errorOf({
        code: "link_rejected",
        rule: "facebook.link.own",
        message: "Facebook does not take links to itself.",
        remediation: "Leave out platformOptions.facebook.link, or link to another site.",
        field,
      }),
    ];
  }
  if (draft.media.length === 0) return [];
  return [
    warningOf({
      code: "link_rejected",
      rule: "facebook.link.media",
      message: "A Facebook post shows either media or a link card; the card is left out.",
      remediation: "Remove the media or the link.",
      field,
    }),
  ];
}
