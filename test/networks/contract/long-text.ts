import type { HttpResponse } from "../../../src/shared/runtime/http-call.ts";

const LONG_CHARACTERS = 40_000;

/** Returns the answer with its texts lengthened, or only the nth, and how many there are. */
export function lengthened(
  answer: HttpResponse,
  nth?: number,
): { readonly answer: HttpResponse; readonly texts: number } {
  let texts = 0;
  const longer = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(longer);
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, longer(item)]));
    if (typeof value !== "string") return value;
    texts += 1;
    return nth === undefined || nth === texts ? value.padEnd(LONG_CHARACTERS, "x") : value;
  };
  const json = longer(answer.json());
  if (texts === 0) return { answer, texts };
  const text = JSON.stringify(json);
  const long = {
    body: Buffer.from(text),
    text: () => text,
    json: () => JSON.parse(text) as unknown,
  };
  return { answer: { ...answer, ...long }, texts };
}
