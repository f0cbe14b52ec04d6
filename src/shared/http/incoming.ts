import { AppError, validationFailed, type Issue } from "../runtime/errors.ts";
import type { Invocation } from "../runtime/telemetry/work-context.ts";

/** A request as the host gave it, before anything was judged. */
export interface Incoming {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly params: Readonly<Record<string, string>>;
  /** Reads the body; refused beyond the limit. */
  body(): Promise<Uint8Array>;
  /** The host's side of it; absent where a request does not come through the host. */
  readonly host?: Invocation;
}

const BODY_BYTES_MAX = 256 * 1024;
/** Of a form; ours have a dozen, and to take apart 100,000 of them takes long. */
const FIELDS_MAX = 100;
const DEPTH_MAX = 20;
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const ISSUES_MAX = 100;

async function readBounded(incoming: Incoming): Promise<Uint8Array> {
  const tooLarge = () =>
    new AppError("payload_too_large", `The body is larger than ${BODY_BYTES_MAX} bytes.`, {
      details: { bytesMax: BODY_BYTES_MAX },
    });
  if (Number(incoming.headers.get("content-length") ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  const bytes = await incoming.body();
  if (bytes.length > BODY_BYTES_MAX) throw tooLarge();
  return bytes;
}

function mediaType(incoming: Incoming): string {
  return (incoming.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new AppError("invalid_json", "The body is not UTF-8.");
  }
}

/** Text that can't be stored or shown: half a surrogate pair, or a NUL character. */
function isUnstorable(text: string): boolean {
  return !text.isWellFormed() || text.includes("\u0000");
}

/** Problems that no schema sees: names that reach into the prototype, unstorable text, absurd depth. */
function structuralIssues(value: unknown, path: readonly string[], issues: Issue[]): void {
  if (issues.length >= ISSUES_MAX) return;
  const add = (code: string, message: string) =>
    issues.push({ path: path.join("."), code, message });
  if (typeof value === "string") {
    if (isUnstorable(value)) add("invalid_text", "must be valid Unicode text without U+0000");
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (path.length >= DEPTH_MAX) {
    add("too_deep", `must not be nested deeper than ${DEPTH_MAX} levels`);
    return;
  }
  for (const [name, item] of Object.entries(value)) {
    if (FORBIDDEN_NAMES.has(name) || isUnstorable(name))
      issues.push({
        path: [...path, name].join("."),
        code: "forbidden_name",
        message: "is not allowed as a name",
      });
    structuralIssues(item, [...path, name], issues);
  }
}

/** A body as it was sent, and what is wrong with it that no schema sees. */
export interface ReadBody {
  readonly value: unknown;
  readonly issues: readonly Issue[];
}

/** The JSON body, `{}` when there is none. @throws AppError 400, 413 or 415 */
export async function readJson(incoming: Incoming): Promise<ReadBody> {
  const bytes = await readBounded(incoming);
  if (bytes.length === 0) return { value: {}, issues: [] };
  const type = mediaType(incoming);
  if (type !== "application/json" && !type.endsWith("+json"))
    throw new AppError("unsupported_media_type", "The body must be application/json.");
  let value: unknown;
  try {
    value = JSON.parse(decode(bytes));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("invalid_json", "The body is not valid JSON.");
  }
  const issues: Issue[] = [];
  structuralIssues(value, [], issues);
  return { value, issues };
}

/** The fields of an HTML form. @throws AppError 400, 413 or 415 */
export async function readForm(incoming: Incoming): Promise<ReadBody> {
  const bytes = await readBounded(incoming);
  if (bytes.length > 0 && mediaType(incoming) !== "application/x-www-form-urlencoded")
    throw new AppError("unsupported_media_type", "The body must be a form.");
  const text = decode(bytes);
  if (text.split("&", FIELDS_MAX + 1).length > FIELDS_MAX)
    throw validationFailed([
      { path: "body", code: "too_big", message: `must not have more than ${FIELDS_MAX} fields` },
    ]);
  return { value: Object.fromEntries(new URLSearchParams(text)), issues: [] };
}

/** The query's parameters; of a repeated one the last. */
export function readQuery(incoming: Incoming): Record<string, string> {
  return Object.fromEntries(incoming.url.searchParams);
}
