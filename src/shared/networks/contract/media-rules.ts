import type { MediaReason, MediaRepair } from "./media.ts";
import { breach } from "./draft-rules.ts";
import { LEG_ERRORS } from "./errors.ts";
import type { Network, Problem } from "./network.ts";

/** What is said of a repair; the rule is `<network>.media.<repair>` on every network. */
const REPAIRS: Readonly<Record<MediaRepair, string>> = {
  converted: "The image is converted to a type that the network takes.",
  recompressed: "The image has more bytes than the network takes; it is compressed further.",
  resized: "The image is larger than the network shows it, or takes it; it is scaled.",
  rotated: "The image is turned as its camera noted, since the network does not do it.",
  flattened: "The image's transparent parts become white.",
  stilled: "The network shows no moving images; the first frame is published.",
  metadataRemoved: "The image tells where it was taken; its metadata is left out.",
};

interface Refusal {
  readonly message: string;
  readonly remediation: string;
}

const REASONS: Readonly<Record<MediaReason, Refusal>> = {
  size: {
    message: "The file has more bytes than the network takes.",
    remediation: "Use a smaller file.",
  },
  type: {
    message: "The file is of a type that the network does not take.",
    remediation: "Use a JPEG or PNG image, or an MP4 video.",
  },
  ratio: {
    message: "The image is too wide or too tall for the network.",
    remediation: "Crop the image.",
  },
  pixels: {
    message: "The image has more pixels than can be worked with.",
    remediation: "Use a smaller image.",
  },
  damaged: {
    message: "The file is damaged and can't be read.",
    remediation: "Save the file anew.",
  },
  animation: {
    message: "The moving image has more bytes than the network takes.",
    remediation: "Shorten the animation, or make it smaller.",
  },
  duration: {
    message: "The video is too short or too long for the network.",
    remediation: "Cut the video, or give the network another.",
  },
  changed: {
    message: "The file changed while it was read.",
    remediation: "Leave the file as it is until the post is out.",
  },
  memory: {
    message: "The file takes more memory to read than is allowed.",
    remediation: "Save the file anew, or use a smaller one.",
  },
  time: {
    message: "The file takes longer to read than is allowed.",
    remediation: "Save the file anew, or use a smaller one.",
  },
  crash: {
    message: "Reading the file failed so badly that it is not read again.",
    remediation: "Save the file anew with another program.",
  },
};

// Safe: the record has every reason as its key and nothing else.
export const MEDIA_REASONS = Object.keys(REASONS) as readonly MediaReason[];

type Place = Pick<Problem, "field" | "mediaIndex">;

/** A repair that is, or will be, made so that the network takes the file. */
export function repairWarning(network: string, repair: MediaRepair, place: Place): Problem {
  return {
    severity: "warning",
    code: "media_rejected",
    rule: `${network}.media.${repair}`,
    message: REPAIRS[repair],
    remediation: "Nothing needs to be done.",
    ...place,
  };
}

/** A file that can't be had: the leg tries again for a while, and fails when it stays so. */
export function unreachableError({ name }: Pick<Network, "name">, place: Place): Problem {
  const { message, remediation } = LEG_ERRORS.media_unreachable;
  const rule = `${name}.media.unreachable`;
  return { severity: "error", code: "media_unreachable", rule, message, remediation, ...place };
}

/** A file that the network would refuse, and no repair helps; in the network's own words where it has any. */
export function refusalError(
  { name, rules = {} }: Pick<Network, "name" | "rules">,
  reason: MediaReason,
  place: Place,
): Problem {
  const rule = `${name}.media.${reason}`;
  if (rules[rule] !== undefined) return breach(rules, rule, { ...place, severity: "error" });
  return { severity: "error", code: "media_rejected", rule, ...REASONS[reason], ...place };
}
