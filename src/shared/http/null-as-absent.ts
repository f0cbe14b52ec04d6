import type * as z from "zod";

type AnySchema = z.core.$ZodType;

/** The parts of a schema's definition that lead to fields. */
interface Definition {
  readonly shape?: Readonly<Record<string, AnySchema>>;
  readonly element?: AnySchema;
  readonly options?: readonly AnySchema[];
  /** The schema inside one that only adds a default, null, a transformation or a description. */
  readonly innerType?: AnySchema;
  readonly in?: AnySchema;
}

/** Returns the object and list schemas that a value may be checked against, for a union those of each option. */
function partSchemas(schema: AnySchema): readonly Definition[] {
  // Safe: schemas have these parts where they exist, and the library offers no other way to read them.
  // oxlint-disable-next-line no-underscore-dangle -- the library's own name
  const definition = schema._zod.def as Definition;
  const { shape, element, options, innerType, in: input } = definition;
  if (shape !== undefined || element !== undefined) return [definition];
  if (options !== undefined) return options.flatMap(partSchemas);
  const inner = innerType ?? input;
  return inner === undefined ? [] : partSchemas(inner);
}

/**
 * Removes fields that are null and may be absent, because generated clients and no-code tools write null for a missing
 * value. Free-form names and values (`metadata`) and items of lists stay unchanged. With `keepsFirst`, fields of the
 * body itself stay too: a PATCH clears a field with null when its schema allows it.
 */
export function withoutAbsentNulls(
  schema: AnySchema,
  value: unknown,
  keepsFirst: boolean,
): unknown {
  if (typeof value !== "object" || value === null) return value;
  const parts = partSchemas(schema);
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
    // oxlint-disable-next-line no-underscore-dangle -- the library's own name
    if (item === null && !keepsFirst && field._zod.optin !== undefined) return [];
    return [[name, withoutAbsentNulls(field, item, false)]];
  });
  return Object.fromEntries(fields);
}
