import * as z from "zod";
import type { Issue } from "../runtime/errors.ts";

type ZodSchema = z.core.$ZodType;

/** The parts of a JSON Schema that messages are made from. */
interface MessageSchema extends Pick<
  z.core.JSONSchema.BaseSchema,
  "const" | "enum" | "format" | "minLength" | "maxLength" | "minItems" | "maxItems" | "properties"
> {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly anyOf?: readonly MessageSchema[];
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  array: "a list",
  object: "an object",
  boolean: "true or false",
  number: "a number",
  integer: "a whole number",
};
const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " items" };
/** Names of formats, by their names in JSON Schema and, if different, in issues. */
const FORMATS: Readonly<Record<string, string>> = {
  uri: "an http or https URL",
  email: "an email address such as ann@example.com",
  "date-time": "a time with Z or an offset, such as 2030-01-31T09:00:00Z",
};
const NAMES_OF_FORMATS: Readonly<Record<string, string>> = { url: "uri", datetime: "date-time" };

const numberText = (value: number | bigint) => value.toLocaleString("en-US");
const joinWords = (words: readonly string[], conjunction: string) =>
  words.length < 2
    ? words.join()
    : `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1) ?? ""}`;
const choices = (values: readonly unknown[]) =>
  joinWords(
    values.map((value) => JSON.stringify(value)),
    "or",
  );

const described = new WeakMap<ZodSchema, MessageSchema>();

/** Describes a schema as JSON Schema. The result is cached, because a list may have thousands of wrong items. */
function describe(schema: ZodSchema | undefined): MessageSchema {
  if (schema === undefined) return {};
  const known = described.get(schema);
  if (known !== undefined) return known;
  // Without metadata, because its ids would replace schemas by references.
  const metadata = z.registry<object>();
  const options = { io: "input", unrepresentable: "any", metadata } as const;
  // Safe: the result is of the present draft, in which a schema has one type and numeric limits.
  const made = z.toJSONSchema(schema, options) as MessageSchema;
  described.set(schema, made);
  return made;
}

/** Returns a limit of a number, or undefined for one that every whole number keeps. */
const keptLimit = (value: number | undefined) =>
  Math.abs(value ?? 0) === Number.MAX_SAFE_INTEGER ? undefined : value;

/**
 * Returns a range such as "1 to 5 items" (of a number's values, or a text's or list's length). Undefined without one.
 */
function rangeText(json: MessageSchema): string | undefined {
  const [min, max, unit] = [
    json.minLength ?? json.minItems ?? keptLimit(json.minimum ?? json.exclusiveMinimum),
    json.maxLength ?? json.maxItems ?? keptLimit(json.maximum ?? json.exclusiveMaximum),
    UNITS[json.type ?? ""] ?? "",
  ];
  if (max === undefined)
    return min === undefined ? undefined : `at least ${numberText(min)}${unit}`;
  if (min === undefined) return `at most ${numberText(max)}${unit}`;
  return `${numberText(min)} to ${numberText(max)}${unit}`;
}

/** Says what a schema accepts, such as "a list of 1 to 5 items". */
function expected(json: MessageSchema): string {
  const { type = "", format = "", anyOf } = json;
  if (anyOf !== undefined)
    return joinWords(
      anyOf.map((option) => expected(option)),
      "or",
    );
  if (json.enum !== undefined || "const" in json) return choices(json.enum ?? [json.const]);
  const words = rangeText(json);
  const kind = KINDS[type] ?? "something else";
  if (FORMATS[format] !== undefined) return FORMATS[format];
  if (words === undefined) return kind;
  return UNITS[type] === undefined ? `${kind} from ${words}` : `${kind} of ${words}`;
}

/** A longer name is no typing error of one of ours, and comparing it takes time. */
const COMPARED_CHARACTERS_MAX = 40;
const TYPING_ERRORS_MAX = 2;

const lettersOf = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Returns how many letters must be added, left out or replaced to make one text of another (Levenshtein). */
function editsBetween(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 0; row < left.length; row += 1) {
    const line = [row + 1];
    for (let column = 0; column < right.length; column += 1)
      line.push(
        Math.min(
          (above[column] ?? 0) + (left[row] === right[column] ? 0 : 1),
          (above[column + 1] ?? 0) + 1,
          (line[column] ?? 0) + 1,
        ),
      );
    above = line;
  }
  return above[right.length] ?? 0;
}

/** Returns the name that was probably meant: one with the same letters but for a few, or with more behind them. */
export function meantName(given: string, names: readonly string[]): string | undefined {
  if (given.length > COMPARED_CHARACTERS_MAX) return undefined;
  const letters = lettersOf(given);
  const editsMax = Math.min(TYPING_ERRORS_MAX, Math.floor(letters.length / 3));
  const [closest] = names
    .map((name) => ({ name, edits: editsBetween(letters, lettersOf(name)) }))
    .filter(({ edits }) => edits <= editsMax)
    .toSorted((first, second) => first.edits - second.edits);
  const isBeginning = (name: string) => letters.length > 2 && lettersOf(name).startsWith(letters);
  return closest?.name ?? names.find(isBeginning);
}

/** Names of media types that programs use instead of the registered ones. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  "audio/mp3": "audio/mpeg",
  "audio/m4a": "audio/mp4",
  "audio/x-m4a": "audio/mp4",
  "video/mov": "video/quicktime",
};

/** Returns the choice that was probably meant. Media types are compared with those of their own family. */
function meantChoice(given: string, values: readonly unknown[]): string | undefined {
  const written = given.trim().toLowerCase();
  const word = MEDIA_TYPES[written] ?? written;
  const family = word.slice(0, word.indexOf("/") + 1);
  const names = values
    .filter((value) => typeof value === "string")
    .filter((value) => value.startsWith(family))
    .map((value) => value.slice(family.length));
  const meant = meantName(word.slice(family.length), names);
  return meant === undefined ? undefined : `${family}${meant}`;
}

/** Makes the issue of a query parameter of a route that has none. */
export const unknownIssue = (name: string): Issue => ({
  path: name,
  code: "unknown_field",
  message: unknownWords(name, [], "query parameter"),
});

/** Says for each unknown name which one was probably meant, and which there are. */
function unknownWords(given: string, names: readonly string[], noun: string): string {
  const meant = meantName(given, names);
  const quoted = names.map((name) => JSON.stringify(name));
  const about = `is not a known ${noun}`;
  if (quoted.length === 0) return `${about}, and there are none: leave it out`;
  const hint = meant === undefined ? "" : `. Did you mean ${JSON.stringify(meant)}?`;
  if (given === "page" && names.includes("cursor"))
    return `${about}. Pages have no numbers: send \`page.nextCursor\` of the page before as "cursor"`;
  if (given === "problem" && noun === "query parameter" && names.includes("platform"))
    return `${about}. It is one of \`GET /v1/applications/{applicationId}/posts\`, which lists the posts of all profiles`;
  const list = quoted.length === 1 ? `The only one is` : `The ${noun}s are`;
  return `${about}${hint || "."} ${list} ${joinWords(quoted, "and")}`;
}

/**
 * Puts an issue of a schema into our words, which follow the field's name. A message of the schema itself comes first.
 * Values other than numbers are not repeated, because they may be secrets.
 */
export const issueWords: z.core.$ZodErrorMap = (issue) => {
  const json = describe(issue.schema);
  const { input } = issue;
  switch (issue.code) {
    case "invalid_type": {
      if (input === undefined) return `is missing and must be ${expected(json)}`;
      // Only the kind of the value that was sent instead.
      let received = typeof input === "string" ? "text" : "a number";
      if (input === null || typeof input === "boolean") received = String(input);
      else if (Array.isArray(input)) received = "a list";
      else if (typeof input === "object") received = "an object";
      else if (typeof input === "number" && /^(?:number|integer)$/.test(json.type ?? ""))
        received = String(input);
      return `must be ${expected(json)}, not ${received}`;
    }
    case "too_big":
    case "too_small": {
      if (typeof input === "number") return `must be ${expected(json)}, not ${String(input)}`;
      // Characters as the limits count them, which are those of JSON Schema.
      const isCounted = typeof input === "string" || Array.isArray(input);
      const length = isCounted ? Array.from(input).length : 0;
      return `must have ${rangeText(json) ?? "another length"}, not ${numberText(length)}`;
    }
    case "invalid_format": {
      const { format, pattern } = issue;
      if (format === "starts_with" && "prefix" in issue)
        return `must begin with ${JSON.stringify(issue["prefix"])}`;
      const words = FORMATS[NAMES_OF_FORMATS[format] ?? format];
      return `must be ${words ?? `of the form ${pattern ?? format}`}`;
    }
    case "invalid_value": {
      if (input === undefined) return `is missing and must be ${choices(issue.values)}`;
      const meant = typeof input === "string" ? meantChoice(input, issue.values) : undefined;
      const about =
        meant === undefined
          ? ""
          : `is not a known choice. Did you mean ${JSON.stringify(meant)}? It `;
      return `${about}must be ${choices(issue.values)}`;
    }
    case "unrecognized_keys":
      // The message is one for all keys, and `issuesAt` makes one of each.
      return Object.keys(json.properties ?? {}).join(NAMES_SEPARATOR);
    case "invalid_key":
      return `has an invalid name: it ${issue.issues[0]?.message ?? "must be another"}`;
    case "invalid_union":
      return `must be ${expected(json)}`;
    default:
      return "is invalid";
  }
};

/** Separates names in a message that `issuesAt` reads. No name of ours has it. */
const NAMES_SEPARATOR = "\n";

type Path = readonly PropertyKey[];

/** Reports an unknown field under its own name, not under its parent's. */
function issuesAt(issue: z.core.$ZodIssue, above: Path, noun: string): readonly Issue[] {
  const path = [...above, ...issue.path].map(String);
  const { code, message } = issue;
  if (code === "unrecognized_keys") {
    const names = message.split(NAMES_SEPARATOR).filter((name) => name !== "");
    return issue.keys.map((key) => ({
      path: [...path, key].join("."),
      code: "unknown_field",
      message: unknownWords(key, names, noun),
    }));
  }
  if (code === "invalid_union") {
    const isOtherKind = (inner: z.core.$ZodIssue) =>
      inner.path.length === 0 && (inner.code === "invalid_type" || inner.code === "invalid_value");
    const [meant, ...others] = issue.errors.filter((issues) => !issues.some(isOtherKind));
    // Only one option fits the kind of the value that was sent.
    if (meant !== undefined && others.length === 0)
      return meant.flatMap((inner) => issuesAt(inner, path, noun));
  }
  return [{ path: path.join(".") || "body", code, message }];
}

/**
 * Returns all issues of a schema. A value of the wrong kind is reported once, without its length.
 * @param noun what the schema's names are, for those that it doesn't have
 */
export function issuesOf(
  found: readonly z.core.$ZodIssue[],
  noun: "field" | "query parameter",
): readonly Issue[] {
  const issues = found.flatMap((issue) => issuesAt(issue, [], noun));
  const wrong = new Set(issues.filter(isOfWrongKind).map(({ path }) => path));
  const seen = new Set<string>();
  return issues.filter((issue) => {
    if (wrong.has(issue.path) && !isOfWrongKind(issue)) return false;
    const key = JSON.stringify([issue.path, issue.message]);
    return seen.size < seen.add(key).size;
  });
}

const isOfWrongKind = ({ code }: Issue) => code === "invalid_type";
