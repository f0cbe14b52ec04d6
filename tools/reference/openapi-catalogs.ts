import * as z from "zod";
import { STATUS_CODES } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { invariant } from "../../src/shared/runtime/errors.ts";
import { anyError, declaredAnswers, type DeclaredAnswer } from "./declared-answers.ts";
import type { Route } from "../../src/shared/http/route.ts";
import type { Answer, Content, JsonSchema, Reference } from "./openapi-types.ts";

/**
 * The place of a schema. `input`: a parameter or a form. `body`: a JSON body, in which null means absent. `change`: the
 * body of a PATCH, in which null clears some of its own fields. `output`: an answer, to which fields may be added.
 */
type Direction = "input" | "body" | "change" | "output";

/** Returns the direction of a schema's parts. */
const inside = (direction: Direction): Direction => (direction === "change" ? "body" : direction);

/** Formats that say the same as their pattern, in a tenth of the length. */
const SELF_EXPLAINING = new Set(["date-time", "email", "uri"]);

const isNothing = (value: unknown) =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

function tidyMap(schemas: Readonly<Record<string, JsonSchema>>, direction: Direction) {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, publicSchema(schema, direction)]),
  );
}

const isNull = ({ type }: JsonSchema) => type === "null";
const takesNull = ({ type }: JsonSchema) => [type].flat().includes("null");

/**
 * Returns a schema that accepts null too. Null is one of its types, and of its values if these are listed, because
 * generators such as Kiota's and Swift's make no type of a choice with null. Only a reference can't be extended.
 */
function orNull(schema: JsonSchema): JsonSchema {
  const { $ref, anyOf, const: only, ...own } = schema;
  if (takesNull(schema) || anyOf?.some(takesNull) === true) return schema;
  if (anyOf !== undefined) {
    const at = anyOf.findIndex((branch) => branch.$ref === undefined);
    const branches =
      at < 0 ? [...anyOf, { type: "null" }] : anyOf.with(at, orNull(anyOf[at] ?? {}));
    return { ...schema, anyOf: branches };
  }
  if ($ref !== undefined) return { ...own, anyOf: [{ $ref }, { type: "null" }] };
  // A schema without a type accepts any value.
  if (own.type === undefined) return schema;
  const values = only === undefined ? own.enum : [only];
  const list = values === undefined ? {} : { enum: [...values, null] };
  return { ...own, type: [own.type, "null"].flat(), ...list };
}

/** Replaces the branch of null in a choice. */
function withoutNullBranch(schema: JsonSchema): JsonSchema {
  const { anyOf = [], ...rest } = schema;
  if (!anyOf.some(isNull)) return schema;
  const others = anyOf.filter((branch) => !isNull(branch));
  const [first = {}] = others;
  return { ...orNull(others.length === 1 ? first : { anyOf: others }), ...rest };
}

/** Tidies the fields of an object. In a body, fields that may be absent may be null. */
function tidyFields({ properties = {}, required = [] }: JsonSchema, direction: Direction) {
  const tidied = Object.entries(tidyMap(properties, inside(direction)));
  if (direction !== "body") return Object.fromEntries(tidied);
  return Object.fromEntries(
    tidied.map(([name, field]) => [name, required.includes(name) ? field : orNull(field)]),
  );
}

/** Tidies the parts of a schema that are schemas themselves. */
function tidyParts(schema: JsonSchema, outside: Direction): JsonSchema {
  const direction = inside(outside);
  const { items, properties, additionalProperties, anyOf, oneOf, allOf } = schema;
  const list = (schemas: readonly JsonSchema[]) =>
    schemas.map((one) => publicSchema(one, direction));
  return {
    ...schema,
    ...(items === undefined ? {} : { items: publicSchema(items, direction) }),
    ...(properties === undefined ? {} : { properties: tidyFields(schema, outside) }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: publicSchema(additionalProperties, direction) }
      : {}),
    ...(anyOf === undefined ? {} : { anyOf: list(anyOf) }),
    ...(oneOf === undefined ? {} : { oneOf: list(oneOf) }),
    ...(allOf === undefined ? {} : { allOf: list(allOf) }),
  };
}

/** Merges a choice within another choice into it, because some generators lose the inner one. */
function withoutNestedChoice(schema: JsonSchema): JsonSchema {
  const { anyOf } = schema;
  if (anyOf === undefined) return schema;
  const isChoiceAlone = (one: JsonSchema) =>
    one.anyOf !== undefined &&
    Object.keys(one).every((name) => /^(?:anyOf|description)$/.test(name));
  const inner = anyOf.filter(isChoiceAlone);
  const description =
    schema.description ?? (inner.length === 1 ? inner[0]?.description : undefined);
  return {
    ...schema,
    ...(description === undefined ? {} : { description }),
    anyOf: anyOf.flatMap((one) => (isChoiceAlone(one) ? (one.anyOf ?? []) : [one])),
  };
}

/** Removes rules without meaning: limits of every number in JavaScript, and that names are text. */
function withoutVacuousRules({ minimum, maximum, propertyNames, ...rest }: JsonSchema): JsonSchema {
  const namesAnything = isDeepStrictEqual(propertyNames, { type: "string" });
  return {
    ...rest,
    ...(propertyNames === undefined || namesAnything ? {} : { propertyNames }),
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}

const INT32_MAX = 2 ** 31 - 1;

/** Names the width of an integer that may need more than 32 bits, which is what generators take one without it for. */
function withWidth(schema: JsonSchema): JsonSchema {
  const isInteger = [schema.type].flat().includes("integer");
  const isNarrow = (schema.maximum ?? Infinity) <= INT32_MAX;
  return isInteger && !isNarrow ? { ...schema, format: "int64" } : schema;
}

/** Returns a schema as readers need it: with references to our components, and with answers open to later fields. */
function publicSchema(schema: JsonSchema, direction: Direction): JsonSchema {
  const tidied = withWidth(
    withoutVacuousRules(withoutNestedChoice(withoutNullBranch(tidyParts(schema, direction)))),
  );
  const { $ref, pattern, default: fallback, additionalProperties, ...rest } = tidied;
  const isRedundant = rest.format !== undefined && SELF_EXPLAINING.has(rest.format);
  const isClosed = additionalProperties === false && direction === "output";
  return {
    ...($ref === undefined ? {} : { $ref: $ref.replace("#/$defs/", "#/components/schemas/") }),
    ...rest,
    ...(pattern === undefined || isRedundant ? {} : { pattern }),
    // The optional field says the same, and clients would take a default for a promise that the field is present.
    ...(fallback === undefined || isNothing(fallback) ? {} : { default: fallback }),
    ...(additionalProperties === undefined || isClosed ? {} : { additionalProperties }),
  };
}

/** Collects the named schemas of a document while it is made. */
export class SchemaCatalog {
  readonly #components = new Map<string, JsonSchema>();

  /** Adds a schema and returns it or a reference to it. @throws Error when two schemas have one name */
  add(schema: z.ZodType, direction: Direction): JsonSchema {
    // Wrapped in another schema, so that a named schema becomes a reference wherever it is used.
    const { $defs, properties } = z.toJSONSchema(z.object({ wrapped: schema }), {
      io: direction === "output" ? "output" : "input",
      unrepresentable: "any",
    });
    for (const [name, made] of Object.entries($defs ?? {})) {
      const { id: _, ...definition } = made as JsonSchema & { readonly id?: string };
      this.#define(name, publicSchema(definition, inside(direction)));
    }
    const wrapped = properties?.["wrapped"];
    invariant(typeof wrapped === "object", "a schema was lost on its way");
    return publicSchema(wrapped as JsonSchema, direction);
  }

  /** Adds a schema under a name, unless it has its own. @throws Error when two schemas have one name */
  addAs(name: string, schema: z.ZodType, direction: Direction): JsonSchema {
    const made = this.add(schema, direction);
    if (made.$ref !== undefined) return made;
    this.#define(name, made);
    return { $ref: `#/components/schemas/${name}` };
  }

  #define(name: string, component: JsonSchema): void {
    const known = this.#components.get(name);
    const isNew = known === undefined || isDeepStrictEqual(known, component);
    invariant(isNew, `two schemas are called ${name}`);
    this.#components.set(name, component);
  }

  components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(
      [...this.#components].sort(([left], [right]) => (left < right ? -1 : 1)),
    );
  }
}

function exampleBody({ spec }: Route): unknown {
  const answer = spec.examples?.().answer;
  if (answer === undefined) return undefined;
  if (spec.list !== true) return { data: answer };
  return { data: [answer], page: { nextCursor: null, hasMore: false, limit: 25 } };
}

function answerContent(
  route: Route,
  { status, body, isPage, isImage, isMarkdown, isCsv, codes }: DeclaredAnswer,
  schemas: SchemaCatalog,
): Record<string, Content> {
  const content: Record<string, Content> = {};
  if (isPage) content["text/html"] = { schema: { type: "string" } };
  if (isCsv) content["text/csv"] = { schema: { type: "string" } };
  if (isMarkdown) content["text/markdown"] = { schema: { type: "string" } };
  if (isImage) content["image/*"] = { schema: {} };
  if (body === undefined) return content;
  // Of several successes, the example shows the one with the declared status.
  const example = status === route.spec.status ? exampleBody(route) : undefined;
  // One schema for every error: some generators make one exception of a status, and can't make it from a choice.
  const schema = schemas.add(codes.length > 0 ? anyError() : body, "output");
  content["application/json"] = { schema, ...(example === undefined ? {} : { example }) };
  return content;
}

function toAnswer(route: Route, declared: DeclaredAnswer, schemas: SchemaCatalog): Answer {
  const content = answerContent(route, declared, schemas);
  const { description, headers, codes } = declared;
  return {
    description,
    ...(codes.length === 0 ? {} : { "x-codes": codes }),
    headers: Object.fromEntries(
      headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

/** Collects the answers of all routes. A refusal that many routes share is written once. */
export class AnswerCatalog {
  readonly #schemas: SchemaCatalog;
  readonly #refusals = new Map<string, Answer>();

  constructor(schemas: SchemaCatalog) {
    this.#schemas = schemas;
  }

  of(route: Route): Readonly<Record<string, Answer | Reference>> {
    return Object.fromEntries(
      declaredAnswers(route).map((declared) => {
        const answer = toAnswer(route, declared, this.#schemas);
        const isRefusal = declared.codes.length > 0;
        return [
          String(declared.status),
          isRefusal ? this.#refuse(declared.status, answer) : answer,
        ];
      }),
    );
  }

  /** Returns a reference to a refusal, named `Unauthorized`, `Unauthorized2` and so on by its codes and headers. */
  #refuse(status: number, answer: Answer): Reference {
    const base = (STATUS_CODES[status] ?? "").replace(/[^A-Za-z]/g, "");
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}${number}`;
      const known = this.#refusals.get(name);
      if (known !== undefined && !isDeepStrictEqual(known, answer)) continue;
      this.#refusals.set(name, answer);
      return { $ref: `#/components/responses/${name}` };
    }
  }

  components(): Readonly<Record<string, Answer>> {
    return Object.fromEntries(
      [...this.#refusals].sort(([left], [right]) => (left < right ? -1 : 1)),
    );
  }
}
