import type { ServerResponse } from "node:http";
import type { HttpCookie, HttpData, TypedData } from "./core-types.ts";

/** The web server's own: what a function says about the connection would break its framing. */
const CONNECTION_HEADERS = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

const STATUSES_WITHOUT_BODY = new Set([204, 205, 304]);

/** Sends what a function returned. A function that returned nothing answers 200 without a body. */
export function sendResponse(response: ServerResponse, data: HttpData | undefined): void {
  const status = Number(data?.statusCode ?? 200);
  for (const [name, value] of Object.entries(data?.headers ?? {}))
    if (!CONNECTION_HEADERS.has(name.toLowerCase())) response.setHeader(name, value);
  for (const cookie of data?.cookies ?? [])
    response.appendHeader("Set-Cookie", toSetCookie(cookie));
  response.statusCode = status;
  if (STATUSES_WITHOUT_BODY.has(status)) {
    response.end();
    return;
  }
  const body = bodyBytes(data?.body);
  response.setHeader("Content-Length", body.length);
  response.end(body);
}

export function sendEmpty(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.setHeader("Content-Length", 0);
  response.end();
}

function bodyBytes(body: TypedData | null | undefined): Uint8Array {
  const { string: text, json, bytes, stream, int, double } = body ?? {};
  const content = [text, json, bytes, stream, int, double].find(isGiven);
  return content instanceof Uint8Array ? content : Buffer.from(String(content ?? ""));
}

function isGiven<Value>(value: Value): value is NonNullable<Value> {
  return value !== null && value !== undefined;
}

function toSetCookie(cookie: HttpCookie): string {
  const pair = `${cookie.name}=${encodeURIComponent(cookie.value ?? "")}`;
  return [
    pair,
    attribute("expires", expiry(cookie)),
    attribute("max-age", cookie.maxAge?.value),
    attribute("domain", cookie.domain?.value),
    attribute("path", cookie.path?.value ?? "/"),
    cookie.secure?.value ? "secure" : undefined,
    attribute("samesite", sameSite(cookie.sameSite)),
    cookie.httpOnly?.value ? "httponly" : undefined,
  ]
    .filter(isGiven)
    .join("; ");
}

function expiry({ expires }: HttpCookie): string | undefined {
  const seconds = expires?.value?.seconds;
  return isGiven(seconds) ? new Date(seconds * 1000).toUTCString() : undefined;
}

function attribute(name: string, value: string | number | null | undefined): string | undefined {
  return isGiven(value) && value !== "" ? `${name}=${value}` : undefined;
}

function sameSite(value: HttpCookie["sameSite"]): string | undefined {
  if (value === "lax" || value === "strict") return value;
  return value === "explicitNone" ? "none" : undefined;
}
