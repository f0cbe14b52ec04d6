import type { LegErrorCode } from "./errors.ts";
import { kindOfType } from "./draft.ts";
import { COMMON_RULES, type Rule, type Problem, breach } from "./rules.ts";
import { type TryLater, type Rejection, legFailure, unpublished } from "./outcome.ts";
import {
  type MediaFailure,
  type MediaFacts,
  type MediaRepair,
  type MediaReason,
  type FileTarget,
  type MediaTargets,
  IMAGE_SOURCE_BYTES_MAX,
  RAW_PHOTOS,
  READABLE_IMAGES,
} from "./media.ts";
import type { Network } from "./network.ts";

/** Returns the size of the largest file that may be of use. A larger file need not be opened. */
export function bytesMaxOf({ video, audio, document }: MediaTargets): number {
  const others = [video, audio, document].filter((target) => target !== undefined);
  return Math.max(
    IMAGE_SOURCE_BYTES_MAX,
    ...others.map(({ bytesMax = Number.MAX_SAFE_INTEGER }) => bytesMax),
  );
}

type Facts = Pick<
  MediaFacts,
  "contentType" | "size" | "width" | "durationSeconds" | "needsPassword" | "pages" | "film"
>;

/**
 * Returns why a network doesn't accept a file, as far as type, size and duration tell. Undefined if they don't speak
 * against it. Validation and preparation both use this, so that they never differ.
 */
export function refusalReason(file: Facts, targets: MediaTargets): MediaReason | undefined {
  const { contentType, size, durationSeconds, needsPassword = false, pages = 0 } = file;
  const kind = kindOfType(contentType);
  if (kind === "image") {
    const { image } = targets;
    if (size > IMAGE_SOURCE_BYTES_MAX) return "size";
    // A readable image is converted, and any other is accepted unchanged or refused.
    if (READABLE_IMAGES.includes(contentType)) return undefined;
    if (!image.types.includes(contentType))
      return RAW_PHOTOS.includes(contentType) ? "raw" : "imageType";
    return size > image.bytesMax ? "size" : undefined;
  }
  if (file.film?.isEncrypted === true) return "encrypted";
  if (size > bytesMaxOf(targets)) return "size";
  const target = targets[kind];
  if (target === undefined) return "type";
  const { types, bytesMax = Infinity, secondsMin = 0, secondsMax = Infinity } = target;
  const { pagesMax = Infinity } = target;
  // Which type a document is can't be known if all of it is encrypted.
  if (needsPassword) return "password";
  if (types?.includes(contentType) === false) return "type";
  if (size > bytesMax) return "size";
  if (pages > pagesMax) return "pages";
  const ofFilm = filmRefusal(file, target);
  if (ofFilm !== undefined || durationSeconds === null) return ofFilm;
  // Networks count whole seconds, so a video of 10 minutes may be a few frames longer.
  const isOutside = durationSeconds < secondsMin || Math.floor(durationSeconds) > secondsMax;
  return isOutside ? "duration" : undefined;
}

/** Returns why a network doesn't accept how a film is coded. Programs round frame rates, so whole numbers count. */
function filmRefusal({ film, width }: Facts, target: FileTarget) {
  const { frameRate, bitRateMax = Infinity, chroma, widthMax = Infinity } = target;
  if ((width ?? 0) > widthMax) return "wide";
  const rate = film?.frameRate ?? null;
  if (frameRate !== undefined && rate !== null) {
    const isOutside = Math.round(rate) < frameRate.min || Math.round(rate) > frameRate.max;
    if (isOutside) return "frameRate";
  }
  if ((film?.bitRate ?? 0) > bitRateMax) return "bitRate";
  const isOther = chroma !== undefined && film?.chroma != null && !chroma.includes(film.chroma);
  return isOther ? "chroma" : undefined;
}

/**
 * Returns the outcome for a file that could not be fetched or converted. A file that may be available later is tried
 * again.
 */
export function mediaFailed(
  network: string,
  { code, reason, message, values, subject, fileRule }: MediaFailure,
  mediaIndex?: number,
): TryLater | Rejection {
  if (fileRule !== undefined) {
    const rule = `${network}.${fileRule}`;
    return rejectedBy({ [rule]: COMMON_RULES[fileRule] }, rule, message, mediaIndex);
  }
  return code === "media_rejected"
    ? refusedFor(network, reason ?? "size", message, mediaIndex)
    : unpublished(
        {
          code,
          effect: "later",
          networkCode: null,
          ...(values === undefined ? {} : { values }),
          ...(subject === undefined ? {} : { rule: `${network}.media.${subject}` }),
          note: message.slice(0, 500),
          retryAfterSeconds: null,
        },
        mediaIndex,
      );
}

/**
 * Returns the outcome for a file that the network doesn't accept, before it is sent. Undefined if the network may
 * accept it.
 */
export function refusedFile(
  network: string,
  file: MediaFacts,
  targets: MediaTargets,
  mediaIndex?: number,
): Rejection | undefined {
  const reason = refusalReason(file, targets);
  if (reason === undefined) return undefined;
  const { contentType, size, durationSeconds, pages } = file;
  const seconds = durationSeconds === null ? "" : `, ${Math.floor(durationSeconds)} seconds`;
  const pageCount = pages === undefined ? "" : `, ${pages} pages`;
  const note = `${contentType}, ${size} bytes${seconds}${pageCount}`;
  return refusedFor(network, reason, note, mediaIndex);
}

function refusedFor(
  network: string,
  reason: MediaReason,
  note: string,
  mediaIndex: number | undefined,
): Rejection {
  return mediaRejected(ruleOf(network, reason), note, mediaIndex);
}

/** Returns the outcome for files that together break a rule of the network, before anything is sent. */
export function rejectedBy<Table extends Readonly<Record<string, Pick<Rule, "code">>>>(
  table: Table,
  rule: keyof Table & string,
  note: string,
  mediaIndex?: number,
): Rejection {
  // Safe: the id is a key of the table, and a rule that refuses files has a code that ends legs.
  const { code } = table[rule] as { readonly code: LegErrorCode };
  const refused = { code, effect: "refuse", rule, networkCode: null, note } as const;
  const failure = legFailure({ ...refused, retryAfterSeconds: null }, mediaIndex);
  return { kind: "rejected", failure };
}

/** Returns the outcome for a file that breaks a rule of the network, before it is sent. */
export function mediaRejected(rule: string, note: string, mediaIndex?: number): Rejection {
  return rejectedBy({ [rule]: { code: "media_rejected" } }, rule, note, mediaIndex);
}

export const MEDIA_REASONS = [
  "size",
  "type",
  "raw",
  "imageType",
  "imageCoding",
  "password",
  "encrypted",
  "frameRate",
  "bitRate",
  "chroma",
  "wide",
  "pages",
  "webPage",
  "address",
  "ratio",
  "pixels",
  "damaged",
  "animation",
  "frames",
  "duration",
  "changed",
  "memory",
  "time",
  "crash",
] as const satisfies readonly MediaReason[];

const ruleOf = (network: string, reason: MediaReason) => `${network}.media.${reason}`;

const TYPE_REASONS = ["type", "raw", "imageType", "imageCoding"] as const;

/** Reports whether a rule is that a file is refused for its type. */
export function isTypeRule(network: string, rule: string | undefined): boolean {
  return TYPE_REASONS.some((reason) => rule === ruleOf(network, reason));
}

/** The last part of the rule that a file's name suggests a type that may be refused. */
const TYPE_GUESS = "typeUnknown";

/** Reports whether a rule is a guess about the type of a file by its name, which holds until the file is read. */
export function isTypeGuess(network: string, rule: string | undefined): boolean {
  return rule === `${network}.media.${TYPE_GUESS}`;
}

type ProblemPosition = Pick<Problem, "field" | "mediaIndex">;

const METADATA_REPAIRS: ReadonlySet<MediaRepair> = new Set(["metadataRemoved", "extrasRemoved"]);

/** Makes the warning that a file is changed so that the network accepts it. */
export function repairWarning(
  network: string,
  repair: MediaRepair,
  position: ProblemPosition,
): Problem {
  return {
    severity: "warning",
    code: METADATA_REPAIRS.has(repair) ? "metadata_removed" : "image_changed",
    rule: `${network}.media.${repair}`,
    values: {},
    ...position,
  };
}

/**
 * Makes the error for a file that can't be fetched, with the cause if it is known. A leg tries again for a while before
 * it fails.
 */
export function unreachableError(
  { name }: Pick<Network, "name">,
  position: ProblemPosition,
  {
    subject = "unreachable",
    values = {},
    fileRule,
  }: Partial<Pick<MediaFailure, "subject" | "values" | "fileRule">> = {},
): Problem {
  if (fileRule !== undefined)
    return { ...COMMON_RULES[fileRule], rule: `${name}.${fileRule}`, values, ...position };
  const rule = `${name}.media.${subject}`;
  return { severity: "error", code: "media_unreachable", rule, values, ...position };
}

/** Reports whether a rule says that a file's server has no file at its URL. */
export function isFileMissing(rule: string | undefined): boolean {
  return rule?.endsWith(".media.statusMissing") === true;
}

/** Makes the error for a file that the network would refuse even after repairs. */
export function refusalError(
  { name, rules = {} }: Pick<Network, "name" | "rules">,
  reason: MediaReason,
  position: ProblemPosition,
): Problem {
  const rule = ruleOf(name, reason);
  if (rules[rule] !== undefined) return breach(rules, rule, position);
  return { severity: "error", code: "media_rejected", rule, values: {}, ...position };
}
