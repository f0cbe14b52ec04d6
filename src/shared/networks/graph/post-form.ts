import { fieldOf, type LegDraft } from "../contract/draft.ts";
import { breach, checkRules } from "../contract/rules.ts";
import type { CheckedTable, Problem, RuleTable, TextMeasure } from "../contract/rules.ts";

/** What the rules of a network read out of a draft whose files decide what it becomes. */
export interface FormFacts<Form extends string, Options> {
  readonly draft: LegDraft;
  readonly options: Options;
  readonly measured: TextMeasure;
  /** By the names of the files; undefined where they tell nothing, or make up no post. */
  readonly form: Form | undefined;
  /** Whether the files make up no post. */
  readonly isNone: boolean;
}

/** Returns the problem of files that make up no post: `rule` is the one that they break. */
export function noPost<Table extends RuleTable>(
  table: Table,
  rule: keyof Table & string,
  draft: LegDraft,
): Problem {
  const [network = ""] = rule.split(".", 1);
  return breach(table, rule, { field: fieldOf(network, draft, "mediaUrls") });
}

interface Given<Form extends string, Broken extends string, Options> {
  readonly draft: LegDraft;
  readonly options: Options;
  readonly measured: TextMeasure;
  /** The form, or the rule that the files break; undefined where their names do not tell. */
  readonly found: Form | Broken | undefined;
  readonly isForm: (found: Form | Broken) => found is Form;
}

/** Returns the problems of a draft by a table of rules, and the rule by which its files make up no post. */
export function checkForm<Form extends string, Broken extends string, Options>(
  table: CheckedTable<FormFacts<Form, Options>>,
  { found, isForm, ...given }: Given<Form, Broken, Options>,
): readonly Problem[] {
  if (found === undefined || isForm(found))
    return checkRules(table, { ...given, form: found, isNone: false });
  const broken = checkRules(table, { ...given, form: undefined, isNone: true });
  return [...broken, noPost(table, found, given.draft)];
}
