import type { Texts } from "../contract/draft.ts";
import type { HttpRequest } from "../../runtime/http-call.ts";

/** Makes the request that reads something from a server (https://atproto.com/specs/xrpc). */
export function query(origin: string, method: string, parameters: Texts = {}): HttpRequest {
  const search = new URLSearchParams(parameters).toString();
  return { method: "GET", url: `${origin}/xrpc/${method}${search === "" ? "" : `?${search}`}` };
}

export function procedure(origin: string, method: string, input?: object): HttpRequest {
  const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(input) };
  const url = `${origin}/xrpc/${method}`;
  return { method: "POST", url, ...(input !== undefined && json) };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
