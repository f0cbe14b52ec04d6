import { html, Markup } from "../../src/shared/connections/connections.ts";
import type { JsonSchema, Answer, OpenApi, Parameter, Reference } from "./openapi-types.ts";
import { invariant } from "../../src/shared/runtime/errors.ts";

const lastPart = (reference: string) => reference.slice(reference.lastIndexOf("/") + 1);

const schemaName = ({ $ref }: JsonSchema): string | undefined =>
  $ref === undefined ? undefined : lastPart($ref);

/** Finds the parts of an OpenAPI document by their references. */
export class DocumentReader {
  readonly document: OpenApi;

  constructor(document: OpenApi) {
    this.document = document;
  }

  #find<T>(kind: Readonly<Record<string, T>>, { $ref }: Reference): T {
    const found = kind[lastPart($ref)];
    invariant(found !== undefined, `the document has no ${$ref}`);
    return found;
  }

  schema(schema: JsonSchema): JsonSchema {
    const { $ref } = schema;
    return $ref === undefined ? schema : this.#find(this.document.components.schemas, { $ref });
  }

  parameter(parameter: Parameter | Reference): Parameter {
    return "$ref" in parameter
      ? this.#find(this.document.components.parameters, parameter)
      : parameter;
  }

  answer(answer: Answer | Reference): Answer {
    return "$ref" in answer ? this.#find(this.document.components.responses, answer) : answer;
  }
}

/** Renders `code` and **bold**, the only inline marks that descriptions use. */
function inline(text: string): Markup[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`")) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith("**")) return html`<strong>${part.slice(2, -2)}</strong>`;
    return html`${part}`;
  });
}

function block(text: string): Markup {
  const lines = text.split("\n");
  if (!lines.every((line) => line.startsWith("- "))) return html`<p>${inline(text)}</p>`;
  return html`<ul>
    ${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}
  </ul>`;
}

export function phrase(text: string): Markup {
  return new Markup(
    inline(text)
      .map((part) => part.text)
      .join(""),
  );
}

/** Renders the paragraphs and lists of a description, the only parts of Markdown that descriptions use. */
export function prose(text: string): Markup[] {
  return text.split(/\n{2,}/).map(block);
}

const formattedNumber = (value: number) => value.toLocaleString("en");

function limitsText(low: number | undefined, high: number | undefined, unit: string) {
  const what = unit === "" ? "" : ` ${unit}`;
  if (low !== undefined && high !== undefined)
    return `${formattedNumber(low)} to ${formattedNumber(high)}${what}`;
  if (high !== undefined) return `at most ${formattedNumber(high)}${what}`;
  return low === undefined ? undefined : `at least ${formattedNumber(low)}${what}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "ISO 8601 time",
  email: "email address",
  uri: "URL",
};

/** Returns the form of a text. The form of an id is named by its prefix. */
function textForm({ pattern, format }: JsonSchema): string | undefined {
  if (format !== undefined) return FORMATS[format] ?? format;
  if (pattern === undefined) return undefined;
  const prefix = /^\^([a-z]+_)\[/.exec(pattern)?.[1];
  return prefix === undefined ? `matches ${pattern}` : `${prefix}…`;
}

function limits(schema: JsonSchema): string[] {
  const ofItems = schema.items === undefined ? [] : limits(schema.items);
  return [
    limitsText(schema.minItems, schema.maxItems, "items"),
    schema.uniqueItems === true ? "no repeats" : undefined,
    ofItems.length === 0 ? undefined : `each ${ofItems.join(", ")}`,
    limitsText(schema.minLength, schema.maxLength, "characters"),
    limitsText(schema.minimum, schema.maximum, ""),
    limitsText(undefined, schema.maxProperties, "names"),
    textForm(schema),
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
  ].filter((text) => text !== undefined);
}

const isNullSchema = (schema: JsonSchema) => schema.type === "null";

/** Describes the type of a value: `string or null`, `array of Leg`, one of some words. */
export function typeMarkup(schema: JsonSchema): Markup {
  const name = schemaName(schema);
  if (name !== undefined) return html`<a href="#schema-${name}">${name}</a>`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum !== undefined) {
    const values: readonly unknown[] = schema.enum.filter((value) => value !== null);
    return html`${values.length > 1 && "one of "}${values.map(
      (value, index) => html`${index > 0 && ", "}<code>${String(value)}</code>`,
    )}${values.length < schema.enum.length && " or null"}`;
  }
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined)
    return html`${branches.map((branch, index) => html`${index > 0 && " or "}${typeMarkup(branch)}`)}`;
  const types = [schema.type ?? "any"].flat();
  if (types.includes("array") && schema.items !== undefined)
    return html`array of ${typeMarkup(schema.items)}`;
  const { additionalProperties: values } = schema;
  if (typeof values === "object" && values.type !== undefined)
    return html`${types.filter((type) => type !== "null").join(" or ")} of
    ${typeMarkup(values)}${types.includes("null") && " or null"}`;
  return html`${types.join(" or ")}`;
}

/** Returns the object whose fields are shown below a value. It looks into arrays and alternatives to null. */
function innerObject(schema: JsonSchema): JsonSchema | undefined {
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return innerObject(schema.items);
  const branches = (schema.anyOf ?? schema.oneOf ?? []).filter((branch) => !isNullSchema(branch));
  return branches.map(innerObject).find((found) => found !== undefined);
}

/** Marks the required fields of a request, and the optional ones of an answer. */
type Presence = "required" | "optional" | "";

function field(name: string, schema: JsonSchema, presence: Presence): Markup {
  const { description } = schema;
  const inner = schemaName(schema) === undefined ? innerObject(schema) : undefined;
  const count = Object.keys(inner?.properties ?? {}).length;
  const bounds = limits(schema);
  return html`<li>
    <code class="name">${name}</code> <span class="type">${typeMarkup(schema)}</span>
    ${presence !== "" && html`<span class="${presence}">${presence}</span>`}
    ${bounds.length > 0 && html`<span class="limits">${bounds.join(" · ")}</span>`}
    ${description !== undefined && html`<p>${phrase(description)}</p>`}
    ${
      inner !== undefined &&
      html`<details>
        <summary>${count} ${count === 1 ? "field" : "fields"}</summary>
        ${fieldList(inner)}
      </details>`
    }
  </li>`;
}

/** Renders the fields of an object, each with its type, limits and meaning. */
function fieldList(schema: JsonSchema): Markup {
  const required = new Set(schema.required ?? []);
  // Only requests refuse unknown fields.
  const isRequest = schema.additionalProperties === false;
  const presence = (name: string): Presence => {
    if (required.has(name)) return isRequest ? "required" : "";
    return isRequest ? "" : "optional";
  };
  const entries = Object.entries(schema.properties ?? {});
  return html`<ul class="fields">
    ${entries.map(([name, part]) => field(name, part, presence(name)))}
  </ul>`;
}

export function parameterField(
  name: string,
  schema: JsonSchema,
  { required, description }: { readonly required: boolean; readonly description?: string },
): Markup {
  return field(
    name,
    { ...schema, ...(description === undefined ? {} : { description }) },
    required ? "required" : "",
  );
}

/** Renders the fields of a named schema, or of the items of a list. Undefined for plain values. */
export function bodyFields(schema: JsonSchema, reader: DocumentReader): Markup | undefined {
  const resolved = innerObject(reader.schema(schema));
  return resolved === undefined ? undefined : fieldList(resolved);
}
