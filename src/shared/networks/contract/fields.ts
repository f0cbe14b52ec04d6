import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { numberShape } from "./answers.ts";

/** Makes the shape of an optional field. Null, or a value that doesn't fit, becomes undefined or `otherwise`. */
export function lenient<Of extends z.ZodType>(field: Of): z.ZodCatch<z.ZodOptional<Of>>;
export function lenient<Of extends z.ZodType>(
  field: Of,
  otherwise: z.util.NoUndefined<z.output<Of>>,
): z.ZodCatch<Of>;
export function lenient(field: z.ZodType, otherwise?: unknown) {
  return otherwise === undefined ? field.optional().catch(undefined) : field.catch(otherwise);
}

/** Makes a function that builds an object's shape with these fields. */
export function objectShape<Fields extends z.ZodRawShape>(fields: () => Fields) {
  return shape(() => z.object(fields()));
}

/** Makes the shape of a list without required entries. Entries that don't fit are left out. */
export function lenientList<Of extends z.ZodType>(entry: Of) {
  return z
    .array(lenient(entry))
    .transform((list) => list.flatMap((one) => (one === undefined ? [] : [one])));
}

/** The lifetime of a token in seconds, which some answers have in quotes. */
export const secondsShape = shape(() =>
  numberShape().pipe(
    z
      .number()
      .positive()
      .max(10 ** 10),
  ),
);

/** The lifetime of a token that Meta and LinkedIn document, for an answer that doesn't state it. */
export const SIXTY_DAYS = 60 * 24 * 3600;

/** Scopes as a list or one text with various separators. Undefined when the answer names none. */
export const scopesShape = shape(() =>
  lenient(
    z
      .union([z.string().transform((text) => text.split(/[\s,]+/)), z.array(z.string())])
      .transform((listed) => listed.filter((name) => name !== "")),
  ),
);

/** Returns the needed scopes that a grant lacks. A grant that names none has all (RFC 6749, section 5.1). */
export function scopesLacked(
  needed: readonly string[],
  granted: readonly string[] | undefined,
): readonly string[] {
  return needed.filter((name) => granted?.includes(name) === false);
}
