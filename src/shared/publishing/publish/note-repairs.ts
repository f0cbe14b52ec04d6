import type { MediaRepair } from "../../networks/contract/media.ts";
import { repairWarning } from "../../networks/contract/media-rules.ts";
import type { NetworkTools } from "../../networks/contract/network.ts";
import type { Leg } from "../leg.ts";

/** The tools, with every repair of an image noted: what a reader sees is then not the file that was given. */
export function notingRepairs(tools: NetworkTools, noted: MediaRepair[]): NetworkTools {
  return {
    ...tools,
    async planImage(file, target) {
      const repairs = await tools.planImage(file, target);
      noted.push(...repairs);
      return repairs;
    },
    async fitImage(file, target) {
      const fitted = await tools.fitImage(file, target);
      noted.push(...fitted.repairs);
      return fitted;
    },
  };
}

/** The leg with its repairs among its warnings, each once however often it is prepared. */
export function withRepairs(leg: Leg, repairs: readonly MediaRepair[]): Leg {
  const found = repairs
    .map((repair) => repairWarning(leg.network, repair, { field: null, mediaIndex: null }))
    .map(({ rule, message }) => ({ code: rule, message }));
  const known = new Set(leg.warnings.map(({ code }) => code));
  const added = found.filter(({ code }) => !known.has(code) && known.add(code));
  return added.length === 0 ? leg : { ...leg, warnings: [...leg.warnings, ...added] };
}
