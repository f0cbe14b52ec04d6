import { refusalOf, refusalError, repairWarning } from "../networks/contract/media-check.ts";
import type { MediaReason, MediaTargets } from "../networks/contract/media.ts";
import type { Network } from "../networks/contract/network.ts";
import type { Problem } from "../networks/contract/rules.ts";
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
  network: Pick<Network, "name" | "rules">,
  targets: MediaTargets,
  { probe, field, mediaIndex }: Judged,
): readonly Problem[] {
  const place = { field, mediaIndex };
  const refused = (reason: MediaReason) => [refusalError(network, reason, place)];
  const reason = refusalOf(probe, targets);
  if (reason !== undefined) return refused(reason);
  if (probe.image === null) return [];
  const plan = planFit(probe.image, targets.image);
  switch (plan.kind) {
    case "fits":
      return [];
    case "repair":
      return plan.repairs.map((repair) => repairWarning(network.name, repair, place));
    case "refused":
      return refused(plan.reason);
  }
}
