import type { FindingCode } from "./errors.ts";

/** What a limit counts. */
type RuleUnit =
  | "UTF-16 units"
  | "graphemes"
  | "characters"
  | "bytes"
  | "files"
  | "pixels"
  | "frames"
  | "hashtags"
  | "mentions";

/** One rule of a network. What checks a draft, and what refuses a file while publishing, name it by its id. */
export interface Rule {
  /** At its worst: what is only suspected of a file's name is a warning. */
  readonly severity: "error" | "warning";
  readonly code: FindingCode;
  /** What is still allowed; absent where the rule is not about a number. */
  readonly limit?: number;
  readonly unit?: RuleUnit;
  /** The account's server may tell another limit. */
  readonly variesByServer?: true;
  /** `{used}` and `{limit}` are filled in. */
  readonly message: string;
  readonly remediation: string;
}

/** By `<network>.<subject>.<what>`. Ids are part of the contract: they stay. */
export type RuleTable = Readonly<Record<string, Rule>>;

/** The part of a limit from which on a small edit may break it. */
const NEARLY = 0.9;

/** Returns the warning for texts above nine tenths of the limit, which a small edit may break. */
export function nearLimit(max: number, unit: RuleUnit): Rule {
  return {
    severity: "warning",
    code: "text_too_long",
    limit: Math.floor(max * NEARLY),
    unit,
    message: "The text uses {used} of {limit} characters.",
    remediation: "Nothing needs to be done; a longer text may be refused.",
  };
}

/** A rule of a network that a draft breaks. `rule` is stable: `<network>.<subject>.<what>`, e.g. `bluesky.text.graphemes`. */
export interface Problem {
  readonly severity: "error" | "warning";
  readonly code: FindingCode;
  readonly rule: string;
  readonly message: string;
  readonly remediation: string;
  /** Path of the request's field: `text`, `mediaUrls`, `platformOptions.bluesky.langs` … */
  readonly field: string | null;
  readonly mediaIndex: number | null;
}

export interface TextMeasure {
  readonly usedCharacters: number;
  readonly maxCharacters: number;
}

interface Breach extends Partial<Pick<Problem, "field" | "mediaIndex" | "severity">> {
  readonly used?: number;
  /** In place of the table's own. */
  readonly limit?: number;
}

/** Returns the problem for a broken rule, in the rule's words. */
export function breach<Table extends RuleTable>(
  table: Table,
  id: keyof Table & string,
  { used, limit, field = null, mediaIndex = null, severity }: Breach = {},
): Problem {
  // Safe: the id is a key of the table.
  const rule = table[id] as Rule;
  const numbers: Readonly<Record<string, number | undefined>> = {
    used,
    limit: limit ?? rule.limit,
  };
  return {
    severity: severity ?? rule.severity,
    code: rule.code,
    rule: id,
    message: rule.message.replace(/\{(\w+)\}/g, (_place, name: string) => `${numbers[name] ?? ""}`),
    remediation: rule.remediation,
    field,
    mediaIndex,
  };
}

export function checkNearLimit<Table extends RuleTable>(
  table: Table,
  id: keyof Table & string,
  field: string,
  { usedCharacters: used, maxCharacters: limit }: TextMeasure,
): readonly Problem[] {
  if (used > limit || used <= limit * NEARLY) return [];
  return [breach(table, id, { used, limit, field })];
}

const FAR = 4;

/** Returns whether a text is so much too long that nothing else in it needs to be counted. */
export function isFarBeyond(used: number, limit: number): boolean {
  return used > limit * FAR;
}
