import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import type { HttpData, Nullable } from "./core-types.ts";
import { decodePath, encodePath } from "./request-path.ts";

/** The host's limit, which `FUNCTIONS_REQUEST_BODY_SIZE_LIMIT` changes. */
export const REQUEST_BODY_BYTES_MAX = 104_857_600;

export interface RequestTarget {
  /** Decoded; what is routed. */
  readonly path: string;
  /** With the question mark; empty when there is none. */
  readonly query: string;
}

/** Kestrel answers 400 to any other Host header before routing. */
export function isValidHost(host: string | undefined): boolean {
  return host === undefined || /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host);
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

/**
 * The whole body, or undefined when it is longer than the limit. The Functions host gives a Node.js function an empty
 * body when a request is chunked; this host gives it the body, which a caller's mistake should not depend on.
 */
export async function readBody(
  request: IncomingMessage,
  bytesMax: number,
): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop early must not destroy the request: its connection carries the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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
    url: `http://${request.headers.host ?? "localhost"}${encodePath(path)}${query}`,
    nullableHeaders: toNullable(forwardedHeaders(request)),
    nullableQuery: toNullable(joinedQuery(query)),
    nullableParams: toNullable(new Map(Object.entries(values))),
  };
  return body.length === 0 ? data : { ...data, body: { bytes: body } };
}

/** With the caller's address and port behind whatever the caller says of it, as Azure's front end adds them. */
function forwardedHeaders({ rawHeaders, socket }: IncomingMessage): Map<string, string> {
  const headers = joinedHeaders(rawHeaders);
  const { remoteAddress, remotePort } = socket;
  // Of a connection that has gone meanwhile.
  if (remoteAddress === undefined) return headers;
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/, "");
  const entry = `${isIPv6(address) ? `[${address}]` : address}:${remotePort}`;
  const given = headers.get("x-forwarded-for");
  return headers.set("x-forwarded-for", given === undefined ? entry : `${given}, ${entry}`);
}

/** Repeated headers become one, joined by commas, under the lower-case name. */
function joinedHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < raw.length; index += 2)
    append(headers, raw[index]?.toLowerCase() ?? "", raw[index + 1] ?? "");
  return headers;
}

/**
 * ASP.NET's reading of a query: names without regard to case, repeated ones joined by commas. `?a=1&a=2` reaches a
 * function as one value "1,2". https://github.com/Azure/azure-functions-nodejs-library/issues/168
 */
function joinedQuery(query: string): Map<string, string> {
  const spelling = new Map<string, string>();
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = spelling.get(name.toLowerCase()) ?? name;
    spelling.set(name.toLowerCase(), known);
    append(values, known, value);
  }
  return values;
}

function append(values: Map<string, string>, name: string, value: string): void {
  const before = values.get(name);
  values.set(name, before === undefined ? value : `${before},${value}`);
}

function toNullable(values: ReadonlyMap<string, string>): Record<string, Nullable<string>> {
  return Object.fromEntries([...values].map(([name, value]) => [name, { value }]));
}
