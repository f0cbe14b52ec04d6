import { nearLimit, type RuleTable } from "../../../../src/shared/networks/contract/rules.ts";

const GRAPHEMES_MAX = 120;

export const rules = {
  "pinboard.text.graphemes": {
    severity: "error",
    code: "text_too_long",
    limit: GRAPHEMES_MAX,
    unit: "graphemes",
    message: "The text has {used} characters; Pinboard takes {limit}.",
    remediation: "Shorten the text.",
  },
  "pinboard.text.nearLimit": nearLimit(GRAPHEMES_MAX, "graphemes"),
} as const satisfies RuleTable;
