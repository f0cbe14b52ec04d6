import { createHmac } from "node:crypto";
import type { FetchedMedia } from "../contract/media.ts";
import type { HttpRequest } from "../../runtime/http-call.ts";
import type { NetworkApp, NetworkTools } from "../contract/network.ts";

/** Which API is asked, and in whose name. */
export interface GraphAccess {
  readonly origin: string;
  readonly version: string;
  readonly token: string;
  /** Shows that the caller knows the app's secret; apps may demand it. */
  readonly proof?: string;
}

type Query = Readonly<Record<string, string>>;

/** The relay's registration. Generic code walks no step of a network whose app is missing. */
export function appOf(tools: NetworkTools): NetworkApp {
  if (tools.app === undefined) throw new Error("the network's app is not configured");
  return tools.app;
}

/** https://developers.facebook.com/docs/graph-api/guides/secure-requests */
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

export function graphDelete(access: GraphAccess, path: string): HttpRequest {
  return { ...graphGet(access, path), method: "DELETE" };
}

/** Facebook's edges document JSON. */
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

/** Instagram's edges document forms. What is undefined is left out. */
export function graphPostForm(
  access: GraphAccess,
  path: string,
  fields: Readonly<Record<string, string | undefined>>,
): HttpRequest {
  const given = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  );
  return {
    method: "POST",
    url: graphUrl(access, path, {}),
    headers: { ...graphHeaders(access), "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(given).toString(),
  };
}

/** With a file that is ours to give. What is undefined is left out. */
export function graphPostFile(
  access: GraphAccess,
  path: string,
  fields: Readonly<Record<string, string | undefined>>,
  { bytes, contentType }: Pick<FetchedMedia, "bytes" | "contentType">,
): HttpRequest {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...fields, ...proofOf(access) }))
    if (value !== undefined) form.set(name, value);
  const blob = new Blob([new Uint8Array(bytes)], { type: contentType });
  form.set("source", blob, contentType === "image/png" ? "photo.png" : "photo.jpg");
  return {
    method: "POST",
    url: graphUrl(access, path, {}),
    headers: graphHeaders(access),
    body: form,
  };
}

/** Texts of errors come in the language of the request. */
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
