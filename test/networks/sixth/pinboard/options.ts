import * as z from "zod";
import type { LegDraft } from "../../../../src/shared/networks/contract/draft.ts";
import { optionsOf } from "../../../../src/shared/networks/options.ts";

const own = optionsOf(() => ({ board: z.string().min(1).max(40).optional() }));
export const pinboardOptions = own.options;

export function boardOf(draft: LegDraft): string {
  return own.read(draft).board ?? "home";
}
