import type * as z from "zod";

type Schema = z.core.$ZodType;

/** What a schema is made of, as far as fields are found in it. */
interface Definition {
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly element?: Schema;
  readonly options?: readonly Schema[];
  /** What a schema wraps that adds a default, null, a transformation or nothing but words. */
  readonly innerType?: Schema;
  readonly in?: Schema;
}

// Safe: schemas are made of these where they have them, and the library offers no other way to read them.
// oxlint-disable-next-line no-underscore-dangle -- the library's own name
const definitionOf = (schema: Schema) => schema._zod.def as Definition;
// oxlint-disable-next-line no-underscore-dangle -- the library's own name
const mayBeAbsent = (schema: Schema) => schema._zod.optin !== undefined;

/** Returns the object and list schemas that a value may be checked against: of a union those of each option. */
function partsOf(schema: Schema): readonly Definition[] {
  const definition = definitionOf(schema);
  const { shape, element, options, innerType, in: input } = definition;
  if (shape !== undefined || element !== undefined) return [definition];
  if (options !== undefined) return options.flatMap(partsOf);
  const inner = innerType ?? input;
  return inner === undefined ? [] : partsOf(inner);
}

/**
 * Returns the value without the fields that are null and may be absent: generated clients and no-code tools write null for
 * what is not given. Free-form names and values (`metadata`) stay as they are, and so do items of lists. `keepsFirst`:
 * also the fields of the body itself, of which a PATCH clears those that its schema lets be null.
 */
export function withoutAbsentNulls(schema: Schema, value: unknown, keepsFirst: boolean): unknown {
  if (typeof value !== "object" || value === null) return value;
  const parts = partsOf(schema);
  if (Array.isArray(value)) {
    const element = parts.find((part) => part.element !== undefined)?.element;
    return element === undefined
      ? value
      : value.map((item: unknown) => withoutAbsentNulls(element, item, false));
  }
  const shape = parts.find((part) => part.shape !== undefined)?.shape;
  if (shape === undefined) return value;
  const fields = Object.entries(value).flatMap(([name, item]: [string, unknown]) => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field === undefined) return [[name, item]];
    if (item === null && !keepsFirst && mayBeAbsent(field)) return [];
    return [[name, withoutAbsentNulls(field, item, false)]];
  });
  return Object.fromEntries(fields);
}
