import * as z from "zod";
import { shape } from "../../runtime/shape.ts";

/** Returns the shape of a field that is not needed: null, or anything that does not fit, is as good as nothing. */
export function spare<Of extends z.ZodType>(field: Of) {
  return field.optional().catch(undefined);
}

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
