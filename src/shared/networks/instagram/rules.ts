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
import { formOf, isForm, isStory, MEDIA_RULES } from "./forms.ts";
import { ownOptionsOf } from "./options.ts";

/** In UTF-16 units: Instagram names no unit, and this is the strictest that it can mean. */
const CAPTION_MAX = 2200;
const ALT_TEXT_MAX = 1000;

/** What a caption may hold only so many of. */
const COUNTED = [
  {
    rule: "instagram.text.hashtags",
    what: "hashtags",
    max: 30,
    pattern: /(?<![\w&])#[\p{L}\p{N}_]+/gu,
  },
  { rule: "instagram.text.mentions", what: "mentions", max: 20, pattern: /(?<![\w.])@[\w.]+/g },
] as const;

/** Said by the name alone; the file itself is judged by Instagram. */
const UNUSUAL_FILES: Readonly<Record<string, string>> = {
  png: "JPEG",
  webp: "JPEG",
  gif: "JPEG",
  heic: "JPEG",
  avif: "JPEG",
  bmp: "JPEG",
  tif: "JPEG",
  tiff: "JPEG",
  svg: "JPEG",
  webm: "MP4",
  mkv: "MP4",
  avi: "MP4",
};

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: CAPTION_MAX };
}

/** A carousel counts as one post, a story as well. */
export function quotaOf(): string {
  return "posts";
}

export function check(draft: LegDraft): readonly Problem[] {
  const kinds = draft.media.map((item) => mediaKindOf(item.url));
  const form = formOf(ownOptionsOf(draft.options).kind, kinds);
  return [...checkText(draft), ...checkMedia(draft, form), ...checkLeftOut(draft, form)];
}

function checkText(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("instagram", draft, "text");
  const measured = measure(draft);
  const counts = COUNTED.flatMap((counted) => checkCount(draft.text, counted, field));
  if (measured.usedCharacters <= CAPTION_MAX)
    return [...counts, ...nearLimitWarning("instagram.text.nearLimit", field, measured)];
  const tooLong = errorOf({
    code: "text_too_long",
    rule: "instagram.text.length",
    message: `The text has ${measured.usedCharacters} characters; Instagram allows ${CAPTION_MAX}.`,
    remediation: "Shorten the text, or give Instagram its own with platformOptions.instagram.text.",
    field,
  });
  return [tooLong, ...counts];
}

function checkCount(
  text: string,
  { rule, what, max, pattern }: (typeof COUNTED)[number],
  field: string,
): readonly Problem[] {
  const used = [...text.matchAll(pattern)].length;
  if (used * 10 <= max * 9) return [];
  const problem = {
    code: "text_invalid",
    rule,
    message: `The text has ${used} ${what}; Instagram allows ${max}.`,
    field,
  } as const;
  return used > max
    ? [errorOf({ ...problem, remediation: `Use fewer ${what}.` })]
    : [warningOf({ ...problem, remediation: "Nothing needs to be done; more may be refused." })];
}

function checkMedia(draft: LegDraft, form: ReturnType<typeof formOf>): readonly Problem[] {
  const field = fieldOf("instagram", draft, "mediaUrls");
  if (!isForm(form)) return [errorOf({ rule: form, ...MEDIA_RULES[form], field })];
  return draft.media.flatMap((item, mediaIndex) => [
    ...checkType(item.url, mediaIndex, field),
    ...checkAltText(draft, mediaIndex),
  ]);
}

function checkType(url: string, mediaIndex: number, field: string): readonly Problem[] {
  const wanted = UNUSUAL_FILES[extensionOf(url)];
  if (wanted === undefined) return [];
  return [
    warningOf({
      code: "media_rejected",
      rule: "instagram.media.fileType",
      message: "Instagram takes JPEG images and MP4 or MOV videos only.",
      remediation: `Convert the file to ${wanted}.`,
      field,
      mediaIndex,
    }),
  ];
}

function checkAltText(draft: LegDraft, mediaIndex: number): readonly Problem[] {
  const item = draft.media[mediaIndex];
  const { length } = item?.altText ?? "";
  const field = fieldOf("instagram", draft, "altTexts");
  const rule = "instagram.media.altText";
  if (length === 0) return [];
  if (mediaKindOf(item?.url ?? "") === "video") {
    return [
      warningOf({
        code: "media_rejected",
        rule,
        message: "Instagram takes alternative texts of images only; that of the video is left out.",
        remediation: "Nothing needs to be done.",
        field,
        mediaIndex,
      }),
    ];
  }
  if (length <= ALT_TEXT_MAX) return [];
  return [
    errorOf({
      code: "media_rejected",
      rule,
      message: `The alternative text is longer than the ${ALT_TEXT_MAX} characters that Instagram allows.`,
      remediation: "Shorten the alternative text.",
      field,
      mediaIndex,
    }),
  ];
}

/** What a form has no place for is not published: better known before. */
function checkLeftOut(draft: LegDraft, form: ReturnType<typeof formOf>): readonly Problem[] {
  if (!isForm(form)) return [];
  const { collaborators = [] } = ownOptionsOf(draft.options);
  const problems: Problem[] = [];
  if (isStory(form) && draft.text.trim() !== "") {
    problems.push(
      warningOf({
        code: "text_invalid",
        rule: "instagram.story.text",
        message: "An Instagram story has no text; the text is left out.",
        remediation: "Put the text into the image or video.",
        field: fieldOf("instagram", draft, "text"),
      }),
    );
  }
  if (isStory(form) && collaborators.length > 0)
    problems.push(leftOut("collaborators", "Stories have no collaborators; they are left out."));
  return [...problems, ...checkReelOptions(draft, form)];
}

function checkReelOptions(draft: LegDraft, form: Form): readonly Problem[] {
  const options = ownOptionsOf(draft.options);
  if (form === "reel") return [];
  return (["coverUrl", "thumbOffsetMs", "shareToFeed"] as const).flatMap((name) =>
    options[name] === undefined
      ? []
      : [leftOut(name, `Only reels have ${name}; it is left out of this post.`)],
  );
}

function leftOut(name: string, message: string): Problem {
  return warningOf({
    code: "invalid_request",
    rule: `instagram.${name}.unused`,
    message,
    remediation: "Nothing needs to be done.",
    field: `platformOptions.instagram.${name}`,
  });
}
