import { LEG_ERRORS, type LegErrorCode } from "./errors.ts";
import { kindOfType } from "./draft.ts";
import { type Rule, type Problem, breach } from "./rules.ts";
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
  { code, reason, message, remediation, subject }: MediaFailure,
  mediaIndex?: number,
): TryLater | Rejection {
  return code === "media_rejected"
    ? refusedFor(network, reason ?? "size", message, mediaIndex)
    : unpublished(
        {
          code,
          effect: "later",
          networkCode: null,
          ...(remediation === undefined ? {} : { message, remediation }),
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
  const { kind, failure } = mediaRejected(ruleOf(network, reason), note, mediaIndex);
  return { kind, failure: { ...failure, ...(RULES[reason] === undefined ? {} : REASONS[reason]) } };
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

/** The text for a repair. The rule is `<network>.media.<repair>` on every network. */
const REPAIRS: Readonly<Record<MediaRepair, string>> = {
  converted: "The image is converted to a type and colours that the network takes.",
  recompressed: "The image has more bytes than the network takes; it is compressed further.",
  resized: "The image is larger or smaller than the network shows or takes it; it is scaled.",
  rotated: "The image is turned as its camera noted, since the network does not do it.",
  flattened: "The image's transparent parts become white.",
  stilled: "The network shows no moving images; the first frame is published.",
  completed: "The image lacks the marker at its end; the marker is added.",
  shownFlat: "The image is a panorama to look around in; the network shows it flat.",
  metadataRemoved:
    "The image's metadata is left out, such as when, where and with what it was taken.",
  extrasRemoved:
    "The file has more than the picture, such as a film, a second picture or other data; that is left out.",
};

interface RefusalWords {
  readonly message: string;
  readonly remediation: string;
}

const refusalWords = (message: string, remediation: string): RefusalWords => ({
  message,
  remediation,
});

const REASONS: Readonly<Record<MediaReason, RefusalWords>> = {
  size: refusalWords("The file has more bytes than the network takes.", "Use a smaller file."),
  type: refusalWords(
    "The file is of a type that the network does not take.",
    "Use a JPEG or PNG image, or an MP4 video.",
  ),
  raw: refusalWords(
    "The file is a camera's raw photo, which is not a finished picture.",
    "Export it as JPEG, and use that file.",
  ),
  imageType: refusalWords(
    "The image is of a type that the network does not take and that can't be converted, such as HEIC or BMP.",
    "Export it as JPEG or PNG, and use that file.",
  ),
  imageCoding: refusalWords(
    "The image is stored in a rare way that can't be converted.",
    "Export it as an ordinary JPEG or PNG, and use that file.",
  ),
  password: refusalWords(
    "The document can't be opened without a password.",
    "Save it without a password, and use that file.",
  ),
  encrypted: refusalWords(
    "The film is encrypted, so that nobody could play it.",
    "Use the film without copy protection.",
  ),
  frameRate: refusalWords(
    "The video has more or fewer pictures a second than the network takes.",
    "Re-encode the video with 30 pictures a second.",
  ),
  bitRate: refusalWords(
    "The video has more bits a second than the network takes.",
    "Re-encode the video with a lower bit rate.",
  ),
  chroma: refusalWords(
    "The network does not take videos with this chroma subsampling.",
    "Re-encode the video with 4:2:0 (yuv420p).",
  ),
  wide: refusalWords(
    "The video is wider than the network takes.",
    "Re-encode the video with a smaller width.",
  ),
  pages: refusalWords(
    "The document has more pages than the network takes.",
    "Use a shorter document, or publish it in parts.",
  ),
  webPage: refusalWords(
    "The address is that of a web page, not of the file.",
    "Use the link that downloads the file itself, without a viewer, a log-in or a captcha.",
  ),
  address: refusalWords(
    "The image has to be changed for the network, and its address is too long for that.",
    "Use an address of at most 5,000 characters, or an image that fits the network unchanged.",
  ),
  ratio: refusalWords("The image is too wide or too tall for the network.", "Crop the image."),
  pixels: refusalWords(
    "The image has more pixels than can be worked with.",
    "Use a smaller image.",
  ),
  damaged: refusalWords("The file is damaged and can't be read.", "Re-export the file."),
  animation: refusalWords(
    "The moving image has more bytes than the network takes.",
    "Shorten the animation, or make it smaller.",
  ),
  frames: refusalWords(
    "The moving image has more frames than the network takes.",
    "Shorten the animation.",
  ),
  duration: refusalWords(
    "The video is too short or too long for the network.",
    "Cut the video, or give the network another.",
  ),
  changed: refusalWords(
    "The file changed while it was read.",
    "Leave the file as it is until the post is out.",
  ),
  memory: refusalWords(
    "The file takes more memory to read than is allowed.",
    "Re-export the file, or use a smaller one.",
  ),
  time: refusalWords(
    "The file takes longer to read than is allowed.",
    "Re-export the file, or use a smaller one.",
  ),
  crash: refusalWords(
    "Reading the file failed so badly that it is not read again.",
    "Re-export the file with another program.",
  ),
};

/** Reasons that are a special case of another one's rule. Their words are their own. */
const RULES: Partial<Readonly<Record<MediaReason, MediaReason>>> = {
  raw: "type",
  imageType: "type",
  imageCoding: "type",
};

const ruleOf = (network: string, reason: MediaReason) =>
  `${network}.media.${RULES[reason] ?? reason}`;

export function isTypeRule(network: string, rule: string | undefined): boolean {
  return rule === ruleOf(network, "type");
}

/** The last part of the rule that a file's name suggests a type that may be refused. */
const TYPE_GUESS = "typeUnknown";

/** Reports whether a rule is a guess about the type of a file by its name, which holds until the file is read. */
export function isTypeGuess(network: string, rule: string | undefined): boolean {
  return rule === `${network}.media.${TYPE_GUESS}`;
}

/** Makes the rule that a file's name suggests a type that may be refused. `type` is what to convert it to. */
export function typeGuess(title: string, type: string) {
  return {
    message: `The name of a file suggests a type that ${title} may refuse.`,
    remediation: `If the post fails, convert the file to ${type}.`,
  } as const;
}

// Safe: the record has every reason as its key and nothing else.
export const MEDIA_REASONS = Object.keys(REASONS) as readonly MediaReason[];

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
    message: REPAIRS[repair],
    remediation: "Nothing needs to be done.",
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
  failure?: Pick<MediaFailure, "message" | "remediation" | "subject">,
): Problem {
  const known = LEG_ERRORS.media_unreachable;
  const { message, remediation = known.remediation } = failure ?? known;
  const rule = `${name}.media.${failure?.subject ?? "unreachable"}`;
  return { severity: "error", code: "media_unreachable", rule, message, remediation, ...position };
}

/** Makes the error for a picture of an option that can't be used, in words about pictures. */
export function pictureError(
  name: string,
  reason: MediaReason,
  position: ProblemPosition,
): Problem {
  const words =
    reason === "type"
      ? refusalWords("The file is no picture that can be used.", "Use a JPEG or PNG image.")
      : REASONS[reason];
  const rule = `${name}.media.${reason}`;
  return { severity: "error", code: "media_rejected", rule, ...words, ...position };
}

/**
 * Makes the error for a file that the network would refuse even after repairs, with the network's own message if it has
 * one.
 */
export function refusalError(
  { name, rules = {} }: Pick<Network, "name" | "rules">,
  reason: MediaReason,
  position: ProblemPosition,
): Problem {
  const rule = ruleOf(name, reason);
  const isOwn = RULES[reason] === undefined && rules[rule] !== undefined;
  if (isOwn) return breach(rules, rule, position);
  return { severity: "error", code: "media_rejected", rule, ...REASONS[reason], ...position };
}

/**
 * Returns what a rule of a network says to the readers of a failed leg. Undefined for a rule that is about another code,
 * or that has a number which only the check of a draft knows.
 */
export function ruleWords(
  { name, rules = {} }: Pick<Network, "name" | "rules">,
  rule: string,
  code: LegErrorCode,
): Pick<Problem, "message" | "remediation"> | undefined {
  const own = rules[rule];
  if (own !== undefined) {
    const hasOthersNumber = own.variesByServer === true && own.message.includes("{limit}");
    if (own.code !== code || own.message.includes("{used}") || hasOthersNumber) return undefined;
    const { message, remediation } = breach(rules, rule);
    return { message, remediation };
  }
  const reason = MEDIA_REASONS.find((known) => ruleOf(name, known) === rule);
  return reason === undefined || code !== "media_rejected" ? undefined : REASONS[reason];
}
