import { isRecord } from "../runtime/is-record.ts";
import type * as z from "zod";
import { AppError, refuseIssues, validationFailed, type Issue } from "../runtime/errors.ts";
import { isNestedTooDeep } from "../runtime/json-depth.ts";
import type { Invocation } from "../runtime/telemetry/work-context.ts";
import { withoutAbsentNulls } from "./null-as-absent.ts";
import { issuesOf, issueWords, unknownIssue } from "./issue-words.ts";
import { duplicateKeys } from "./duplicate-json-keys.ts";
import { jsonProblem } from "./json-problem.ts";
import type { Route, UnparsedCall } from "./route.ts";
import { repeatedNames } from "./repeated-parameters.ts";

/** A request as the host received it, before any check. */
export interface Incoming {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly params: Readonly<Record<string, string>>;
  body(): Promise<Uint8Array>;
  /** The host's invocation, absent when a request doesn't come through the host. */
  readonly host?: Invocation;
}

const BODY_BYTES_MAX = 256 * 1024;
/** Maximum number of fields in a form. Ours have a dozen, and parsing 100,000 would take long. */
const FIELDS_MAX = 100;
const DEPTH_MAX = 20;
const TOO_DEEP = `must not be nested deeper than ${DEPTH_MAX} levels`;
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const ISSUES_MAX = 100;

/** Reads the body up to its maximum size. @throws AppError 411, 413 or 415 */
async function readBounded(incoming: Incoming): Promise<Uint8Array> {
  const { headers } = incoming;
  const codings = (headers.get("content-encoding") ?? "").split(",");
  if (codings.some((coding) => !["", "identity"].includes(coding.trim().toLowerCase())))
    throw new AppError(
      "unsupported_media_type",
      "The body came with a Content-Encoding and can't be read. Send it uncompressed, without that header.",
      { details: { acceptEncoding: "identity" } },
    );
  // The host doesn't pass on a body without a declared length, so it would seem empty.
  if (headers.has("transfer-encoding") && !headers.has("content-length"))
    throw new AppError(
      "length_required",
      "The body came with Transfer-Encoding: chunked and can't be read. Send Content-Length instead: in .NET, make a JsonContent, await its LoadIntoBufferAsync() and post that, instead of PostAsJsonAsync.",
    );
  const tooLarge = () =>
    new AppError("payload_too_large", `The body is larger than ${BODY_BYTES_MAX} bytes.`, {
      details: { bytesMax: BODY_BYTES_MAX },
    });
  if (Number(headers.get("content-length") ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  const bytes = await incoming.body();
  if (bytes.length > BODY_BYTES_MAX) throw tooLarge();
  return bytes;
}

function mediaType(incoming: Incoming): string {
  return (incoming.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function decodeStrictUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new AppError("invalid_json", "The body is not UTF-8.");
  }
}

/** Reports whether text can't be stored or shown: it has half a surrogate pair or a NUL character. */
function isUnstorable(text: string): boolean {
  return !text.isWellFormed() || text.includes("\u0000");
}

/** Finds what no schema reports: names that reach into the prototype, text that can't be stored, too deep nesting. */
function structuralIssues(value: unknown, path: readonly string[], issues: Issue[]): void {
  if (issues.length >= ISSUES_MAX) return;
  const add = (code: string, message: string) =>
    issues.push({ path: path.join("."), code, message });
  if (typeof value === "string") {
    if (isUnstorable(value))
      add(
        "invalid_text",
        "must be Unicode text without halves of surrogate pairs and without U+0000",
      );
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (path.length >= DEPTH_MAX) {
    add("too_deep", TOO_DEEP);
    return;
  }
  for (const [name, item] of Object.entries(value)) {
    if (FORBIDDEN_NAMES.has(name) || isUnstorable(name))
      issues.push({
        path: [...path, name].join("."),
        code: "forbidden_name",
        message: "is a name that is not allowed: choose another",
      });
    structuralIssues(item, [...path, name], issues);
  }
}

/** A body as it was sent, with the problems that no schema reports. */
interface ReadBody {
  readonly value: unknown;
  readonly issues: readonly Issue[];
}

/** Reads the JSON body, or `{}` when there is none. @throws AppError 400, 411, 413 or 415 */
export async function readJson(incoming: Incoming): Promise<ReadBody> {
  const bytes = await readBounded(incoming);
  if (bytes.length === 0) return { value: {}, issues: [] };
  const type = mediaType(incoming);
  if (type !== "application/json" && !type.endsWith("+json"))
    throw new AppError(
      "unsupported_media_type",
      "Send JSON with the header Content-Type: application/json.",
    );
  const text = decodeStrictUtf8(bytes);
  if (isNestedTooDeep(text))
    throw validationFailed([{ path: "body", code: "too_deep", message: TOO_DEEP }]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError("invalid_json", `The body is not valid JSON: ${jsonProblem(text)}.`);
  }
  const issues: Issue[] = duplicateKeys(text, ISSUES_MAX).map((path) => ({
    path,
    code: "repeated",
    message: "must be given once",
  }));
  structuralIssues(value, [], issues);
  return { value, issues };
}

/** Reads the fields of an HTML form. @throws AppError 400, 411, 413 or 415 */
export async function readForm(incoming: Incoming): Promise<ReadBody> {
  const bytes = await readBounded(incoming);
  if (bytes.length > 0 && mediaType(incoming) !== "application/x-www-form-urlencoded")
    throw new AppError("unsupported_media_type", "The body must be a form.");
  const text = decodeStrictUtf8(bytes);
  if (text.split("&", FIELDS_MAX + 1).length > FIELDS_MAX)
    throw validationFailed([
      { path: "body", code: "too_big", message: `must have at most ${FIELDS_MAX} fields` },
    ]);
  const fields = new URLSearchParams(text);
  return { value: Object.fromEntries(fields), issues: repeatedNames(fields) };
}

interface Input {
  readonly body: unknown;
  readonly query: unknown;
}

/**
 * Reads and parses the query and body of a request, and reports all problems together.
 * @throws AppError 400, 411, 413 or 415
 */
export async function parseInput(
  route: Route,
  incoming: Incoming,
  call: Omit<UnparsedCall<unknown>, "body">,
): Promise<Input> {
  const { method, spec } = route;
  const { searchParams } = incoming.url;
  const query =
    spec.query === undefined && isCalledByPrograms(route)
      ? {
          data: undefined,
          issues: [...new Set(searchParams.keys())].map((name) => unknownIssue(name)),
        }
      : parsePart(spec.query?.(), "query parameter", () =>
          // A repeated parameter was refused before.
          Object.fromEntries(searchParams),
        );
  if (spec.body === undefined) {
    refuseIssues(query.issues);
    return { query: query.data, body: undefined };
  }
  const read = await (spec.bodyKind === "form" ? readForm : readJson)(incoming);
  const schema = spec.body();
  const value = withoutAbsentNulls(schema, read.value, method === "PATCH");
  const parsed = parsePart(schema, "field", () => value);
  const found = addIssues(read.issues, parsed.issues);
  if (query.issues.length + found.length > 0) {
    const body = isRecord(value) ? value : {};
    const more = (await spec.moreIssues?.({ ...call, body })) ?? [];
    refuseIssues([...query.issues, ...addIssues(found, more)]);
  }
  return { query: query.data, body: parsed.data };
}

/** Reports whether nobody but the caller writes the address. Browsers, networks and probes add parameters of their own. */
export const isCalledByPrograms = ({ path, spec }: Pick<Route, "path" | "spec">): boolean =>
  path.startsWith("v1/") && spec.calledBy === undefined && spec.browserFields === undefined;

function parsePart(
  schema: z.ZodType | undefined,
  noun: "field" | "query parameter",
  read: () => unknown,
) {
  const result = schema?.safeParse(read(), { error: issueWords });
  if (result?.success === false)
    return { data: undefined, issues: issuesOf(result.error.issues, noun) };
  return { data: result?.data, issues: [] };
}

/** Adds issues of a later check, except for fields that already have one. A time's range is a problem of its own. */
function addIssues(found: readonly Issue[], later: readonly Issue[]): readonly Issue[] {
  const paths = new Set(found.map(({ path }) => path));
  return [
    ...found,
    ...later.filter(({ path, code }) => !paths.has(path) || code === "out_of_range"),
  ];
}
