import type { IncomingMessage, ServerResponse } from "node:http";

const ANY = "*";

/** Which pages of other origins may read answers: `Host.CORS` and `Host.CORSCredentials` of local.settings.json. */
export interface CorsPolicy {
  readonly origins: ReadonlySet<string>;
  readonly allowsCredentials: boolean;
}

/**
 * Reads the settings as Core Tools do; undefined when none are given.
 * @throws Error for any origin together with credentials, which browsers refuse
 */
export function corsPolicy(text = "", allowsCredentials = false): CorsPolicy | undefined {
  const given = text.split(",").map((origin) => origin.trim().toLowerCase());
  const origins = new Set(given.filter((origin) => origin !== ""));
  if (origins.size === 0) return undefined;
  if (origins.has(ANY) && allowsCredentials)
    throw new Error(`Host.CORS can't be "*" together with Host.CORSCredentials: name the origins`);
  return { origins, allowsCredentials };
}

/**
 * Sets the headers on an answer by which a browser lets a page of an allowed origin read it. Answers a preflight itself,
 * before any function; an origin that is not allowed gets the same answer without the headers.
 * @returns whether the request is answered
 */
export function answerCors(
  { origins, allowsCredentials }: CorsPolicy,
  { method, headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { origin } = headers;
  if (origin === undefined) return false;
  const askedMethod = headers["access-control-request-method"];
  const isPreflight = method === "OPTIONS" && askedMethod !== undefined;
  if (origins.has(ANY) || origins.has(origin.toLowerCase())) {
    response.setHeader("Access-Control-Allow-Origin", origins.has(ANY) ? ANY : origin);
    if (allowsCredentials) response.setHeader("Access-Control-Allow-Credentials", "true");
    if (origins.size > 1) response.setHeader("Vary", "Origin");
    if (isPreflight) {
      const askedHeaders = headers["access-control-request-headers"];
      response.setHeader("Access-Control-Allow-Methods", askedMethod);
      if (askedHeaders !== undefined)
        response.setHeader("Access-Control-Allow-Headers", askedHeaders);
    }
  }
  if (isPreflight) response.writeHead(204).end();
  return isPreflight;
}
