import type * as z from "zod";
import { AppError, validationFailed } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Log } from "../log.ts";
import type { Page } from "../page.ts";
import type { Services } from "../services.ts";
import type { AccessRequest } from "./access.ts";
import { callerAddress } from "./caller-address.ts";
import { ERROR_STATUS } from "./error-status.ts";
import { readForm, readJson, readQuery, type Incoming } from "./incoming.ts";
import { RequestLimits } from "./rate-limit.ts";
import { paged, Reply } from "./reply.ts";
import { matchPath, type Route } from "./route.ts";

/** An answer ready for the host. */
export interface Outgoing {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | undefined;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;

function requestIdOf(incoming: Incoming, now: Date): string {
  const given = incoming.headers.get("x-request-id");
  return given !== null && REQUEST_ID.test(given) ? given : newId("request", now);
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw validationFailed(result.error.issues.flatMap(toIssues));
}

/** An unknown field is reported under its own name, not under its parent's. */
function toIssues(issue: z.core.$ZodIssue) {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key].join("."),
      code: "unknown_field",
      message: "is not a field of this request",
    }));
  return [{ path: path.join(".") || "body", code: issue.code, message: issue.message }];
}

/** Who asks, as the route's access judges it. A wrong credential counts against the address it came from. */
async function resolveScope({ spec }: Route, request: AccessRequest): Promise<unknown> {
  try {
    return await spec.access.resolve(request);
  } catch (error) {
    request.limits.noteRefusal(error);
    throw error;
  }
}

async function run(route: Route, incoming: Incoming, request: AccessRequest) {
  const { spec } = route;
  const { services, headers, params } = request;
  const scope = await resolveScope(route, request);
  const query = spec.query === undefined ? undefined : parse(spec.query, readQuery(incoming));
  const read = spec.bodyKind === "form" ? readForm : readJson;
  const body = spec.body === undefined ? undefined : parse(spec.body, await read(incoming));
  return await spec.run({ services, scope, params, body, query, headers });
}

function toOutgoing({ list, status: declaredStatus }: Route["spec"], made: unknown): Outgoing {
  // Safe: the types of `route` let a list's verb answer nothing but a page.
  const result = list === true ? paged(made as Page<unknown>) : made;
  const headers = new Headers();
  if (!(result instanceof Reply)) {
    if (declaredStatus === 204) return { status: 204, headers, body: undefined };
    headers.set("content-type", "application/json; charset=utf-8");
    return { status: declaredStatus, headers, body: JSON.stringify({ data: result }) };
  }
  for (const [name, value] of result.headers) headers.append(name, value);
  return { status: result.status ?? declaredStatus, headers, body: result.body };
}

function asAppError(error: unknown, log: Log): AppError {
  const known =
    error instanceof AppError
      ? error
      : new AppError("internal_error", "Something went wrong on our side. The error was recorded.");
  if (ERROR_STATUS[known.code] >= 500) log.error("request failed", { error });
  return known;
}

function toError(known: AppError, requestId: string): Outgoing {
  const status = ERROR_STATUS[known.code];
  const headers = new Headers({ "content-type": "application/json; charset=utf-8" });
  if (status === 401) headers.set("www-authenticate", "Bearer");
  if (known.code === "method_not_allowed" && Array.isArray(known.details["allow"]))
    headers.set("allow", known.details["allow"].join(", "));
  const retryAfter = known.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  const { code, message, details } = known;
  return {
    status,
    headers,
    body: JSON.stringify({ error: { code, message, details, requestId } }),
  };
}

function addStandardHeaders(outgoing: Outgoing, requestId: string): void {
  const standard: Readonly<Record<string, string>> = {
    "x-request-id": requestId,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "strict-transport-security": "max-age=31536000; includeSubDomains",
  };
  for (const [name, value] of Object.entries(standard))
    if (!outgoing.headers.has(name)) outgoing.headers.set(name, value);
}

/** Runs a route and turns whatever comes of it into an answer; never throws. */
export async function answer(
  route: Route,
  services: Services,
  incoming: Incoming,
): Promise<Outgoing> {
  const startedAt = services.clock.now();
  const requestId = requestIdOf(incoming, startedAt);
  const log = services.log.with({ requestId, route: `${route.method} ${route.path}` });
  const { headers, params } = incoming;
  const ip = callerAddress(headers, services.config.limits.trustedProxyHops);
  const limits = new RequestLimits(services, ip);
  const request = { services, headers, params, requestId, ip, limits };
  let outgoing: Outgoing;
  let refusal: AppError | undefined;
  try {
    outgoing = toOutgoing(route.spec, await run(route, incoming, request));
  } catch (error) {
    refusal = asAppError(error, log);
    outgoing = toError(refusal, requestId);
  }
  addStandardHeaders(outgoing, requestId);
  for (const [name, value] of limits.headers()) outgoing.headers.set(name, value);
  const durationMs = services.clock.now().getTime() - startedAt.getTime();
  // Not `code`: the log blots out what is called that, for the codes of authenticator apps.
  const reason = refusal === undefined ? {} : { refusal: refusal.code };
  log.info("request", { status: outgoing.status, ...reason, durationMs });
  return outgoing;
}

/** Answers what no route took: 405 where the path is known, else 404, both in the envelope. `path` has no prefix. */
export function answerUnrouted(
  routes: readonly Route[],
  services: Services,
  incoming: Incoming,
  path: string,
): Outgoing {
  const requestId = requestIdOf(incoming, services.clock.now());
  const allow = [...new Set(matchPath(routes, path).map(({ route }) => route.method))];
  // A path that only nearly fits, with a slash too many, gets here although a route takes the method.
  const error =
    allow.length > 0 && !allow.some((method) => method === incoming.method)
      ? new AppError("method_not_allowed", `This path takes ${allow.join(", ")}.`, {
          details: { allow },
        })
      : new AppError("not_found", "There is no such route.");
  const outgoing = toError(error, requestId);
  addStandardHeaders(outgoing, requestId);
  return outgoing;
}
