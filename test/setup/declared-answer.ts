import * as z from "zod";
import {
  declaredAnswers,
  errorBody,
  type DeclaredAnswer,
} from "../../tools/reference/declared-answers.ts";
import type { Route } from "../../src/shared/http/route.ts";
import type { Answer } from "./relay.ts";

const known = new WeakMap<Route, ReadonlyMap<number, DeclaredAnswer>>();

function declarationsOf(route: Route): ReadonlyMap<number, DeclaredAnswer> {
  const found = known.get(route);
  if (found !== undefined) return found;
  const made = new Map(declaredAnswers(route).map((declared) => [declared.status, declared]));
  known.set(route, made);
  return made;
}

/** What paths without a route answer. */
const UNROUTED = new Map([
  [404, errorBody(["not_found"])],
  [405, errorBody(["method_not_allowed"])],
]);

const HEADERS = z.looseObject({
  "x-request-id": z.string().regex(/^[A-Za-z0-9._-]{8,64}$/),
  "cache-control": z.union([
    z.literal("no-store"),
    z.string().regex(/^(?:public|private), max-age=\d+$/),
  ]),
  "x-content-type-options": z.literal("nosniff"),
  "strict-transport-security": z.string().startsWith("max-age="),
});

function problemOf(body: z.ZodType | undefined, answer: Answer): string | undefined {
  if (body === undefined)
    return answer.body === undefined ? undefined : "a body where none is declared";
  const result = body.safeParse(answer.body);
  return result.success ? undefined : z.prettifyError(result.error);
}

function problemOfRouted(declared: DeclaredAnswer, answer: Answer): string | undefined {
  const missing = declared.headers.filter(
    (name) => !isOptional(name, answer.status) && !answer.headers.has(name),
  );
  if (missing.length > 0) return `without ${missing.join(", ")}`;
  const type = answer.headers.get("content-type") ?? "";
  if (type.startsWith("text/html"))
    return declared.isPage ? undefined : "a page where none is declared";
  if (type.startsWith("image/"))
    return declared.isImage ? undefined : "a picture where none is declared";
  if (type.startsWith("text/csv")) return declared.isCsv ? undefined : "CSV where none is declared";
  if (type.startsWith("text/markdown"))
    return declared.isMarkdown ? undefined : "Markdown where none is declared";
  if (answer.headers.has("content-encoding")) return undefined;
  const isTyped = answer.body === undefined || type.startsWith("application/json");
  return isTyped ? problemOf(declared.body, answer) : `as ${type}`;
}

/** Absent from what is refused before the caller is known, from what is no replay, and from a body of another type. */
function isOptional(name: string, status: number): boolean {
  if (["Idempotent-Replayed", "Accept-Encoding", "Content-Encoding"].includes(name)) return true;
  return name.startsWith("RateLimit-") && status >= 400;
}

/**
 * Holds an answer against what its route declares, down to the last field.
 * @throws Error that names the route and what was not declared
 */
export function checkDeclared(route: Route | undefined, name: string, answer: Answer): void {
  const { status } = answer;
  const headers = HEADERS.safeParse(Object.fromEntries(answer.headers));
  let problem = headers.success ? undefined : z.prettifyError(headers.error);
  if (route === undefined) {
    const body = UNROUTED.get(status);
    problem ??= body === undefined ? "not declared" : problemOf(body, answer);
  } else {
    const declared = declarationsOf(route).get(status);
    problem ??= declared === undefined ? "not declared" : problemOfRouted(declared, answer);
  }
  if (problem === undefined) return;
  const shown = JSON.stringify(answer.body)?.slice(0, 1_000) ?? "nothing";
  throw new Error(`${name} answered ${status}: ${problem}\n${shown}`);
}
