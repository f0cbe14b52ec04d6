import type { ServerResponse } from "node:http";
import type { HttpData, TypedData } from "./core-types.ts";

const STATUSES_WITHOUT_BODY = new Set([204, 205, 304]);
const EMPTY = new Uint8Array();

/** Sends what a function returned, 204 for nothing. A header that is not ASCII makes it 500, as on the Functions host. */
export function sendResponse(response: ServerResponse, data: HttpData | undefined): void {
  if (data === undefined) return void response.writeHead(204).end();
  const headers = Object.entries(data.headers ?? {});
  if (!headers.every(([, value]) => /^[\t\x20-\x7e]*$/.test(value)))
    return sendEmpty(response, 500);
  for (const [name, value] of headers) response.setHeader(name, value);
  response.statusCode = Number(data.statusCode ?? 200);
  const hasNoBody = STATUSES_WITHOUT_BODY.has(response.statusCode);
  const body = hasNoBody ? EMPTY : bytesOf(data.body);
  // An answer to HEAD says nothing of its length.
  if (response.req.method !== "HEAD" && !response.hasHeader("content-length")) {
    if (body.length > 0) response.setHeader("Transfer-Encoding", "chunked");
    else if (!hasNoBody) response.setHeader("Content-Length", 0);
  }
  // Node refuses to announce a trailer that can't come.
  if (!response.hasHeader("transfer-encoding")) response.removeHeader("trailer");
  response.end(body);
}

function bytesOf(body: TypedData | null | undefined): Uint8Array {
  return body?.bytes ?? Buffer.from(body?.string ?? "");
}

/** Matches headers by which a browser may read an answer; every answer has them. */
const FOR_BROWSERS = /^(?:access-control-.*|vary)$/;

/** What the web server calls itself. */
export const SERVER = "Kestrel";

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
