import { objectShape, lenient } from "../contract/fields.ts";
import { createHmac } from "node:crypto";
import { multipartWithFile } from "../contract/multipart.ts";
import type { FetchedMedia } from "../contract/media.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { NetworkApp } from "../contract/settings.ts";
import type { NetworkTools } from "../contract/tools.ts";
import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import { exchange } from "../contract/answers.ts";
import { formRequest } from "../contract/oauth.ts";

/** The API to call, and the account to call it for. */
export interface GraphAccess {
  readonly origin: string;
  readonly version: string;
  readonly token: string;
  /** Proves that the caller knows the app's secret. Apps may require it. */
  readonly proof?: string;
  readonly tools: NetworkTools;
}

type Query = Readonly<Record<string, string>>;

/**
 * Makes the proof that the caller knows the app's secret
 * (https://developers.facebook.com/docs/graph-api/guides/secure-requests).
 */
export function secretProof(token: string, { secret }: NetworkApp): string {
  return createHmac("sha256", secret).update(token).digest("hex");
}

export function graphGet(access: GraphAccess, path: string, query: Query = {}): HttpRequest {
  return {
    method: "GET",
    url: graphUrl(access, path, { ...query, ...proofOf(access) }),
    headers: graphHeaders(access),
  };
}

export function graphRead(access: GraphAccess, path: string, query?: Query) {
  return exchange(access.tools, graphGet(access, path, query));
}

export function graphDelete(access: GraphAccess, path: string): HttpRequest {
  return { ...graphGet(access, path), method: "DELETE" };
}

/** Makes a POST of JSON, as Facebook's edges document. */
export function graphPostJson(
  access: GraphAccess,
  path: string,
  body: Readonly<Record<string, unknown>>,
  query: Query = {},
): HttpRequest {
  return {
    method: "POST",
    url: graphUrl(access, path, query),
    headers: { ...graphHeaders(access), "content-type": "application/json" },
    body: JSON.stringify({ ...body, ...proofOf(access) }),
  };
}

/** Makes a POST of a form, as Instagram's edges document. Undefined fields are left out. */
export function graphPostForm(
  access: GraphAccess,
  path: string,
  fields: Readonly<Record<string, string | undefined>>,
): HttpRequest {
  const request = formRequest(graphUrl(access, path, {}), fields);
  return { ...request, headers: { ...request.headers, ...graphHeaders(access) } };
}

/** Makes a POST that uploads a file. Undefined fields are left out. */
export function graphPostFile(
  access: GraphAccess,
  path: string,
  fields: Readonly<Record<string, string | undefined>>,
  { bytes, contentType }: Pick<FetchedMedia, "bytes" | "contentType">,
): HttpRequest {
  const given = Object.entries({ ...fields, ...proofOf(access) }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const { headers, body } = multipartWithFile(Object.fromEntries(given), {
    name: "source",
    filename: contentType === "image/png" ? "photo.png" : "photo.jpg",
    contentType,
    body: bytes,
  });
  return {
    method: "POST",
    url: graphUrl(access, path, {}),
    headers: { ...graphHeaders(access), ...headers },
    body,
  };
}

/** Makes the headers. Errors come in the language of the request. */
export function graphHeaders({ token }: Pick<GraphAccess, "token">): Record<string, string> {
  return {
    accept: "application/json",
    "accept-language": "en",
    authorization: `Bearer ${token}`,
  };
}

function proofOf({ proof }: GraphAccess): Query {
  return proof === undefined ? {} : { appsecret_proof: proof };
}

function graphUrl({ origin, version }: GraphAccess, path: string, query: Query): string {
  const search = new URLSearchParams(query).toString();
  return `${origin}/${version}/${path}${search === "" ? "" : `?${search}`}`;
}

const pageShape = objectShape(() => ({
  data: z.array(z.unknown()),
  paging: lenient(
    z.object({
      next: lenient(z.string()),
      cursors: lenient(z.object({ after: z.string() })),
    }),
  ),
}));

interface Edge {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly pageLength: number;
  readonly entriesMax: number;
}

/** The part of a list that was read. */
export interface EdgeRead<Entry> {
  readonly entries: readonly Entry[];
  readonly isCut: boolean;
}

/** "Please reduce the amount of data you're asking for". It comes with code 1, as outages do. */
const TOO_MUCH = /reduce the amount of data/i;
const SMALLER = 4;

/**
 * Reads a list page by page. Also returns the answer that could not be read as a page, if there was one. Pages are
 * requested by cursor, because the address that Meta gives contains the token. When Meta can't answer so much, the
 * pages get smaller.
 */
export async function readEdge<Entry>(
  access: GraphAccess,
  { path, query, pageLength, entriesMax }: Edge,
  entryShape: z.ZodType<Entry>,
): Promise<EdgeRead<Entry> | HttpResponse | HttpFailure> {
  const entries: Entry[] = [];
  let limit = pageLength;
  let read = 0;
  let position: Readonly<Record<string, string>> = {};
  while (read < entriesMax) {
    const asked = { ...query, limit: String(limit), ...position };
    const answer = await graphRead(access, path, asked);
    if (answer instanceof HttpFailure) return answer;
    const parsed = pageShape().safeParse(answer.json()).data;
    if (answer.status !== 200 || parsed === undefined) {
      if (limit === 1 || !TOO_MUCH.test(answer.text().slice(0, 2_000))) return answer;
      limit = Math.ceil(limit / SMALLER);
      continue;
    }
    read += Math.max(parsed.data.length, 1);
    // An entry of another shape is not one that we look for.
    entries.push(...parsed.data.flatMap((entry) => entryShape.safeParse(entry).data ?? []));
    const next = nextPosition(parsed.paging);
    if (next === undefined) return { entries, isCut: false };
    position = next;
  }
  return { entries, isCut: true };
}

export function isEdge<Entry>(
  read: EdgeRead<Entry> | HttpResponse | HttpFailure,
): read is EdgeRead<Entry> {
  return "entries" in read;
}

/** Returns the position of the next page. Lists by time have no cursors, only bounds in the next page's address. */
function nextPosition(
  paging: ShapeOf<typeof pageShape>["paging"],
): Record<string, string> | undefined {
  if (paging?.next === undefined) return undefined;
  if (paging.cursors !== undefined) return { after: paging.cursors.after };
  if (!URL.canParse(paging.next)) return undefined;
  const given = new URL(paging.next).searchParams;
  const bounds = ["after", "until", "offset", "__paging_token"].flatMap((name) => {
    const value = given.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return bounds.length === 0 ? undefined : Object.fromEntries(bounds);
}

/** Returns an address on Facebook. Addresses of videos come without their host. */
export function pageUrl(permalink: string | undefined): string | null {
  const site = "https://www.facebook.com";
  return permalink === undefined || !URL.canParse(permalink, site)
    ? null
    : new URL(permalink, site).href;
}

/** Parses a time of Graph, which ends with `+0000`: no standard requires a parser to accept that. */
export function timeOf(text: string): number {
  return Date.parse(text.replace(/\+0000$/, "Z"));
}
