import type * as z from "zod";
import { refuseIssues, type Issue } from "../runtime/errors.ts";
import { readForm, readJson, readQuery, type Incoming } from "./incoming.ts";
import type { Route, Unparsed } from "./route.ts";

/** The body and the query as their schemas made them. */
interface Input {
  readonly body: unknown;
  readonly query: unknown;
}

/**
 * Reads and parses what a request brings. Everything that is wrong with it is told at once.
 * @throws AppError 400, 413 or 415
 */
export async function parseInput(
  { spec }: Route,
  incoming: Incoming,
  call: Omit<Unparsed<unknown>, "body">,
): Promise<Input> {
  const query = parse(spec.query?.(), () => readQuery(incoming));
  if (spec.body === undefined)
    return accepted({ query: query.data, body: undefined }, query.issues);
  const read = await (spec.bodyKind === "form" ? readForm : readJson)(incoming);
  const parsed = parse(spec.body(), () => read.value);
  const found = joined(read.issues, parsed.issues);
  const isRefused = query.issues.length + found.length > 0;
  const beside = isRefused
    ? await spec.issuesBeside?.({ ...call, body: fieldsOf(read.value) })
    : [];
  const issues = [...query.issues, ...joined(found, beside ?? [])];
  return accepted({ query: query.data, body: parsed.data }, issues);
}

function accepted(input: Input, issues: readonly Issue[]): Input {
  refuseIssues(issues);
  return input;
}

interface Parsed {
  readonly data: unknown;
  readonly issues: readonly Issue[];
}

function parse(schema: z.ZodType | undefined, read: () => unknown): Parsed {
  const result = schema?.safeParse(read());
  if (result?.success === false)
    return { data: undefined, issues: result.error.issues.flatMap(toIssues) };
  return { data: result?.data, issues: [] };
}

/** An unknown field is reported under its own name, not under its parent's. */
function toIssues(issue: z.core.$ZodIssue): readonly Issue[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key].join("."),
      code: "unknown_field",
      message: "is not a field of this request",
    }));
  return [{ path: path.join(".") || "body", code: issue.code, message: issue.message }];
}

/** Of a field that has been found wrong, what a later look finds says nothing new. */
function joined(found: readonly Issue[], later: readonly Issue[]): readonly Issue[] {
  const paths = new Set(found.map(({ path }) => path));
  return [...found, ...later.filter(({ path }) => !paths.has(path))];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  // Safe: any object has names and values.
  return isObject ? (value as Readonly<Record<string, unknown>>) : {};
}
