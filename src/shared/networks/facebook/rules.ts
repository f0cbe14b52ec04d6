import { breach, checkNearLimit, extensionOf, fieldOf, mediaKindOf } from "../draft-rules.ts";
import type { LegDraft, Problem, TextMeasure } from "../network.ts";
import type { Form } from "./forms.ts";
import { formOf, isForm } from "./forms.ts";
import { ownOptionsOf } from "./options.ts";
import { rules } from "./rule-table.ts";

/** By the name alone: types that Facebook does not take and that can't be converted. */
const UNUSUAL_IMAGES: ReadonlySet<string> = new Set(["heic", "heif", "svg"]);
const OWN_HOSTS = /(?:^|\.)(?:facebook|fb)\.com$/i;

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: rules["facebook.text.length"].limit };
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
  const { usedCharacters: used, maxCharacters } = measured;
  const { link } = ownOptionsOf(draft.options);
  const isEmpty = draft.text.trim() === "" && draft.media.length === 0 && link === undefined;
  return [
    ...(used > maxCharacters ? [breach(rules, "facebook.text.length", { used, field })] : []),
    ...(isEmpty ? [breach(rules, "facebook.content.empty", { field })] : []),
    ...checkNearLimit(rules, "facebook.text.nearLimit", field, measured),
  ];
}

function checkMedia(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("facebook", draft, "mediaUrls");
  const form = formNamed(draft);
  if (!isForm(form)) return [breach(rules, form, { field })];
  return [
    ...draft.media.flatMap(({ url }, mediaIndex) =>
      UNUSUAL_IMAGES.has(extensionOf(url))
        ? [breach(rules, "facebook.media.imageType", { field, mediaIndex })]
        : [],
    ),
    ...checkLeftOut(draft, form),
  ];
}

/** What a form has no place for is not published: better known before. */
function checkLeftOut(draft: LegDraft, form: Form): readonly Problem[] {
  const isStory = form === "photo_story" || form === "video_story";
  const hasPhotos = form === "photos" || form === "photo_story";
  const hasTitle = form === "reel" || form === "video";
  const mediaIndex = draft.media.findIndex((item) => (item.altText ?? "") !== "");
  const problems: Problem[] = [];
  if (isStory && draft.text.trim() !== "") {
    const field = fieldOf("facebook", draft, "text");
    problems.push(breach(rules, "facebook.story.text", { field }));
  }
  if (mediaIndex >= 0 && !hasPhotos) {
    const field = fieldOf("facebook", draft, "altTexts");
    problems.push(breach(rules, "facebook.media.altText", { field, mediaIndex }));
  }
  if (ownOptionsOf(draft.options).title !== undefined && !hasTitle) {
    const field = "platformOptions.facebook.title";
    problems.push(breach(rules, "facebook.title.unused", { field }));
  }
  return problems;
}

function checkLink(draft: LegDraft): readonly Problem[] {
  const { link } = ownOptionsOf(draft.options);
  if (link === undefined) return [];
  const field = "platformOptions.facebook.link";
  if (OWN_HOSTS.test(new URL(link).hostname))
    return [breach(rules, "facebook.link.own", { field })];
  return draft.media.length === 0 ? [] : [breach(rules, "facebook.link.media", { field })];
}
