import type { MediaFacts, MediaReason, MediaTargets } from "../networks/contract/media.ts";
import { type Calling, limitCalls } from "../runtime/limited-calls.ts";
import type { ImageFacts } from "./file-job.ts";
import type { ReadBy } from "./media-reader.ts";
import { openMedia } from "./open-media.ts";
import { refusalOf, refusalError, repairWarning } from "../networks/contract/media-check.ts";
import type { Network } from "../networks/contract/network.ts";
import type { Problem } from "../networks/contract/rules.ts";
import { planFit } from "./fit-plan.ts";

/** The facts of a file that was not downloaded. */
export interface MediaProbe extends MediaFacts {
  /** Of images: what decides whether a network takes it as it is. */
  readonly image: ImageFacts | null;
}

/** For all calls for one file, because a caller waits. */
const PROBE_MS = 15_000;
const CALL_MS = 5_000;

/**
 * Probes a media file: requests its first bytes, and for a video those with its length, as publishing does. Works with
 * servers without ranges or sizes, within a bounded number of bytes and 15 seconds.
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
    return { contentType, size, width, height, durationSeconds, image };
  } finally {
    await file.close();
  }
}

/** A probed file, and where the request names it. */
export interface CheckedMedia {
  readonly probe: MediaProbe;
  readonly field: string;
  readonly mediaIndex: number;
}

function isVideoAlike({ frames, contentType }: ImageFacts, { moving }: MediaTargets): boolean {
  return frames > 1 && moving?.includes(contentType) === true;
}

/** Returns the problems of a file: why publishing would refuse it or how it would change it, by its first bytes. */
export function checkMediaFile(
  network: Pick<Network, "name" | "rules">,
  targets: MediaTargets,
  { probe, field, mediaIndex }: CheckedMedia,
): readonly Problem[] {
  const place = { field, mediaIndex };
  const refused = (reason: MediaReason) => [refusalError(network, reason, place)];
  const reason = refusalOf(probe, targets);
  if (reason !== undefined) return refused(reason);
  if (probe.image === null || isVideoAlike(probe.image, targets)) return [];
  const plan = planFit(probe.image, targets.image);
  if (plan.kind === "refused") return refused(plan.reason);
  const repairs = plan.kind === "repair" ? plan.repairs : [];
  return repairs.map((repair) => repairWarning(network.name, repair, place));
}
