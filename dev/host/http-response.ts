import type { ServerResponse } from "node:http";
import type { HttpCookie, HttpData, TypedData } from "./core-types.ts";

const STATUSES_WITHOUT_BODY = new Set([204, 205, 304]);

/** Sends what a function returned, 204 for nothing. A header that is not ASCII makes it 500, as on the Functions host. */
export function sendResponse(response: ServerResponse, data: HttpData | undefined): void {
  if (data === undefined) return void response.writeHead(204).end();
  const status = Number(data.statusCode ?? 200);
  const headers = Object.entries(data.headers ?? {});
  const cookies = (data.cookies ?? []).map(toSetCookie);
  if (![...headers.map(([, value]) => value), ...cookies].every(isAscii))
    return sendEmpty(response, 500);
  for (const [name, value] of headers) response.setHeader(name, value);
  for (const cookie of cookies) response.appendHeader("Set-Cookie", cookie);
  response.statusCode = status;
  const body = STATUSES_WITHOUT_BODY.has(status) ? EMPTY : bodyBytes(data.body);
  if (!response.hasHeader("content-length")) frame(response, body);
  // Node refuses to announce a trailer that can't come.
  if (!response.hasHeader("transfer-encoding")) response.removeHeader("trailer");
  response.end(body);
}

/** An answer with a body goes out in chunks, of which nobody has counted the bytes. */
function frame(response: ServerResponse, body: Uint8Array): void {
  if (body.length > 0) response.setHeader("Transfer-Encoding", "chunked");
  else if (!STATUSES_WITHOUT_BODY.has(response.statusCode)) response.setHeader("Content-Length", 0);
}

const EMPTY = new Uint8Array();

function isAscii(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

/** Headers by which a browser may read an answer; every answer has them. */
const FOR_BROWSERS = /^(?:access-control-.*|vary)$/;

/** Sends a status without a body, and without the headers that were meant for another answer. */
export function sendEmpty(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  const connection = response.getHeader("connection");
  for (const name of response.getHeaderNames())
    if (!FOR_BROWSERS.test(name)) response.removeHeader(name);
  if (connection === "close") response.setHeader("Connection", "close");
  response.setHeader("Server", SERVER);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
  if (!STATUSES_WITHOUT_BODY.has(status)) response.setHeader("Content-Length", 0);
  response.end();
}

/** What the web server calls itself. */
export const SERVER = "Kestrel";

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
