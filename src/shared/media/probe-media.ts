import type {
  ImageTarget,
  MediaFacts,
  MediaReason,
  MediaTargets,
} from "../networks/contract/media.ts";
import { type Calling, limitCalls } from "../runtime/limited-calls.ts";
import type { ImageFacts } from "./file-job.ts";
import type { ReadBy } from "./media-reader.ts";
import { openMedia } from "./open-media.ts";
import { refusalReason, refusalError, repairWarning } from "../networks/contract/media-check.ts";
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
    const { contentType, size, width, height, durationSeconds, image } = file;
    const { needsPassword, pages, isDynamicForm, film } = file;
    return {
      contentType,
      size,
      width,
      height,
      durationSeconds,
      image,
      ...(needsPassword === undefined ? {} : { needsPassword }),
      ...(pages === undefined ? {} : { pages }),
      ...(isDynamicForm === undefined ? {} : { isDynamicForm }),
      ...(film === undefined ? {} : { film }),
    };
  } finally {
    await file.close();
  }
}

export interface ProbedMedia {
  readonly probe: MediaProbe;
  readonly field: string;
  readonly mediaIndex: number;
}

/** Finds out whether publishing would refuse a picture that an option names, or how it would change it. */
export function checkPicture(
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
