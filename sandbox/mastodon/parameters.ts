import { readObject } from "../exchange.ts";
import type { Exchange } from "../exchange.ts";
import { readForm } from "../oauth-provider.ts";

/** Parameters from a JSON or a form body; `name[]` of a form becomes an array, as in Rails. */
export function readParameters(exchange: Exchange): Record<string, unknown> {
  const form = readForm(exchange);
  if (form === undefined) return readObject(exchange) ?? {};
  const parameters: Record<string, unknown> = {};
  for (const [name, value] of form) {
    if (name.endsWith("[]")) parameters[name.slice(0, -2)] = form.getAll(name);
    else parameters[name] = value;
  }
  return parameters;
}

/** A string parameter; absent, null and blank are the same. */
export function stringParameter(
  parameters: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  const value = parameters[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

const forms = new WeakMap<Exchange, Promise<FormData | undefined>>();

/** The multipart body; undefined when it is none. Parsed once per request. */
export function readMultipart(exchange: Exchange): Promise<FormData | undefined> {
  const known = forms.get(exchange);
  if (known !== undefined) return known;
  const type = exchange.headers["content-type"] ?? "";
  const parsed = /^multipart\/form-data;/i.test(type)
    ? new Response(new Uint8Array(exchange.body), { headers: { "content-type": type } })
        .formData()
        .catch(() => undefined)
    : Promise.resolve(undefined);
  forms.set(exchange, parsed);
  return parsed;
}
