import { withFileProblems } from "../media/probe-media.ts";
import type { LegDraft } from "../networks/contract/draft.ts";
import type { Problem } from "../networks/contract/rules.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { networkOf, type NetworkName } from "../networks/networks.ts";
import type { StoredFacts } from "./file.ts";

/**
 * Finds out for each network what keeps a post of this file alone from being published, of the default kind and for an
 * account without special limits. It asks the rules by which posts are checked.
 */
export function misfitsOf(
  url: string,
  facts: StoredFacts,
): Readonly<Record<NetworkName, readonly Problem[]>> {
  const content: LegDraft = { text: "", media: [{ url, altText: null }], options: {} };
  const found = new Map([[url, facts]]);
  const entries = NETWORK_NAMES.map((name) => {
    const network = networkOf(name);
    const problems = network.check(content, {});
    const all = withFileProblems(network, content, { limits: {}, problems, found });
    return [name, all.filter(({ severity }) => severity === "error")] as const;
  });
  // Safe: one entry for every network.
  return Object.fromEntries<readonly Problem[]>(entries) as Record<NetworkName, readonly Problem[]>;
}
