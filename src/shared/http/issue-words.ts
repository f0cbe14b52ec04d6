import type * as z from "zod";
import type { Issue } from "../runtime/errors.ts";

type Schema = z.core.$ZodType;
type Raw = z.core.$ZodRawIssue;

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  array: "a list",
  object: "an object",
  record: "an object",
  boolean: "true or false",
};
const FORMATS: Readonly<Record<string, string>> = {
  url: "an http or https URL",
  email: "an e-mail address such as ann@example.com",
  datetime: "a time with Z or an offset, such as 2030-01-31T09:00:00Z",
};

const number = (value: number | bigint) => value.toLocaleString("en-US");
const joined = (words: readonly string[], conjunction: string) =>
  words.length < 2
    ? words.join()
    : `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1) ?? ""}`;
const choices = (values: readonly unknown[]) =>
  joined(
    values.map((value) => JSON.stringify(value)),
    "or",
  );

interface Range {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** What a schema or a check is made of, as far as words are made of it. */
interface Definition {
  readonly type?: string;
  readonly format?: string;
  readonly check?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly value?: number;
  readonly values?: readonly unknown[];
  readonly entries?: object;
  readonly shape?: object;
  readonly options?: readonly Schema[];
  readonly checks?: readonly (Schema | z.core.$ZodCheck)[];
}

// Safe: schemas and checks are made of these where they have them, and the library offers no other way to read them.
const definitionOf = (made: Schema | z.core.$ZodCheck | undefined) =>
  // oxlint-disable-next-line no-underscore-dangle -- the library's own name
  (made?._zod.def ?? {}) as Definition;

const checksOf = ({ checks = [] }: Definition) => checks.map(definitionOf);

/** Returns the bounds that a schema's checks set: of a number its values, of text and lists their lengths. */
function rangeOf(definition: Definition): Range {
  let min: number | undefined;
  let max: number | undefined;
  for (const { check, minimum, maximum, value } of checksOf(definition)) {
    if (check === "min_length") min = minimum;
    else if (check === "max_length") max = maximum;
    else if (check === "greater_than") min = value;
    else if (check === "less_than") max = value;
  }
  return { min, max };
}

/** Returns a range as in "1 to 5 items"; undefined where there is none. */
function rangeWords({ min, max }: Range, unit = ""): string | undefined {
  if (max === undefined) return min === undefined ? undefined : `at least ${number(min)}${unit}`;
  if (min === undefined) return `at most ${number(max)}${unit}`;
  return `${number(min)} to ${number(max)}${unit}`;
}

const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " items" };

function numberWords(definition: Definition): string {
  const isWhole =
    definition.format !== undefined ||
    checksOf(definition).some(({ check }) => check === "number_format");
  const kind = isWhole ? "a whole number" : "a number";
  const range = rangeWords(rangeOf(definition));
  return range === undefined ? kind : `${kind} from ${range}`;
}

/** Says what a schema takes, as in "a list of 1 to 5 items". */
function expected(schema: Schema | undefined): string {
  const definition = definitionOf(schema);
  const { type = "", values, entries } = definition;
  if (type === "number") return numberWords(definition);
  if (type === "literal" || type === "enum") return choices(values ?? Object.values(entries ?? {}));
  const format = formatOf(definition);
  if (format !== undefined) return format;
  const kind = KINDS[type] ?? "something else";
  const range = rangeWords(rangeOf(definition), UNITS[type]);
  return range === undefined ? kind : `${kind} of ${range}`;
}

function formatOf(definition: Definition): string | undefined {
  const formats = [definition, ...checksOf(definition)].map(({ format = "" }) => FORMATS[format]);
  return formats.find((format) => format !== undefined);
}

/** Says what came instead of it, and nothing of what it says: it may be a secret. */
function received(input: unknown): string {
  if (input === null || typeof input === "boolean") return String(input);
  if (Array.isArray(input)) return "a list";
  if (typeof input === "object") return "an object";
  return typeof input === "string" ? "text" : "a number";
}

const typeWords = (issue: Raw, schema: Schema | undefined) => {
  const { input } = issue;
  if (input === undefined) return `is missing and must be ${expected(schema)}`;
  const isOfKind = typeof input === "number" && definitionOf(schema).type === "number";
  const found = isOfKind ? String(input) : received(input);
  return `must be ${expected(schema)}, not ${found}`;
};

function sizeWords(issue: Raw, schema: Schema | undefined): string {
  const { input } = issue;
  if (typeof input === "number") return `must be ${expected(schema)}, not ${String(input)}`;
  const isText = typeof input === "string";
  const unit = UNITS[isText ? "string" : "array"];
  const length = isText || Array.isArray(input) ? input.length : 0;
  return `must have ${rangeWords(rangeOf(definitionOf(schema)), unit) ?? "another length"}, not ${number(length)}`;
}

function formatWords(issue: Extract<Raw, { readonly code: "invalid_format" }>): string {
  if (issue.format === "starts_with" && "prefix" in issue)
    return `must begin with ${JSON.stringify(issue["prefix"])}`;
  return `must be ${FORMATS[issue.format] ?? `of the form ${issue.pattern ?? issue.format}`}`;
}

/** Says which fields there are, for one that there is not. */
function unknownWords(schema: Schema | undefined): string {
  const names = Object.keys(definitionOf(schema).shape ?? {}).map((name) => JSON.stringify(name));
  return names.length === 0
    ? "is not a field here: leave it out, nothing is taken"
    : `is not a field here: leave it out, or use ${joined(names, "or")}`;
}

const choiceWords = ({ input }: Raw, values: readonly unknown[]) =>
  `${input === undefined ? "is missing and must be" : "must be"} ${choices(values)}`;

const nameWords = ({ issues }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidKey>) =>
  `has a name that does not fit: it ${issues[0]?.message ?? "must be another"}`;

const unionWords = (schema: Schema | undefined) =>
  `must be ${joined((definitionOf(schema).options ?? []).map(expected), "or")}`;

// Safe: an issue that names no schema was reported by one.
const schemaOf = ({ schema, inst }: Raw) => schema ?? (inst as Schema | undefined);

/**
 * Puts an issue of a schema into our words, as they follow the field's name. What a schema says itself goes before.
 * Values are not repeated, except numbers: they may be secrets.
 */
export const issueWords: z.core.$ZodErrorMap = (issue) => {
  const schema = schemaOf(issue);
  switch (issue.code) {
    case "invalid_type":
      return typeWords(issue, schema);
    case "too_big":
    case "too_small":
      return sizeWords(issue, schema);
    case "invalid_format":
      return formatWords(issue);
    case "invalid_value":
      return choiceWords(issue, issue.values);
    case "unrecognized_keys":
      return unknownWords(schema);
    case "invalid_key":
      return nameWords(issue);
    case "invalid_union":
      return unionWords(schema);
    default:
      return "does not fit";
  }
};

type Path = readonly PropertyKey[];

/** Reports an unknown field under its own name, not under its parent's. */
function issuesAt(issue: z.core.$ZodIssue, above: Path): readonly Issue[] {
  const path = [...above, ...issue.path].map(String);
  const { code, message } = issue;
  if (code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key].join("."),
      code: "unknown_field",
      message,
    }));
  const meant = code === "invalid_union" ? meantOption(issue.errors) : undefined;
  if (meant !== undefined) return meant.flatMap((inner) => issuesAt(inner, path));
  return [{ path: path.join(".") || "body", code, message }];
}

/** Returns what is wrong with the one option of a union that is of the kind that came; undefined if there is none. */
function meantOption(
  options: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  const isOtherKind = ({ path, code }: z.core.$ZodIssue) =>
    path.length === 0 && (code === "invalid_type" || code === "invalid_value");
  const fitting = options.filter((issues) => !issues.some(isOtherKind));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Returns all issues of a schema. One of the wrong kind is reported once: its length is no length of ours. */
export function issuesOf(found: readonly z.core.$ZodIssue[]): readonly Issue[] {
  const issues = found.flatMap((issue) => issuesAt(issue, []));
  const wrong = new Set(issues.filter(isOfWrongKind).map(({ path }) => path));
  const seen = new Set<string>();
  return issues.filter((issue) => {
    if (wrong.has(issue.path) && !isOfWrongKind(issue)) return false;
    const key = JSON.stringify([issue.path, issue.message]);
    return seen.size < seen.add(key).size;
  });
}

const isOfWrongKind = ({ code }: Issue) => code === "invalid_type";
