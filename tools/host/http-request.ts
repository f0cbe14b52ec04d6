import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import type { HttpData } from "./core-types.ts";
import { decodePath, encodePath } from "./request-path.ts";

export interface RequestTarget {
  /** Decoded; what is routed. */
  readonly path: string;
  /** With the question mark; empty when there is none. */
  readonly query: string;
}

/** The lengths above which the web server refuses a request before it looks at it. */
export const REQUEST_LINE_BYTES_MAX = 8_192;
const HEADERS_MAX = 100;
const HEADER_BYTES_MAX = 32_768;

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Returns the status with which the web server refuses a request before routing; undefined when it lets it through. */
export function refusalOf(request: IncomingMessage): number | undefined {
  const { rawHeaders, method = "GET", url = "/", httpVersion } = request;
  if (`${method} ${url} HTTP/1.1\r\n`.length > REQUEST_LINE_BYTES_MAX) return 414;
  const bytes = rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
  if (rawHeaders.length / 2 > HEADERS_MAX || bytes > HEADER_BYTES_MAX) return 431;
  if (httpVersion !== "1.0" && httpVersion !== "1.1") return 505;
  if (rawHeaders.some((text) => text.includes("\0") || fromUtf8(text) === undefined)) return 400;
  return refusalOfHost(rawHeaders, url);
}

function refusalOfHost(rawHeaders: readonly string[], url: string): 400 | 500 | undefined {
  const hosts = rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "host",
  );
  const [host = "", second] = hosts;
  if (second !== undefined) return 400;
  // The host builds the function's URL with it and fails.
  if (host === "") return 500;
  const origin = ORIGIN.exec(url)?.[1];
  const isOther = origin !== undefined && origin.toLowerCase() !== host.toLowerCase();
  return isOther || !HOST.test(host) ? 400 : undefined;
}

const ORIGIN = /^https?:\/\/([^/?#]*)/i;

/** Node reads the bytes of a header as Latin-1, the Functions host as UTF-8. Undefined for what is not UTF-8. */
function fromUtf8(latin1: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(latin1, "latin1"));
  } catch {
    return undefined;
  }
}

/** Returns the length that the body declares. The web server ignores one that comes with chunks. */
export function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers["content-length"];
  return length === undefined || headers["transfer-encoding"] !== undefined
    ? undefined
    : Number(length);
}

/** Undefined for a target the host answers with 400. */
export function requestTarget(url: string): RequestTarget | undefined {
  const origin = /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? "";
  const rest = url.slice(origin.length).replace(/#.*$/s, "");
  const [rawPath = "", ...query] = rest.split("?");
  if (!rawPath.startsWith("/") && !(rawPath === "" && origin !== "")) return undefined;
  const path = decodePath(rawPath === "" ? "/" : rawPath);
  return path === undefined
    ? undefined
    : { path, query: query.length === 0 ? "" : `?${query.join("?")}` };
}

/** The request as the host sends it to the worker. */
export function toHttpData(
  request: IncomingMessage,
  { path, query }: RequestTarget,
  values: Readonly<Record<string, string>>,
  body: Buffer,
): HttpData {
  const data: HttpData = {
    method: request.method ?? "GET",
    url: `${originOf(request)}${encodePath(path)}${query}`,
    nullableHeaders: toNullable(forwardedHeaders(request)),
    nullableParams: toNullable(Object.entries(values)),
  };
  return body.length === 0 ? data : { ...data, body: { bytes: body } };
}

/** Scheme and host, which the headers of Azure's front end replace: they are the caller's where no front end sets them. */
function originOf({ headers }: IncomingMessage): string {
  const scheme = headers["x-forwarded-proto"] ?? "http";
  const host = headers["disguised-host"] ?? headers.host ?? "";
  return `${String(scheme)}://${String(host)}`;
}

/** Appends the caller's address and port to what the caller says of it, as Azure's front end does. */
function forwardedHeaders({ rawHeaders, socket }: IncomingMessage): Map<string, string> {
  const headers = joinedHeaders(rawHeaders);
  const { remoteAddress, remotePort } = socket;
  // The connection may have gone meanwhile.
  if (remoteAddress === undefined) return headers;
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/, "");
  const entry = `${isIPv6(address) ? `[${address}]` : address}:${remotePort}`;
  const given = headers.get("x-forwarded-for");
  return headers.set("x-forwarded-for", given === undefined ? entry : `${given}, ${entry}`);
}

/** Repeated headers become one, joined by commas, under the lower-case name. A length next to chunks gets another. */
function joinedHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  const isChunked = raw.some((text, at) => at % 2 === 0 && /^transfer-encoding$/i.test(text));
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const given = raw[index]?.toLowerCase() ?? "";
    const name = isChunked && given === "content-length" ? "x-content-length" : given;
    const value = fromUtf8(raw[index + 1] ?? "") ?? "";
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  return headers;
}

function toNullable(
  values: Iterable<readonly [string, string]>,
): Record<string, { readonly value: string }> {
  return Object.fromEntries(Array.from(values, ([name, value]) => [name, { value }]));
}
