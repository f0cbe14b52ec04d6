import {
  MEDIA_REASONS,
  refusalError,
  repairWarning,
  unreachableError,
} from "../src/shared/networks/contract/media-check.ts";
import { MEDIA_REPAIRS } from "../src/shared/networks/contract/media.ts";
import { UNREACHABLE } from "../src/shared/networks/contract/unreachable.ts";
import type { Network } from "../src/shared/networks/contract/network.ts";
import type { Problem, Rule, RuleTable } from "../src/shared/networks/contract/rules.ts";

export interface DescribedRule extends Rule {
  readonly network: string;
  readonly rule: string;
}

/** Every rule that a finding or a failed leg may name, in the networks' order: what documents are made from. */
export function describeRules(networks: Iterable<Network>): readonly DescribedRule[] {
  return [...networks].flatMap((network) =>
    Object.entries({ ...mediaRules(network), ...network.rules }).map(([rule, described]) => ({
      network: network.name,
      rule,
      ...described,
    })),
  );
}

/** What every network whose files are looked into has in common; a rule of its own says more. */
function mediaRules(network: Network): RuleTable {
  if (network.media === undefined) return {};
  const { name } = network;
  const nowhere = { field: null, mediaIndex: null };
  const problems = [
    ...MEDIA_REASONS.map((reason) => refusalError({ name }, reason, nowhere)),
    unreachableError({ name }, nowhere),
    ...Object.entries(UNREACHABLE).map(([subject, words]) =>
      unreachableError({ name }, nowhere, { ...words, subject }),
    ),
    ...MEDIA_REPAIRS.map((repair) => repairWarning(name, repair, nowhere)),
  ];
  return Object.fromEntries(problems.map(toRule));
}

function toRule({ rule, severity, code, message, remediation }: Problem): [string, Rule] {
  return [rule, { severity, code, message, remediation }];
}
