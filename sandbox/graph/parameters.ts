import { isObject, readObject } from "../exchange.ts";
import type { Exchange } from "../exchange.ts";

export type Parameters = Readonly<Record<string, unknown>>;

const read = new WeakMap<Exchange, Parameters>();

function parsed(value: string): unknown {
  if (!/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** `name[0]` and `name[]` make up one list, as in Meta's own examples. */
function assign(into: Record<string, unknown>, name: string, value: string): void {
  const list = /^(\w+)\[\d*\]$/.exec(name)?.[1];
  if (list === undefined) {
    into[name] = parsed(value);
    return;
  }
  const known = into[list];
  into[list] = Array.isArray(known) ? [...(known as unknown[]), parsed(value)] : [parsed(value)];
}

/** Parameters from the query and a form or JSON body alike: Graph does not care where they are. */
export function readParameters(exchange: Exchange): Parameters {
  const known = read.get(exchange);
  if (known !== undefined) return known;
  const parameters: Record<string, unknown> = {};
  for (const [name, value] of exchange.query) assign(parameters, name, value);
  const type = (exchange.headers["content-type"] ?? "").toLowerCase();
  if (type.startsWith("application/x-www-form-urlencoded"))
    for (const [name, value] of new URLSearchParams(exchange.body.toString("utf8")))
      assign(parameters, name, value);
  else if (type.startsWith("application/json")) Object.assign(parameters, readObject(exchange));
  read.set(exchange, parameters);
  return parameters;
}

/** The file `source` of a multipart form, whose other parts count as parameters from then on. */
export async function readSource(exchange: Exchange): Promise<File | undefined> {
  const type = exchange.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data")) return undefined;
  const headers = { "content-type": type };
  const form = await new Response(new Uint8Array(exchange.body), { headers }).formData();
  const parameters: Record<string, unknown> = { ...readParameters(exchange) };
  for (const [name, value] of form) if (typeof value === "string") assign(parameters, name, value);
  read.set(exchange, parameters);
  const source = form.get("source");
  return source instanceof File ? source : undefined;
}

/** Text; numbers and booleans count as their digits and words. Absent, null and blank are the same. */
export function textParameter(parameters: Parameters, name: string): string | undefined {
  const value = parameters[name];
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function flagParameter(parameters: Parameters, name: string, fallback: boolean): boolean {
  const value = textParameter(parameters, name)?.toLowerCase();
  return value === undefined ? fallback : value === "true" || value === "1";
}

/** A list, also one that was written as JSON or with commas. */
export function listParameter(parameters: Parameters, name: string): readonly unknown[] {
  const value = parameters[name];
  if (Array.isArray(value)) return value as unknown[];
  if (typeof value !== "string" || value === "") return isObject(value) ? [value] : [];
  return value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** What a comment says, for magic words, and the post that it is for. */
export function commentWords(exchange: Exchange) {
  const text = textParameter(readParameters(exchange), "message") ?? "";
  return { text, key: exchange.params["id"] ?? "" };
}

/** The access token, wherever Graph takes it from. */
export function sentToken(exchange: Exchange): string | undefined {
  const header = /^(?:Bearer|OAuth) (\S+)$/i.exec(exchange.headers.authorization ?? "")?.[1];
  return header ?? textParameter(readParameters(exchange), "access_token");
}
