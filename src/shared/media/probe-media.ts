import { fieldOf, type LegDraft, type NetworkData } from "../networks/contract/draft.ts";
import {
  type ImageTarget,
  type MediaFacts,
  MediaFailure,
  type MediaReason,
  type MediaTargets,
} from "../networks/contract/media.ts";
import { type Calling, limitCalls } from "../runtime/limited-calls.ts";
import type { ImageFacts } from "./file-job.ts";
import type { ReadBy } from "./media-reader.ts";
import { openMedia } from "./open-media.ts";
import {
  isTypeGuess,
  refusalReason,
  refusalError,
  repairWarning,
  unreachableError,
} from "../networks/contract/media-check.ts";
import type { Network } from "../networks/contract/network.ts";
import type { Problem } from "../networks/contract/rules.ts";
import { planFit } from "./fit-plan.ts";

export interface MediaProbe extends MediaFacts {
  readonly image: ImageFacts | null;
}

/** Time limit of all calls for one file, because a caller waits. */
const PROBE_MS = 15_000;
const CALL_MS = 5_000;

/**
 * Probes a media file. It requests the first bytes, and for a video also those with its length, just as publishing
 * does. It works with servers without ranges or sizes, within a limited number of bytes and 15 seconds.
 * @throws MediaFailure
 */
export async function probeMedia(
  calling: Calling,
  url: string,
  readBy?: ReadBy,
): Promise<MediaProbe> {
  const limits = { callMs: CALL_MS, totalMs: PROBE_MS, owner: readBy?.owner ?? "" };
  const hurried = limitCalls(calling, limits);
  const bytesMax = Number.MAX_SAFE_INTEGER;
  const { leftMs } = hurried;
  const file = await openMedia(hurried, url, { bytesMax, readBy, isThorough: true, leftMs });
  try {
    return probeOf(file);
  } finally {
    await file.close();
  }
}

/** Returns the facts of an opened file, which stay true once it is closed. */
export function probeOf(file: MediaFacts & Pick<MediaProbe, "image">): MediaProbe {
  const { contentType, size, width, height, durationSeconds, image } = file;
  const { isMoving, needsPassword, pages, isDynamicForm, film } = file;
  return {
    contentType,
    size,
    width,
    height,
    durationSeconds,
    image,
    ...(isMoving === undefined ? {} : { isMoving }),
    ...(needsPassword === undefined ? {} : { needsPassword }),
    ...(pages === undefined ? {} : { pages }),
    ...(isDynamicForm === undefined ? {} : { isDynamicForm }),
    ...(film === undefined ? {} : { film }),
  };
}

export interface ProbedMedia {
  readonly probe: MediaProbe;
  readonly field: string;
  readonly mediaIndex: number;
}

/** Finds out whether publishing would refuse a picture that an option names, or how it would change it. */
function checkPicture(
  name: string,
  image: ImageTarget,
  { probe, field }: Omit<ProbedMedia, "mediaIndex">,
): readonly Problem[] {
  const place = { field, mediaIndex: null };
  const plan = probe.image === null ? undefined : planFit(probe.image, image);
  const reason =
    refusalReason(probe, { image }) ?? (plan?.kind === "refused" ? plan.reason : undefined);
  if (reason !== undefined) return [refusalError({ name }, reason, place)];
  const repairs = plan?.kind === "repair" ? plan.repairs : [];
  return repairs.map((repair) => repairWarning(name, repair, place));
}

/** Finds out from the first bytes of a file whether publishing would refuse it, or how it would change it. */
export function checkMediaFile(
  network: Pick<Network, "name" | "rules">,
  targets: MediaTargets,
  { probe, field, mediaIndex }: ProbedMedia,
): readonly Problem[] {
  const place = { field, mediaIndex };
  const refused = (reason: MediaReason) => [refusalError(network, reason, place)];
  const reason = refusalReason(probe, targets);
  if (reason !== undefined) return refused(reason);
  if (
    probe.image === null ||
    (probe.image.frames > 1 && targets.moving?.includes(probe.image.contentType) === true)
  )
    return [];
  const plan = planFit(probe.image, targets.image);
  if (plan.kind === "refused") return refused(plan.reason);
  const repairs = plan.kind === "repair" ? plan.repairs : [];
  return repairs.map((repair) => repairWarning(network.name, repair, place));
}

/** Returns the pictures that a draft's options name, with the field of each. */
export function picturesOf(network: Network, content: LegDraft, limits: NetworkData) {
  const pictures = network.pictures?.(content, limits) ?? [];
  return pictures.map((one) => ({
    ...one,
    field: `platformOptions.${network.name}.${one.option}`,
  }));
}

interface FoundFiles {
  /** The limits of the account. */
  readonly limits: NetworkData;
  /** What was found without the files. */
  readonly problems: readonly Problem[];
  /** The draft's files by their addresses, as far as they were probed. */
  readonly found: ReadonlyMap<string, MediaProbe | MediaFailure>;
}

/**
 * Adds what the network finds about a draft's files to what was found without them. Guesses about files that were
 * read by now are left out.
 */
export function withFileProblems(
  network: Network,
  content: LegDraft,
  { limits, problems: before, found }: FoundFiles,
): readonly Problem[] {
  const targets = network.media?.(content, limits);
  if (found.size === 0) return before;
  const isRead = ({ mediaIndex }: Problem) => {
    const file = found.get(content.media[mediaIndex ?? -1]?.url ?? "");
    return isFound(file) || file?.code === "media_rejected";
  };
  const isGuess = ({ rule }: Problem) => isTypeGuess(network.name, rule);
  const problems = before.filter((one) => !isGuess(one) || !isRead(one));
  const shown = picturesOf(network, content, limits).flatMap(({ url, field, target }) => {
    const picture = found.get(url);
    const at = { field, mediaIndex: null };
    if (picture === undefined) return [];
    if (!(picture instanceof MediaFailure))
      return checkPicture(network.name, target, { probe: picture, field });
    return picture.code === "media_rejected"
      ? [refusalError(network, picture.reason ?? "size", at)]
      : [unreachableError(network, at, picture)];
  });
  if (targets === undefined) return [...problems, ...shown];
  const field = fieldOf(network.name, content, "mediaUrls");
  const files = content.media.map(({ url }) => found.get(url));
  const alone = files.flatMap((file, mediaIndex) => {
    const at = { field, mediaIndex };
    if (file === undefined) return [];
    if (!(file instanceof MediaFailure))
      return checkMediaFile(network, targets, { probe: file, ...at });
    return file.code === "media_rejected"
      ? [refusalError(network, file.reason ?? "size", at)]
      : [unreachableError(network, at, file)];
  });
  // Publishing refuses the first file that doesn't fit, and checks the files together only if each one fits.
  const isEachTaken = alone.every(({ severity }) => severity !== "error");
  const facts = files.map((file) => (isFound(file) ? file : null));
  const together = isEachTaken ? (network.checkFiles?.(content, limits, facts) ?? []) : [];
  const isKnown = (later: Problem) => problems.some(({ rule }) => rule === later.rule);
  return [...problems, ...alone, ...together.filter((problem) => !isKnown(problem)), ...shown];
}

function isFound(file: MediaProbe | MediaFailure | undefined): file is MediaProbe {
  return file !== undefined && !(file instanceof MediaFailure);
}
