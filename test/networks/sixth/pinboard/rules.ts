import {
  checkRules,
  type Problem,
  textRules,
  type TextMeasure,
} from "../../../../src/shared/networks/contract/rules.ts";
import { countGraphemes } from "../../../../src/shared/networks/contract/text.ts";
import type { LegDraft } from "../../../../src/shared/networks/contract/draft.ts";

export const rules = textRules({
  network: "pinboard",
  id: "graphemes",
  limit: 120,
  unit: "graphemes",
});

export function measure({ text }: LegDraft): TextMeasure {
  const maxCharacters = rules["pinboard.text.graphemes"].limit;
  return { usedCharacters: countGraphemes(text), maxCharacters };
}

export function check(draft: LegDraft): readonly Problem[] {
  return checkRules(rules, { draft, measured: measure(draft) });
}
