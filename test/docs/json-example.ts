import * as z from "zod";
import { chapters } from "../../src/functions/routes.ts";
import { openApi } from "../../tools/reference/openapi.ts";
import type { JsonSchema } from "../../tools/reference/openapi-types.ts";
import type { Block } from "./blocks.ts";

const document = openApi(chapters, "https://relay.example.net/api", "Publishing Relay");

/** A schema in which nothing is required, and nothing is allowed that it does not name. */
function shortened(schema: JsonSchema): JsonSchema {
  const { required: _, ...rest } = schema;
  return rest;
}

function closed(schema: JsonSchema): JsonSchema {
  return schema.properties === undefined || schema.additionalProperties !== undefined
    ? schema
    : { ...schema, additionalProperties: false };
}

/** The same schema with a change made to it and to everything in it. */
function changed(value: unknown, change: (schema: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => changed(item, change));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === "$ref"
      ? String(inner).replace("#/components/schemas/", "#/$defs/")
      : changed(inner, change),
  ]);
  // Safe: every object in a schema is a schema, or a map of them that has none of the fields that are changed.
  return change(Object.fromEntries(entries) as JsonSchema);
}

function validatorOf(name: string, isShortened: boolean): z.ZodType {
  const $defs = changed(document.components.schemas, (schema) =>
    closed(isShortened ? shortened(schema) : schema),
  );
  // Safe: what the document has as its schemas, under the name that JSON Schema has for them.
  return z.fromJSONSchema({ $defs, $ref: `#/$defs/${name}` } as Parameters<
    typeof z.fromJSONSchema
  >[0]);
}

/** What is wrong with an example, or undefined. `json Post part`: fields may be left out. */
export function problemOfJson({ words: [name = "", part], code }: Block): string | undefined {
  const value: unknown = JSON.parse(code);
  if (name === "ayrshare") return undefined;
  if (document.components.schemas[name] === undefined) return `there is no schema ${name}`;
  const enveloped = z.strictObject({ data: z.unknown() }).safeParse(value);
  const result = validatorOf(name, part === "part").safeParse(
    enveloped.success ? enveloped.data.data : value,
  );
  return result.success ? undefined : z.prettifyError(result.error);
}
