import type { LegErrorCode } from "./errors.ts";

/** What a limit counts. */
type RuleUnit =
  | "UTF-16 units"
  | "graphemes"
  | "characters"
  | "bytes"
  | "files"
  | "pixels"
  | "hashtags"
  | "mentions";

/** One rule of a network. What checks a draft, and what refuses a file while publishing, name it by its id. */
export interface Rule {
  /** At its worst: what is only suspected of a file's name is a warning. */
  readonly severity: "error" | "warning";
  readonly code: LegErrorCode;
  /** What is still allowed; absent where the rule is not about a number. */
  readonly limit?: number;
  readonly unit?: RuleUnit;
  /** The account's server may tell another limit. */
  readonly isTold?: true;
  /** `{used}` and `{limit}` are filled in. */
  readonly message: string;
  readonly remediation: string;
}

/** By `<network>.<subject>.<what>`. Ids are part of the contract: they stay. */
export type RuleTable = Readonly<Record<string, Rule>>;

/** The part of a limit from which on a small edit may break it. */
export const NEARLY = 0.9;

/** Of texts above nine tenths of the limit: a small edit makes them fail. */
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
