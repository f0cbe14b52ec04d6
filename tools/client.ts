import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import openapiTypes, { astToString, type OpenAPI3 } from "openapi-typescript";
import { format } from "prettier";
import { chapters } from "../src/functions/routes.ts";
import { openApi } from "./reference/openapi.ts";
import { chaptersForPrograms } from "./reference/render-reference.ts";
import type {
  JsonSchema,
  OpenApi,
  OpenApiOperation,
  Parameter,
  Reference,
} from "./reference/openapi-types.ts";

/*
 * Writes what the TypeScript client has of the OpenAPI document: the types, and a line for each operation. Both are
 * as short as they can be, because every user of the client downloads them.
 */

const JSON_TYPE = "application/json";

/** Headers as the client's callers name them. */
const FIELD_OF_HEADER: Readonly<Record<string, string>> = {
  "X-Profile-Id": "profileId",
  "X-Application-Id": "applicationId",
  "X-Profile-Grant": "profileGrant",
  "Idempotency-Key": "idempotencyKey",
};

/** What reads of a schema without changing what TypeScript makes of it. */
const SCHEMA_WORDS = new Set([
  "description",
  "examples",
  "default",
  "format",
  "pattern",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "maxProperties",
  "uniqueItems",
]);

function leanSchema(schema: JsonSchema): JsonSchema {
  const lean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(lean);
    return typeof value === "object" && value !== null ? leanSchema(value) : value;
  };
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => !SCHEMA_WORDS.has(name))
      .map(([name, value]) => [
        name,
        // The names in here are fields, and not words of a schema.
        name === "properties"
          ? Object.fromEntries(
              Object.entries(value as Readonly<Record<string, JsonSchema>>).map(
                ([field, its]) => [field, leanSchema(its)] as const,
              ),
            )
          : lean(value),
      ]),
  );
}

interface Field {
  readonly name: string;
  readonly place: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: JsonSchema;
}

interface ClientOperation {
  readonly id: string;
  readonly line: string;
  /** What a caller gives and gets, as an object with `input` and one of `answer`, `item` and `bytes`. */
  readonly types: JsonSchema;
}

class Reader {
  readonly #document: OpenApi;

  constructor(document: OpenApi) {
    this.#document = document;
  }

  operations(): ClientOperation[] {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        this.#operation(method.toUpperCase(), path, operation),
      ),
    );
  }

  #operation(method: string, path: string, operation: OpenApiOperation): ClientOperation {
    const { operationId: id } = operation;
    const fields = this.#fields(operation);
    const body = operation.requestBody?.content[JSON_TYPE]?.schema;
    const [answer, kind] = this.#answer(operation);
    const named = (place: Field["place"]) =>
      fields.filter((field) => field.place === place).map(({ name }) => name);
    const words = [
      method,
      [path, named("query").join("&")].filter((part) => part !== "").join("?"),
      named("header").join("&") || "-",
      body === undefined ? "-" : "body",
      kind,
    ];
    const input = {
      type: "object",
      properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
      required: fields.filter(isNeeded).map(({ name }) => name),
    };
    return {
      id,
      // What most operations have is left out.
      line: words.join(" ").replace(/(?: -)?(?: -)? data$/, ""),
      types: {
        type: "object",
        description: operation.summary,
        properties: {
          input: body === undefined ? input : withBody(input, leanSchema(body)),
          ...answer,
        },
        // A repeated DELETE that finds nothing is done, and has no answer.
        required: ["input", ...(method === "DELETE" ? [] : Object.keys(answer))],
      },
    };
  }

  /** Returns the fields of an operation's path, query and headers, each name once. */
  #fields({ operationId, parameters, requestBody }: OpenApiOperation): Field[] {
    const found = new Map<string, Field>();
    for (const parameter of (parameters ?? []).map((one) => this.#parameter(one))) {
      const name = parameter.in === "header" ? FIELD_OF_HEADER[parameter.name] : parameter.name;
      if (name === undefined) throw new Error(`${operationId}: name ${parameter.name} as a field`);
      // A header that says the same as the path isn't needed; one that narrows a list is weaker than the list's filter.
      if (found.has(name)) continue;
      const { in: place, required, schema } = parameter;
      found.set(name, { name, place, required, schema: leanSchema(schema) });
    }
    const body = requestBody?.content[JSON_TYPE]?.schema;
    for (const name of Object.keys(this.#resolve(body ?? {}).properties ?? {}))
      if (found.get(name)?.place === "header") found.delete(name);
      else if (found.has(name)) throw new Error(`${operationId}: two fields are called ${name}`);
    return [...found.values()];
  }

  #parameter(parameter: Parameter | Reference): Parameter {
    if (!("$ref" in parameter)) return parameter;
    const found = this.#document.components.parameters[parameter.$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new Error(`there is no ${parameter.$ref}`);
    return found;
  }

  #resolve(schema: JsonSchema): JsonSchema {
    if (schema.$ref === undefined) return schema;
    const found = this.#document.components.schemas[schema.$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new Error(`there is no ${schema.$ref}`);
    return found;
  }

  /** Returns what an operation's success gives a caller, and what the client reads of it. */
  #answer({ operationId, responses }: OpenApiOperation): [Record<string, JsonSchema>, string] {
    const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
    const contents = successes.flatMap(([, answer]) =>
      "content" in answer && answer.content !== undefined ? Object.entries(answer.content) : [],
    );
    const shapes = new Map(
      contents.map(([type, { schema }]) => [`${type} ${JSON.stringify(schema)}`, { type, schema }]),
    );
    const [one, another] = shapes.values();
    if (another !== undefined) throw new Error(`${operationId} has answers of several shapes`);
    // A redirect leads to bytes in storage.
    if ("302" in responses) return [{ bytes: { type: "boolean" } }, "bytes"];
    if (one === undefined) return [{}, "nothing"];
    if (one.type.startsWith("text/")) return [{ answer: { type: "string" } }, "text"];
    if (one.type !== JSON_TYPE) return [{ bytes: { type: "boolean" } }, "bytes"];
    const schema = leanSchema(one.schema);
    const { data, page } = this.#resolve(schema).properties ?? {};
    if (data === undefined) return [{ answer: schema }, "document"];
    if (page === undefined) return [{ answer: data }, "data"];
    if (data.items === undefined) throw new Error(`${operationId} lists nothing`);
    return [{ item: data.items }, "list"];
  }
}

/** The client may have been made for a profile, and makes a key itself. */
const isNeeded = ({ name, required }: Field) =>
  required && name !== "profileId" && name !== "idempotencyKey";

const withBody = (fields: JsonSchema, body: JsonSchema): JsonSchema =>
  Object.keys(fields.properties ?? {}).length === 0 ? body : { allOf: [fields, body] };

/** Returns what is inside the envelope of an error. */
const errorIn = ({ properties }: JsonSchema) => properties?.["error"]?.properties;

/** Returns an error's code with the schema of its details; nothing for the schema of all errors. */
function detailsOf(schema: JsonSchema): [string, JsonSchema][] {
  const { code, details } = errorIn(schema) ?? {};
  const codes = code?.const === undefined ? (code?.enum ?? []) : [code.const];
  return codes.length === 1 && details !== undefined ? [[String(codes[0]), details]] : [];
}

/** Comments that repeat the type. */
const TAGS = /^\s*\/\*\* (?:@\w+ ?\S* ?)+\*\/\n/gm;

const WARNING = "// Made from the OpenAPI document by `npm run client`.\n";

async function typesOf(document: OpenApi, operations: readonly ClientOperation[]) {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => [name, leanSchema(schema)] as const,
  );
  const details = schemas.flatMap(([, schema]) => detailsOf(schema));
  const calls = {
    type: "object",
    properties: Object.fromEntries(operations.map(({ id, types }) => [id, types])),
    required: operations.map(({ id }) => id),
  };
  const lean = {
    openapi: document.openapi,
    info: document.info,
    components: {
      schemas: {
        ...Object.fromEntries(schemas.filter(([, schema]) => errorIn(schema) === undefined)),
        ErrorDetails: {
          type: "object",
          properties: Object.fromEntries(details),
          required: details.map(([code]) => code),
        },
        Operations: calls,
      },
    },
  };
  // Safe: a part of a document of ours, which is one of OpenAPI 3.1.
  const tree = await openapiTypes(lean as unknown as OpenAPI3, { emptyObjectsUnknown: false });
  // Safe: all that the generator declares has a name.
  const named = tree as unknown as readonly { readonly name: { readonly text: string } }[];
  const made = named.filter(({ name }) => name.text === "components");
  return astToString(made as unknown as typeof tree)
    .replaceAll(TAGS, "")
    .replaceAll("/** @description ", "/** ");
}

/** Returns the client's files that come from the OpenAPI document, by their paths. */
export async function clientFiles(): Promise<Readonly<Record<string, string>>> {
  const document = openApi(chaptersForPrograms(chapters), "https://relay.example.com", "Relay");
  const operations = new Reader(document).operations();
  const lines = Object.fromEntries(operations.map(({ id, line }) => [id, line]));
  const texts = {
    "clients/typescript/src/made/api.ts": await typesOf(document, operations),
    "clients/typescript/src/made/operations.ts": `import type { components } from "./api.ts";

/** By operation id: method, path with the query's fields, fields of headers, body, and what is read of the answer, unless that is its data. */
export const OPERATIONS: Readonly<Record<keyof components["schemas"]["Operations"], string>> = ${JSON.stringify(lines)};`,
  };
  const made = Object.entries(texts).map(
    async ([path, text]) =>
      [path, await format(WARNING + text, { parser: "typescript", printWidth: 100 })] as const,
  );
  return Object.fromEntries(await Promise.all(made));
}

if (import.meta.main)
  for (const [path, text] of Object.entries(await clientFiles())) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
