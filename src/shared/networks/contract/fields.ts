import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { numberShape } from "./answers.ts";

/**
 * Returns the shape of a field that is not needed: null, or anything that does not fit, is as good as nothing, or as
 * `otherwise`.
 */
export function spare<Of extends z.ZodType>(field: Of): z.ZodCatch<z.ZodOptional<Of>>;
export function spare<Of extends z.ZodType>(
  field: Of,
  otherwise: z.util.NoUndefined<z.output<Of>>,
): z.ZodCatch<Of>;
export function spare(field: z.ZodType, otherwise?: unknown) {
  return otherwise === undefined ? field.optional().catch(undefined) : field.catch(otherwise);
}

/** Returns the maker of an object's shape, of these fields. */
export function objectShape<Fields extends z.ZodRawShape>(fields: () => Fields) {
  return shape(() => z.object(fields()));
}

/** Returns the shape of a list of which no single entry is needed: those that do not fit are left out. */
export function entries<Of extends z.ZodType>(entry: Of) {
  return z
    .array(spare(entry))
    .transform((list) => list.flatMap((one) => (one === undefined ? [] : [one])));
}

/** Seconds that a token lasts; some answers have them in quotes. */
export const secondsShape = shape(() =>
  numberShape().pipe(
    z
      .number()
      .positive()
      .max(10 ** 10),
  ),
);

/** What Meta and LinkedIn document as the life of a token, for an answer that does not tell. */
export const SIXTY_DAYS = 60 * 24 * 3600;

/** Scopes, which come as a list or in one text, separated as it happens; undefined where the answer names none. */
export const scopesShape = shape(() =>
  spare(
    z
      .union([z.string().transform((text) => text.split(/[\s,]+/)), z.array(z.string())])
      .transform((listed) => listed.filter((name) => name !== "")),
  ),
);

/** Returns the needed scopes that a grant lacks. One that names none has all (RFC 6749, section 5.1). */
export function scopesLacked(
  needed: readonly string[],
  granted: readonly string[] | undefined,
): readonly string[] {
  return needed.filter((name) => granted?.includes(name) === false);
}
