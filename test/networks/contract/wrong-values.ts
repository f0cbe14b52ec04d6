import type { HttpResponse } from "../../../src/shared/runtime/http-call.ts";

/** What stands in an answer in the place of each value that is no object and no list. */
const VALUES: Readonly<Record<string, unknown>> = {
  null: null,
  lie: false,
  object: { id: "1" },
  list: [],
  control: "1\r\n\u0000",
};

/** Everything as it was but what says yes: ids, and a plain word of success. */
function withoutIds(name: string, value: unknown): unknown {
  return /(?:^|_)id$|^success$/.test(name) ? null : value;
}

/** What the whole of an answer becomes. */
const WHOLES: Readonly<Record<string, (json: unknown) => unknown>> = {
  nameless: (json) => JSON.parse(JSON.stringify(json ?? null, withoutIds)) as unknown,
  empty: () => ({}),
  listed: (json) => [json],
  nothing: () => null,
  apology: () => ({ error: { message: "An unknown error has occurred.", code: 1 } }),
  sentence: () => ({ error: "Something went wrong", message: "Something went wrong" }),
};

/** The ways in which an answer may be none of what was promised, whatever its status says. */
export const WRONGS: readonly string[] = [...Object.keys(WHOLES), ...Object.keys(VALUES)];

/** Where LinkedIn names the post. */
const ID_HEADER = "x-restli-id";

/** Returns the headers; of the one that names the post nothing is left to go by. */
function wrongedHeaders({ headers }: HttpResponse, way: string): Readonly<Record<string, string>> {
  const wrong = way in VALUES ? String(VALUES[way]) : "";
  return ID_HEADER in headers ? { ...headers, [ID_HEADER]: wrong } : headers;
}

function replaced(value: unknown, way: string): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, way));
  if (typeof value !== "object" || value === null) return VALUES[way];
  const entries = Object.entries(value).map(([name, item]) => [name, replaced(item, way)] as const);
  return Object.fromEntries(entries);
}

/** Returns the answer in the wrong shape. */
export function wronged(answer: HttpResponse, way: string): HttpResponse {
  const given = answer.json();
  const json = WHOLES[way] === undefined ? replaced(given, way) : WHOLES[way](given);
  const text = JSON.stringify(json ?? null);
  return {
    ...answer,
    headers: wrongedHeaders(answer, way),
    body: Buffer.from(text),
    text: () => text,
    json: () => JSON.parse(text) as unknown,
  };
}
