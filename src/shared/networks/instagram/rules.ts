import {
  breach,
  checkNearLimit,
  extensionOf,
  fieldOf,
  isFarBeyond,
  kindsOf,
  mediaKindOf,
} from "../contract/draft-rules.ts";
import type { MediaFacts } from "../contract/media.ts";
import type { LegDraft, NetworkData, Problem, TextMeasure } from "../contract/network.ts";
import type { Form } from "./forms.ts";
import { formOf, isForm, isStory } from "./forms.ts";
import { ownOptionsOf } from "./options.ts";
import { rules } from "./rule-table.ts";

/** What a caption may hold only so many of. */
const COUNTED = [
  { rule: "instagram.text.hashtags", pattern: /(?<![\w&])#[\p{L}\p{N}_]+/gu },
  { rule: "instagram.text.mentions", pattern: /(?<![\w.])@[\w.]+/g },
] as const;

/** By the name alone: types that Instagram does not take and that can't be converted. */
const UNUSUAL_FILES = /^(?:heic|heif|bmp|svg|webm|mkv|avi)$/;

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: draft.text.length, maxCharacters: rules["instagram.text.length"].limit };
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
  const { usedCharacters: used, maxCharacters } = measured;
  const tooLong = { used, field };
  if (isFarBeyond(used, maxCharacters)) return [breach(rules, "instagram.text.length", tooLong)];
  return [
    ...(used > maxCharacters ? [breach(rules, "instagram.text.length", tooLong)] : []),
    ...COUNTED.flatMap((counted) => checkCount(draft.text, counted, field)),
    ...checkNearLimit(rules, "instagram.text.nearLimit", field, measured),
  ];
}

function checkCount(
  text: string,
  { rule, pattern }: (typeof COUNTED)[number],
  field: string,
): readonly Problem[] {
  const used = [...text.matchAll(pattern)].length;
  const { limit } = rules[rule];
  if (used * 10 <= limit * 9) return [];
  const severity = used > limit ? "error" : "warning";
  return [breach(rules, rule, { used, field, severity })];
}

function checkMedia(draft: LegDraft, form: ReturnType<typeof formOf>): readonly Problem[] {
  const field = fieldOf("instagram", draft, "mediaUrls");
  if (!isForm(form)) return [breach(rules, form, { field })];
  return draft.media.flatMap(({ url }, mediaIndex) => [
    ...(UNUSUAL_FILES.test(extensionOf(url))
      ? [breach(rules, "instagram.media.fileType", { field, mediaIndex })]
      : []),
    ...checkAltText(draft, mediaIndex),
  ]);
}

/** What only the files themselves tell: their kinds, and how long a video is. */
export function judgeFiles(
  draft: LegDraft,
  _limits: NetworkData,
  files: readonly (MediaFacts | null)[],
): readonly Problem[] {
  const { kind, thumbOffsetMs = 0 } = ownOptionsOf(draft.options);
  const form = formOf(kind, kindsOf(draft, files));
  if (!isForm(form))
    return [breach(rules, form, { field: fieldOf("instagram", draft, "mediaUrls") })];
  const seconds = files[0]?.durationSeconds ?? Infinity;
  if (form !== "reel" || thumbOffsetMs <= seconds * 1000) return [];
  const field = "platformOptions.instagram.thumbOffsetMs";
  return [breach(rules, "instagram.media.thumbOffset", { field, mediaIndex: 0 })];
}

function checkAltText(draft: LegDraft, mediaIndex: number): readonly Problem[] {
  const item = draft.media[mediaIndex];
  const { length: used } = item?.altText ?? "";
  const at = { field: fieldOf("instagram", draft, "altTexts"), mediaIndex };
  if (used === 0) return [];
  if (mediaKindOf(item?.url ?? "") === "video")
    return [breach(rules, "instagram.media.altTextUnused", at)];
  return used > rules["instagram.media.altText"].limit
    ? [breach(rules, "instagram.media.altText", at)]
    : [];
}

/** What a form has no place for is not published: better known before. */
function checkLeftOut(draft: LegDraft, form: ReturnType<typeof formOf>): readonly Problem[] {
  if (!isForm(form)) return [];
  const { collaborators = [] } = ownOptionsOf(draft.options);
  const problems: Problem[] = [];
  if (isStory(form) && draft.text.trim() !== "") {
    const field = fieldOf("instagram", draft, "text");
    problems.push(breach(rules, "instagram.story.text", { field }));
  }
  if (isStory(form) && collaborators.length > 0) problems.push(unused("collaborators"));
  return [...problems, ...checkReelOptions(draft, form)];
}

function checkReelOptions(draft: LegDraft, form: Form): readonly Problem[] {
  const options = ownOptionsOf(draft.options);
  if (form === "reel") return [];
  return (["coverUrl", "thumbOffsetMs", "shareToFeed"] as const).flatMap((name) =>
    options[name] === undefined ? [] : [unused(name)],
  );
}

function unused(name: "collaborators" | "coverUrl" | "thumbOffsetMs" | "shareToFeed"): Problem {
  return breach(rules, `instagram.${name}.unused`, { field: `platformOptions.instagram.${name}` });
}
