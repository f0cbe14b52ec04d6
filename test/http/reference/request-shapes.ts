import * as fc from "fast-check";
import type { JsonSchema, OpenApi } from "../../../tools/reference/openapi-types.ts";

/** Stands in generated values for an id that only the running world knows. */
export const placeholder = (name: string) => `{{${name}}}`;

const TEXT_MAX = 400;
const ITEMS_MAX = 6;

/** Fields that name an object: mostly one that there is, or the schema's own would never get past the look-up. */
const IDS = new Set(["profileId", "applicationId", "platformId", "webhookId", "postId"]);

const DATES = [
  "2026-03-05T10:00:00Z",
  "2026-06-01T12:00:00.000+02:00",
  "2020-01-01T00:00:00Z",
  "2027-12-31T23:59:59.999Z",
  "9999-12-31T23:59:59Z",
  "0001-01-01T00:00:00Z",
  "2026-02-30T00:00:00Z",
  "2026-03-05T10:00:00",
];
const URLS = [
  "https://media.example.com/sourdough.jpg",
  "https://media.example.com/clip.mp4?x=1#y",
  "https://127.0.0.1/",
  "https://[::1]:8443/",
  "https://user:secret@example.com/",
  "http://example.com/",
  "https://example.com:99999/",
  "javascript:alert(1)",
];
const HOSTILE_TEXTS = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "../../etc/passwd",
  "' or 1 eq 1 or ''='",
  "<script>alert(1)</script>",
  "a\r\nset-cookie: x=y",
  "\u202e\u200b👩‍👩‍👧‍👦",
  "😀".repeat(300),
  "x".repeat(70_000),
];
const HOSTILE_VALUES: readonly unknown[] = [
  ...HOSTILE_TEXTS,
  null,
  true,
  -1,
  0.5,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  [],
  {},
  [[[[]]]],
  { $ne: null },
  { length: -1 },
];

const text = (schema: JsonSchema): fc.Arbitrary<string> => {
  if (schema.format === "date-time") return fc.constantFrom(...DATES);
  if (schema.format === "uri") return fc.constantFrom(...URLS);
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
  const minLength = Math.min(schema.minLength ?? 0, TEXT_MAX);
  const maxLength = Math.min(schema.maxLength ?? TEXT_MAX, TEXT_MAX);
  return fc.oneof(
    { arbitrary: fc.string({ minLength, maxLength }), weight: 3 },
    { arbitrary: fc.string({ minLength, maxLength, unit: "grapheme" }), weight: 1 },
    { arbitrary: fc.constant("ann@example.com".slice(0, maxLength)), weight: 1 },
    { arbitrary: fc.constant("x".repeat(schema.maxLength ?? TEXT_MAX)), weight: 1 },
  );
};

/** Values as the document describes them, for what a customer may send. */
export function createShapes(document: OpenApi): (schema: JsonSchema) => fc.Arbitrary<unknown> {
  const resolve = (schema: JsonSchema): JsonSchema => {
    if (schema.$ref === undefined) return schema;
    const name = schema.$ref.split("/").at(-1) ?? "";
    const found = document.components.schemas[name];
    if (found === undefined) throw new Error(`the document has no ${schema.$ref}`);
    return resolve(found);
  };

  function object(schema: JsonSchema): fc.Arbitrary<unknown> {
    const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
      const own = shape(field);
      const named = fc.constant<unknown>(placeholder(name));
      return [name, IDS.has(name) ? fc.oneof({ arbitrary: named, weight: 4 }, own) : own] as const;
    });
    const known = fc.record(Object.fromEntries(fields), {
      requiredKeys: [...(schema.required ?? [])],
    });
    const { additionalProperties: further } = schema;
    if (typeof further !== "object") return known;
    const names = shape(schema.propertyNames ?? { type: "string" }).map(String);
    const more = fc.dictionary(names, shape(further), { maxKeys: ITEMS_MAX });
    return fc.tuple(known, more).map(([fixed, free]) => ({ ...free, ...fixed }));
  }

  function array(schema: JsonSchema): fc.Arbitrary<unknown> {
    const bounds = {
      minLength: schema.minItems ?? 0,
      maxLength: Math.min(schema.maxItems ?? ITEMS_MAX, ITEMS_MAX),
    };
    const item = shape(schema.items ?? {});
    return schema.uniqueItems === true
      ? fc.uniqueArray(item, { ...bounds, selector: (value) => JSON.stringify(value) })
      : fc.array(item, bounds);
  }

  function ofType(schema: JsonSchema, type: string | undefined): fc.Arbitrary<unknown> {
    const { minimum = -1_000_000, maximum = 1_000_000_000 } = schema;
    switch (type) {
      case "string":
        return text(schema);
      case "integer":
        return fc.oneof(
          fc.integer({ min: minimum, max: maximum }),
          fc.constantFrom(minimum, maximum),
        );
      case "number":
        return fc.double({ min: minimum, max: maximum, noNaN: true });
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      case "array":
        return array(schema);
      case "object":
        return object(schema);
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  function shape(given: JsonSchema): fc.Arbitrary<unknown> {
    const schema = resolve(given);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return fc.oneof(...choices.map(shape));
    const types = [schema.type].flat();
    return fc.oneof(...types.map((type) => ofType(schema, type)));
  }
  return shape;
}

/** The places of a value that hold something, as paths of names and indexes. */
function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const below =
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, item]) => placesOf(item, [...path, name]))
      : [];
  return [path, ...below];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const change = (item: unknown, key: string) => (key === name ? replaced(item, rest, by) : item);
  if (Array.isArray(value)) return value.map((item, index) => change(item, String(index)));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item, key)]));
}

/** A valid value with one thing wrong: something else in one place, or a field that there is not. */
export function nearly(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const wrong = fc.constantFrom(...HOSTILE_VALUES);
  const elsewhere = fc.tuple(valid, fc.nat(), wrong).map(([value, index, by]) => {
    const places = placesOf(value);
    return replaced(value, places[index % places.length] ?? [], by);
  });
  const names = fc.constantFrom("id", "status", "platformId", "__proto__x", "toString", "");
  const further = fc
    .tuple(valid, names, wrong)
    .map(([value, name, by]) => ({ ...(value as object), [name]: by }));
  return fc.oneof(elsewhere, further);
}

/** Bytes that are no body of any route. */
export const hostileBodies: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  fc.constantFrom(
    "",
    "{",
    "null",
    "[]",
    '"x"',
    "\ufeff{}",
    '{"__proto__":{"scope":"app_admin"}}',
    '{"constructor":{"prototype":{}}}',
    '{"a":1,"a":2}',
    `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
    `${'{"a":'.repeat(50)}1${"}".repeat(50)}`,
    `{"name":"${"x".repeat(300_000)}"}`,
  ),
  fc.uint8Array({ maxLength: 64 }),
  fc.json({ maxDepth: 3 }),
);

export const hostileTexts = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string());
