import { actorOf } from "../callers/caller.ts";
import { NewerRow } from "../runtime/storage/damaged-row.ts";
import { AppError, notFound, serviceUnavailable } from "../runtime/errors.ts";
import { isId, newId } from "../runtime/ids.ts";
import { withTimeLimit } from "../runtime/promises.ts";
import { docUrl } from "../runtime/doc-url.ts";
import { chooseLocale } from "../runtime/locale.ts";
import type { Log } from "../runtime/log.ts";
import type { Page } from "../runtime/page.ts";
import { newWork, works } from "../runtime/telemetry/work-context.ts";
import { storedRows } from "../people/people.ts";
import { callerAddress } from "../callers/caller-address.ts";
import type { HttpDeps } from "./deps.ts";
import { ERROR_CATALOG } from "../runtime/error-catalog.ts";
import { headerText } from "./headers.ts";
import type { Incoming } from "./parse-input.ts";
import { RequestLimits } from "./rate-limit.ts";
import { paged, Reply } from "./reply.ts";
import { matchPath, methodsOf, type RouteKey, type Route } from "./route.ts";
import { runRoute } from "./run-route.ts";
import { routeHint } from "./route-hint.ts";
import { refuseRepeats } from "./repeated-parameters.ts";

/** Headers of every answer that doesn't set them itself. */
const STANDARD_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
};

/** An answer as the host sends it. */
export interface Outgoing {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | Uint8Array | undefined;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;

function toOutgoing(spec: Route["spec"], made: unknown): Outgoing {
  const { list, status: declaredStatus } = spec;
  // Safe: the types of `route` let a list's verb answer nothing but a page.
  const result = list === true ? paged(made as Page<unknown>) : made;
  const headers = new Headers();
  if (!(result instanceof Reply)) {
    if (declaredStatus === 204) return { status: 204, headers, body: undefined };
    headers.set("content-type", "application/json; charset=utf-8");
    return { status: declaredStatus, headers, body: JSON.stringify({ data: result }) };
  }
  for (const [name, value] of result.headers) headers.append(name, headerText(value));
  return { status: result.status ?? declaredStatus, headers, body: result.body };
}

/** Reports whether answers are in the reader's language, errors included. Documents that vary otherwise say so themselves. */
const variesByLanguage = ({ produces, answerHeaders }: Route["spec"]) =>
  produces === "page" || answerHeaders?.includes("Vary") === true;

/** Loads the reader's language, before a verb writes sentences in it. */
async function loadLanguage(headers: Headers): Promise<void> {
  const locale = chooseLocale(headers.get("accept-language"));
  if (locale !== "en") await (await import("../networks/wording.ts")).loadSentences(locale);
}

/** How long the instances of a new version usually take to replace the old ones. */
const UPGRADE_SECONDS = 60;

/** Returns the error as an answer tells it, and logs it if the answer's status says that the service failed. */
function asAppError(error: unknown, log: Log, status?: number): AppError {
  let known: AppError;
  if (error instanceof AppError) known = error;
  else if (error instanceof NewerRow)
    known = new AppError(
      "service_unavailable",
      "The service is being upgraded, and this was written by its next version. Try again in a minute.",
      { cause: error, retryAfterSeconds: UPGRADE_SECONDS },
    );
  else {
    const message = "Something went wrong on our side. The error was recorded.";
    known = new AppError("internal_error", message);
  }
  const isFailure = (status ?? ERROR_CATALOG[known.code].status) >= 500;
  if (isFailure && !known.isOverload) log.error("request failed", { error });
  return known;
}

/** Returns an error that names the parameters of the path, if the resource that they name is not there. */
function withPathNamed(known: AppError, path: string): AppError {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `\`${name}\``);
  return known.message === notFound().message && names.length > 0
    ? notFound(`${names.join(" and ")} in the path`)
    : known;
}

/** Returns the message of an error, with a contact for problems that customers can't solve themselves. */
function messageOf({ code, message }: AppError, { config }: HttpDeps): string {
  if (code !== "insufficient_tokens") return message;
  const { name, supportUrl } = config.service;
  const operators = supportUrl === undefined ? name : `${name} (${supportUrl})`;
  return `${message} Ask an operator of ${operators} to add some.`;
}

function toError(known: AppError, requestId: string, deps: HttpDeps): Outgoing {
  const status = ERROR_CATALOG[known.code].status;
  const headers = new Headers({ "content-type": "application/json; charset=utf-8" });
  if (status === 401) headers.set("www-authenticate", "Bearer");
  if (known.code === "method_not_allowed" && Array.isArray(known.details["allow"]))
    headers.set("allow", known.details["allow"].join(", "));
  const retryAfter = known.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  const { code, details } = known;
  const message = messageOf(known, deps);
  const address = docUrl(deps.config.publicBaseUrl, "request", code);
  return {
    status,
    headers,
    body: JSON.stringify({ error: { code, message, details, requestId, docUrl: address } }),
  };
}

/**
 * Time limit of a request, below the 230 seconds after which Azure gives a caller up, and well within `functionTimeout`
 * of host.json, at which the host ends the process and everything that runs in it. What a request waits for has limits
 * of its own; this one is for what they add up to.
 */
const REQUEST_MS_MAX = 200_000;

/** A request that no route accepts, and why. Its path is never logged: it may contain a secret that belongs in a header. */
interface UnroutedRequest {
  readonly method: string;
  readonly path: "(none)";
  readonly refusal: AppError;
}

/**
 * Runs a route as a unit of work, in the caller's trace if it names one, turns its result or error into an answer, and
 * logs a line at the end. Never throws.
 */
export function answer(
  route: Route | UnroutedRequest,
  deps: HttpDeps,
  incoming: Incoming,
): Promise<Outgoing> {
  const startedAt = performance.now();
  const { headers, host, params } = incoming;
  const { postId } = params;
  const given = headers.get("x-request-id");
  const requestId =
    given !== null && REQUEST_ID.test(given) ? given : newId("request", deps.clock.now());
  const work = newWork({
    parents: [headers.get("traceparent"), host?.traceParent],
    requestId,
    // Text without the form of an id is left out, because it may be a misplaced secret.
    fields: postId !== undefined && isId("post", postId) ? { postId } : {},
    host,
  });
  return works
    .run(work, async () => {
      const log = deps.log.with({ route: `${route.method} ${route.path}` });
      const ip = callerAddress(headers, deps.config.limits.trustedProxyHops);
      const limits = new RequestLimits(deps, ip);
      const rows = storedRows(deps);
      const isRead = route.method === "GET";
      const request = { services: deps, headers, isRead, params, requestId, ip, limits, rows };
      let outgoing: Outgoing;
      let refusal: AppError | undefined;
      try {
        if ("refusal" in route) throw route.refusal;
        refuseRepeats(route, incoming);
        if (variesByLanguage(route.spec)) await loadLanguage(headers);
        const made = await withTimeLimit(REQUEST_MS_MAX, runRoute(route, incoming, request), () => {
          throw serviceUnavailable(new Error("the request took too long"));
        });
        outgoing = toOutgoing(route.spec, made);
        if (made instanceof Reply && made.refusal !== undefined)
          refusal = asAppError(made.refusal, log, outgoing.status);
      } catch (error) {
        // A wrong credential counts against the caller's address.
        limits.noteRefusal(error);
        refusal = withPathNamed(asAppError(error, log), route.path);
        outgoing = toError(refusal, requestId, deps);
        if (!("refusal" in route)) {
          const reply = await route.spec.refused?.(refusal, {
            services: deps,
            headers,
            requestId,
            ip,
          });
          if (reply !== undefined) outgoing = toOutgoing(route.spec, reply);
        }
        if (typeof refusal.details["acceptEncoding"] === "string")
          outgoing.headers.set("accept-encoding", refusal.details["acceptEncoding"]);
      }
      if ("spec" in route && variesByLanguage(route.spec) && !outgoing.headers.has("vary"))
        outgoing.headers.set("vary", "Accept-Language");
      for (const [name, value] of limits.headers()) outgoing.headers.set(name, value);
      for (const [name, value] of Object.entries(STANDARD_HEADERS))
        if (!outgoing.headers.has(name)) outgoing.headers.set(name, value);
      if (!outgoing.headers.has("x-request-id")) outgoing.headers.set("x-request-id", requestId);
      const { caller } = limits;
      const actor = caller && actorOf(caller);
      log.info("request", {
        status: outgoing.status,
        // Not named `code`, because the log redacts fields of this name: authenticator apps have codes.
        ...(refusal && { refusal: refusal.code, failedCheck: refusal.failedCheck }),
        ...(refusal?.isOverload === true && { isOverload: true }),
        durationMs: Math.round(performance.now() - startedAt),
        ...(actor && { caller: actor.kind, callerId: actor.id }),
        ...(caller && "platformId" in caller && { platformId: caller.platformId }),
      });
      return outgoing;
    })
    .finally(work.end);
}

/** Answers a request without a route: 405 when the path is known, else 404. `path` has no prefix. */
export function answerUnrouted(
  routes: readonly RouteKey[],
  deps: HttpDeps,
  incoming: Incoming,
  path: string,
): Promise<Outgoing> {
  const allow = [...new Set(matchPath(routes, path).flatMap(({ route }) => methodsOf(route)))];
  // A path with an extra slash arrives here although a route takes the method.
  const refusal =
    allow.length > 0 && !allow.some((method) => method === incoming.method)
      ? new AppError("method_not_allowed", `This path accepts ${allow.join(", ")}.`, {
          details: { allow },
        })
      : new AppError(
          "not_found",
          path.includes("//")
            ? "There is no such route: the path has an empty part (`//`). Leave out the slash at the end of the base address."
            : `There is no such route. ${routeHint(routes, path)}The routes are listed at ${deps.config.publicBaseUrl}/docs.`,
        );
  return answer({ method: incoming.method, path: "(none)", refusal }, deps, incoming);
}
