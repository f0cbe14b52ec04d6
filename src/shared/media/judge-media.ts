import type { MediaReason, MediaTargets, VideoTarget } from "../networks/media.ts";
import { refusalError, repairWarning } from "../networks/media-rules.ts";
import type { Problem } from "../networks/network.ts";
import { planFit } from "./fit-plan.ts";
import type { MediaProbe } from "./probe-media.ts";

/** The file that is judged, and where it stands in the request. */
export interface Judged {
  readonly probe: MediaProbe;
  readonly field: string;
  readonly mediaIndex: number;
}

/** What publishing would do to a file, or refuse it for, as far as its first bytes tell. */
export function judgeMedia(
  network: string,
  targets: MediaTargets,
  { probe, field, mediaIndex }: Judged,
): readonly Problem[] {
  const place = { field, mediaIndex };
  if (probe.image === null) {
    const reason = targets.video === undefined ? undefined : videoReason(probe, targets.video);
    return reason === undefined ? [] : [refusalError(network, reason, place)];
  }
  const plan = planFit(probe.image, targets.image);
  switch (plan.kind) {
    case "fits":
      return [];
    case "repair":
      return plan.repairs.map((repair) => repairWarning(network, repair, place));
    case "refused":
      return [refusalError(network, plan.reason, place)];
  }
}

function videoReason(
  { contentType, size, durationSeconds }: MediaProbe,
  { bytesMax, secondsMin = 0, secondsMax = Infinity }: VideoTarget,
): MediaReason | undefined {
  if (!contentType.startsWith("video/")) return undefined;
  if (size > bytesMax) return "size";
  const seconds = durationSeconds ?? secondsMin;
  return seconds < secondsMin || seconds > secondsMax ? "duration" : undefined;
}
