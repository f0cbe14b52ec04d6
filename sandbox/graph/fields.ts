import { isObject } from "../exchange.ts";
import { badParameter, graphRefusal } from "./errors.ts";

/** One entry of `fields=`: `name`, `name{inner}` or `name.limit(10){inner}`. */
interface Field {
  readonly name: string;
  readonly limit: number | undefined;
  readonly inner: readonly Field[] | undefined;
}

/** A node with all fields that its type has: undefined is a field without a value here. */
export interface GraphNode {
  readonly type: string;
  readonly values: Readonly<Record<string, unknown>>;
}

const TOKEN = /\s*(\.?\w+|[{}(),])/y;
const DEPTH_MAX = 5;

class FieldParser {
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.trimEnd().length) {
      const found = TOKEN.exec(text)?.[1];
      if (found === undefined) throw this.#problem();
      this.#tokens.push(found);
    }
  }

  parse(): Field[] {
    const fields = this.#list(0);
    if (this.#at < this.#tokens.length) throw this.#problem();
    return fields;
  }

  #list(depth: number): Field[] {
    if (depth > DEPTH_MAX) throw this.#problem();
    const fields = [this.#field(depth)];
    while (this.#take(",")) fields.push(this.#field(depth));
    return fields;
  }

  #field(depth: number): Field {
    const name = this.#next(/^\w+$/);
    let limit: number | undefined;
    while (this.#tokens[this.#at]?.startsWith(".") === true) {
      const modifier = this.#next(/^\.\w+$/);
      this.#next(/^\($/);
      const argument = this.#next(/^\w+$/);
      this.#next(/^\)$/);
      if (modifier === ".limit") limit = Number(argument);
    }
    if (!this.#take("{")) return { name, limit, inner: undefined };
    const inner = this.#list(depth + 1);
    this.#next(/^\}$/);
    return { name, limit, inner };
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }

  #next(wanted: RegExp): string {
    const token = this.#tokens[this.#at];
    if (token === undefined || !wanted.test(token)) throw this.#problem();
    this.#at += 1;
    return token;
  }

  #problem() {
    const at = this.#tokens.slice(0, this.#at).join("");
    return graphRefusal({
      message: `Syntax error "Expected a field name or a modifier after "${at}"" in the fields parameter.`,
      code: 2500,
    });
  }
}

function isNode(value: unknown): value is GraphNode {
  return isObject(value) && typeof value["type"] === "string" && isObject(value["values"]);
}

function plain(value: unknown, field: Field | undefined): unknown {
  if (isNode(value)) return projected(value, field?.inner);
  if (Array.isArray(value)) return value.map((item) => plain(item, field));
  if (!isObject(value)) return value;
  const { data } = value;
  // An edge: what is asked for are fields of the things behind it.
  if (Array.isArray(data)) {
    const shown = data.slice(0, field?.limit ?? data.length);
    return { ...value, data: shown.map((item) => plain(item, field)) };
  }
  if (isObject(data)) return { ...value, data: plain(data, field) };
  if (field?.inner === undefined) return value;
  const names = field.inner.map(({ name }) => name);
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}

function projected({ type, values }: GraphNode, fields: readonly Field[] | undefined): unknown {
  const wanted = fields ?? [{ name: "id", limit: undefined, inner: undefined }];
  const shown: Record<string, unknown> = {};
  for (const field of wanted) {
    if (!(field.name in values))
      throw badParameter(
        `Tried accessing nonexisting field (${field.name}) on node type (${type})`,
      );
    const value = plain(values[field.name], field);
    if (value !== undefined) shown[field.name] = value;
  }
  if (values["id"] !== undefined) shown["id"] = values["id"];
  return shown;
}

/** The fields that were asked for (`fallback` when none were); refuses one that the node's type does not have. */
export function project(node: GraphNode, asked: string | undefined, fallback: string): unknown {
  return projected(node, new FieldParser(asked ?? fallback).parse());
}

/** A time as Graph writes it. */
export function graphTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "+0000");
}
