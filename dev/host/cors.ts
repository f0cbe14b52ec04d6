import type { IncomingMessage, ServerResponse } from "node:http";

const ANY = "*";

/** Which pages of other origins may read answers: `Host.CORS` and `Host.CORSCredentials` of local.settings.json. */
export interface CorsPolicy {
  readonly origins: ReadonlySet<string>;
  readonly allowsCredentials: boolean;
}

/**
 * Reads the settings as Core Tools do; undefined when none are given.
 * @throws Error for any origin together with credentials, which browsers don't take
 */
export function corsPolicy(origins = "", allowsCredentials = false): CorsPolicy | undefined {
  const named = origins
    .split(",")
    .map((origin) => origin.trim().toLowerCase())
    .filter((origin) => origin !== "");
  if (named.length === 0) return undefined;
  if (named.includes(ANY) && allowsCredentials)
    throw new Error(
      `Host.CORS of local.settings.json can't be "*" together with Host.CORSCredentials: name the origins`,
    );
  return { origins: new Set(named), allowsCredentials };
}

/** Returns whether a request asks for permission only, which the host answers itself. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/**
 * Puts the headers on an answer by which a browser lets a page of an allowed origin read it. Answers a preflight itself,
 * before any function; an origin that is not allowed gets the same answer without the headers.
 * @returns whether the request is answered
 */
export function answerCors(
  policy: CorsPolicy,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  const isAsked = isPreflight(request);
  if (isAllowed(policy, origin)) setHeaders(policy, request, response, isAsked);
  if (!isAsked) return false;
  response.statusCode = 204;
  response.end();
  return true;
}

function isAllowed({ origins }: CorsPolicy, origin: string): boolean {
  return origins.has(ANY) || origins.has(origin.toLowerCase());
}

function setHeaders(
  { origins, allowsCredentials }: CorsPolicy,
  { headers }: IncomingMessage,
  response: ServerResponse,
  isAsked: boolean,
): void {
  response.setHeader(
    "Access-Control-Allow-Origin",
    origins.has(ANY) ? ANY : (headers.origin ?? ""),
  );
  if (allowsCredentials) response.setHeader("Access-Control-Allow-Credentials", "true");
  if (origins.size > 1) response.setHeader("Vary", "Origin");
  if (!isAsked) return;
  const asked = [
    ["Access-Control-Allow-Headers", headers["access-control-request-headers"]],
    ["Access-Control-Allow-Methods", headers["access-control-request-method"]],
  ] as const;
  for (const [name, value] of asked) if (value !== undefined) response.setHeader(name, value);
}
