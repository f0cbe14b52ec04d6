import {
  breach,
  checkNearLimit,
  type Problem,
  type TextMeasure,
} from "../../../../src/shared/networks/contract/rules.ts";
import { countGraphemes } from "../../../../src/shared/networks/contract/text.ts";
import { fieldOf, type LegDraft } from "../../../../src/shared/networks/contract/draft.ts";
import { rules } from "./rule-table.ts";

export function measure({ text }: LegDraft): TextMeasure {
  const maxCharacters = rules["pinboard.text.graphemes"].limit;
  return { usedCharacters: countGraphemes(text), maxCharacters };
}

export function check(draft: LegDraft): readonly Problem[] {
  const field = fieldOf("pinboard", draft, "text");
  const measured = measure(draft);
  const { usedCharacters: used, maxCharacters: limit } = measured;
  return [
    ...(used > limit ? [breach(rules, "pinboard.text.graphemes", { used, limit, field })] : []),
    ...checkNearLimit(rules, "pinboard.text.nearLimit", field, measured),
  ];
}
