import {
  MEDIA_REASONS,
  refusalError,
  repairWarning,
  unreachableError,
} from "../src/shared/networks/contract/media-check.ts";
import { MEDIA_REPAIRS } from "../src/shared/networks/contract/media.ts";
import { COMMON_RULES } from "../src/shared/networks/contract/rules.ts";
import { UNREACHABLE } from "../src/shared/networks/contract/unreachable.ts";
import type { Network } from "../src/shared/networks/contract/network.ts";
import type { Rule } from "../src/shared/networks/contract/rules.ts";
import { inWords } from "../src/shared/networks/wording.ts";

export interface DescribedRule extends Rule {
  readonly network: string;
  readonly rule: string;
  /** Whether every network has it. */
  readonly isCommon: boolean;
  readonly message: string;
  readonly remediation: string;
  readonly developerHint: string | null;
}

/** Every rule that a finding or a failed leg may name, in the networks' order: what documents are made from. */
export function describeRules(networks: Iterable<Network>): readonly DescribedRule[] {
  return [...networks].flatMap((network) => {
    const common = commonRules(network);
    return Object.entries({ ...common, ...network.rules }).map(([rule, described]) => {
      const { code, limit = "…" } = described;
      const values = { used: "…", limit, value: "…", hours: "…" };
      const found = { code, rule, values, field: null };
      const { message, remediation, developerHint } = inWords(found, {
        network: network.name,
        locale: "en",
      });
      const isCommon = Object.hasOwn(common, rule) && network.rules?.[rule] === undefined;
      const said = { message, remediation, developerHint };
      return { network: network.name, rule, isCommon, ...described, ...said };
    });
  });
}

/** What every network has, and every network whose files are read; a rule of its own says more. */
function commonRules(network: Network): Readonly<Record<string, Rule>> {
  const { name } = network;
  const nowhere = { field: null, mediaIndex: null };
  const ofFiles =
    network.media === undefined
      ? []
      : [
          ...MEDIA_REASONS.map((reason) => refusalError({ name }, reason, nowhere)),
          unreachableError({ name }, nowhere),
          ...UNREACHABLE.map((subject) => unreachableError({ name }, nowhere, { subject })),
          ...MEDIA_REPAIRS.map((repair) => repairWarning(name, repair, nowhere)),
        ];
  return Object.fromEntries([
    ...Object.entries(COMMON_RULES).map(([what, rule]) => [`${name}.${what}`, rule] as const),
    ...ofFiles.map(({ rule, severity, code }) => [rule, { severity, code }] as const),
  ]);
}
