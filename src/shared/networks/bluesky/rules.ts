import * as z from "zod";
import type { LegDraft, NetworkData, Problem, TextMeasure } from "../network.ts";
import { countGraphemes, errorOf, fieldOf, mediaKindOf, nearLimitWarning } from "../draft-rules.ts";
import { warningOf, extensionOf } from "../draft-rules.ts";
import { ownOptionsOf } from "./options.ts";

export const RULES = {
  graphemesMax: 300,
  textBytesMax: 3000,
  imagesMax: 10,
  /** Up to here the shape that every client shows; above it the gallery, which older ones do not. */
  plainImagesMax: 4,
  imageBytesMax: 2_000_000,
  videoBytesMax: 300_000_000,
  thumbnailBytesMax: 1_000_000,
  /** Of servers that do not tell their own `blobUploadLimit`. */
  blobBytesMax: 52_428_800,
  imageTypes: ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"],
  videoTypes: ["video/mp4"],
} as const;

const limitsShape = z.object({ blobBytesMax: z.number().int().positive() });

/** The largest file that the account's server takes. */
export function blobBytesMax(limits: NetworkData): number {
  const parsed = limitsShape.safeParse(limits);
  return parsed.success ? parsed.data.blobBytesMax : RULES.blobBytesMax;
}

export function measure(draft: LegDraft): TextMeasure {
  return { usedCharacters: countGraphemes(draft.text), maxCharacters: RULES.graphemesMax };
}

export function check(draft: LegDraft): readonly Problem[] {
  return [...checkText(draft), ...checkMedia(draft), ...checkLinkCard(draft)];
}

function checkText(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("bluesky", draft, "text");
  const measured = measure(draft);
  const problems: Problem[] = [];
  if (measured.usedCharacters > RULES.graphemesMax) {
    problems.push(
      errorOf({
        code: "text_too_long",
        rule: "bluesky.text.graphemes",
        message: `The text has ${measured.usedCharacters} characters; Bluesky allows ${RULES.graphemesMax}.`,
        remediation: "Shorten the text, or give Bluesky its own with platformOptions.bluesky.text.",
        field,
      }),
    );
  }
  const bytes = Buffer.byteLength(draft.text);
  if (bytes > RULES.textBytesMax) {
    problems.push(
      errorOf({
        code: "text_too_long",
        rule: "bluesky.text.bytes",
        message: `The text has ${bytes} bytes; Bluesky allows ${RULES.textBytesMax}.`,
        remediation: "Use fewer emoji and combined characters, or shorten the text.",
        field,
      }),
    );
  }
  if (
    draft.text.trim() === "" &&
    draft.media.length === 0 &&
    !ownOptionsOf(draft.options).linkCard
  ) {
    problems.push(
      errorOf({
        code: "text_invalid",
        rule: "bluesky.content.empty",
        message: "The post has neither text nor media.",
        remediation: "Give the post a text or a media file.",
        field,
      }),
    );
  }
  return [...problems, ...nearLimitWarning("bluesky.text.nearLimit", field, measured)];
}

function checkMedia(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("bluesky", draft, "mediaUrls");
  const kinds = draft.media.map((item) => mediaKindOf(item.url));
  const videos = kinds.filter((kind) => kind === "video").length;
  const images = kinds.filter((kind) => kind === "image").length;
  const problems: Problem[] = [];
  if (images > RULES.imagesMax || videos > 1) {
    problems.push(
      errorOf({
        code: "media_rejected",
        rule: "bluesky.media.count",
        message: `Bluesky allows ${RULES.imagesMax} images or one video in a post.`,
        remediation:
          "Use fewer media files, or give Bluesky its own with platformOptions.bluesky.mediaUrls.",
        field,
      }),
    );
  }
  if (videos > 0 && images > 0) {
    problems.push(
      errorOf({
        code: "media_rejected",
        rule: "bluesky.media.mixed",
        message: "Bluesky does not allow images and a video in one post.",
        remediation: "Use images alone or one video alone.",
        field,
      }),
    );
  }
  return [
    ...problems,
    ...draft.media.flatMap((item, mediaIndex) => checkType(item.url, mediaIndex, field)),
  ];
}

/** A file's type is judged by its content when it is fetched; what its name says can only warn, except for audio. */
function checkType(url: string, mediaIndex: number, field: string): readonly Problem[] {
  const kind = mediaKindOf(url);
  const isForeign =
    kind === "audio" || (kind === "video" && !/^(?:mp4|m4v)$/.test(extensionOf(url)));
  if (!isForeign) return [];
  const problem = {
    code: "media_rejected",
    rule: "bluesky.media.type",
    message: "Bluesky takes images and MP4 video.",
    remediation: "Convert the file to MP4.",
    field,
    mediaIndex,
  } as const;
  return [kind === "audio" ? errorOf(problem) : warningOf(problem)];
}

function checkLinkCard(draft: LegDraft): readonly Problem[] {
  if (draft.media.length === 0 || !ownOptionsOf(draft.options).linkCard) return [];
  return [
    warningOf({
      code: "link_rejected",
      rule: "bluesky.linkCard.media",
      message: "A Bluesky post shows either media or a link card; the card is left out.",
      remediation: "Remove the media or the link card.",
      field: "platformOptions.bluesky.linkCard",
    }),
  ];
}
