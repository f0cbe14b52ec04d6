import type { MediaKind } from "../draft-rules.ts";
import { errorOf, fieldOf, mediaKindOf, nearLimitWarning } from "../draft-rules.ts";
import type { LegDraft, NetworkData, Problem, TextMeasure } from "../network.ts";
import type { Limits } from "./instance.ts";
import { limitsOf } from "./instance.ts";
import { countCharacters } from "./length.ts";
import { ownOptionsOf } from "./options.ts";

export function measure(draft: LegDraft, data: NetworkData): TextMeasure {
  const limits = limitsOf(data);
  const { spoilerText = "" } = ownOptionsOf(draft.options);
  return {
    usedCharacters: countCharacters(draft.text, spoilerText, limits.charactersPerUrl),
    maxCharacters: limits.charactersMax,
  };
}

export function check(draft: LegDraft, data: NetworkData): readonly Problem[] {
  const limits = limitsOf(data);
  return [...checkText(draft, data), ...checkMedia(draft, limits), ...checkAltTexts(draft, limits)];
}

function checkText(draft: LegDraft, data: NetworkData): readonly Problem[] {
  const field = fieldOf("mastodon", draft, "text");
  const measured = measure(draft, data);
  const problems: Problem[] = [];
  if (measured.usedCharacters > measured.maxCharacters) {
    problems.push(
      errorOf({
        code: "text_too_long",
        rule: "mastodon.text.length",
        message: `The text counts ${measured.usedCharacters} characters; this server allows ${measured.maxCharacters}.`,
        remediation:
          "Shorten the text, or give Mastodon its own with platformOptions.mastodon.text.",
        field,
      }),
    );
  }
  const { spoilerText = "" } = ownOptionsOf(draft.options);
  if (draft.media.length === 0 && `${draft.text}${spoilerText}`.trim() === "") {
    problems.push(
      errorOf({
        code: "text_invalid",
        rule: "mastodon.content.empty",
        message: "The post has neither text nor media.",
        remediation: "Give the post a text or a media file.",
        field,
      }),
    );
  }
  return [...problems, ...nearLimitWarning("mastodon.text.nearLimit", field, measured)];
}

function checkMedia(draft: LegDraft, limits: Limits): readonly Problem[] {
  const field = fieldOf("mastodon", draft, "mediaUrls");
  const kinds = draft.media.map((item) => mediaKindOf(item.url));
  const problems: Problem[] = [];
  if (kinds.length > limits.mediaMax) {
    problems.push(
      errorOf({
        code: "media_rejected",
        rule: "mastodon.media.count",
        message: `The post has ${kinds.length} media files; this server allows ${limits.mediaMax}.`,
        remediation:
          "Use fewer media files, or give Mastodon its own with platformOptions.mastodon.mediaUrls.",
        field,
      }),
    );
  }
  return isMixed(kinds) ? [...problems, mixedProblem(field)] : problems;
}

/** Only images can share a post with each other. */
export function isMixed(kinds: readonly MediaKind[]): boolean {
  return kinds.length > 1 && kinds.some((kind) => kind !== "image");
}

function mixedProblem(field: string): Problem {
  return errorOf({
    code: "media_rejected",
    rule: "mastodon.media.mixed",
    message: "Mastodon allows several images, or one video or audio file alone.",
    remediation: "Use images alone, or one video or audio file alone.",
    field,
  });
}

function checkAltTexts(draft: LegDraft, limits: Limits): readonly Problem[] {
  const field = fieldOf("mastodon", draft, "altTexts");
  return draft.media.flatMap(({ altText }, mediaIndex) =>
    (altText ?? "").length <= limits.altTextMax
      ? []
      : [
          errorOf({
            code: "media_rejected",
            rule: "mastodon.media.altText",
            message: `The alternative text is longer than the ${limits.altTextMax} characters of this server.`,
            remediation: "Shorten the alternative text.",
            field,
            mediaIndex,
          }),
        ],
  );
}
