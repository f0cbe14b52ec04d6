import { fieldOf, type LegDraft, type MediaKind, checkNames } from "../contract/draft.ts";
import { breach, type CheckedTable, checkRules, ruleRows } from "../contract/rules.ts";
import type { Problem, RuleTable, TextMeasure } from "../contract/rules.ts";

/** Facts about a draft whose files decide which form it takes. */
export interface FormFacts<Form extends string, Options> {
  readonly draft: LegDraft;
  readonly options: Options;
  readonly measured: TextMeasure;
  /** By the names of the files. Undefined when the names don't tell, or the files make no post. */
  readonly form: Form | undefined;
  /** Whether the files make no post. */
  readonly isNone: boolean;
}

interface FormOptions {
  readonly kind?: "feed" | "reel" | "story" | undefined;
  readonly firstComment?: string | undefined;
}

/** Returns the rules on reels and stories that both networks have. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the ids of what it returns have it
export function formRules<const Network extends string>(network: Network) {
  const { error, warning } = ruleRows<FormFacts<string, FormOptions>>();
  const rows = {
    "reel.media": error("media_rejected"),
    "story.media": error("media_rejected"),
    "story.text": warning("option_unused", {
      field: "text",
      broken: ({ draft, form }) => isStory(form) && draft.text.trim() !== "",
    }),
    "firstComment.story": error("feature_unsupported", {
      broken: ({ form, options }) =>
        options.firstComment !== undefined && (options.kind === "story" || isStory(form)),
    }),
  };
  // Safe: the keys that are made here.
  return Object.fromEntries(
    Object.entries(rows).map(([id, row]) => [`${network}.${id}`, row]),
  ) as unknown as { readonly [Id in keyof typeof rows as `${Network}.${Id}`]: (typeof rows)[Id] };
}

export function isStory(form: string | undefined): boolean {
  return form?.endsWith("_story") === true;
}

/** Returns whether files take this form; otherwise it is the id of the rule that they break. */
export function isForm<Found extends string>(
  found: Found,
): found is Exclude<Found, `${string}.${string}`> {
  return !found.includes(".");
}

/** Returns the problem of files that make no post. `rule` is the rule that they break. */
export function noPost<Table extends RuleTable>(
  table: Table,
  rule: keyof Table & string,
  draft: LegDraft,
): Problem {
  const [network = ""] = rule.split(".", 1);
  return breach(table, rule, { field: fieldOf(network, draft, "mediaUrls") });
}

type FormOf = (draft: LegDraft, kinds: readonly MediaKind[]) => string;

/** Returns the problems of a draft by a table of rules, including the rule by which its files make no post. */
export function checkForm<Form extends string, Options>(
  table: CheckedTable<FormFacts<Form, Options>>,
  given: Pick<FormFacts<Form, Options>, "draft" | "options" | "measured">,
  formOf: FormOf,
): readonly Problem[] {
  const { draft } = given;
  const found = checkNames(draft, (kinds) => formOf(draft, kinds));
  if (found === undefined || isForm(found))
    // Safe: what is no rule is a form.
    return checkRules(table, { ...given, form: found as Form | undefined, isNone: false });
  const broken = checkRules(table, { ...given, form: undefined, isNone: true });
  return [...broken, noPost(table, found, draft)];
}
