import * as z from "zod";

/** One setting: what it means, for whom it is, and how its text becomes a value. */
export interface Setting<T> {
  readonly schema: z.ZodType<T, string | undefined>;
  readonly about: string;
  /** A value that makes the app usable without the setting; shown in the README's table. */
  readonly fallback: string | null;
}

export const text = z.string().min(1);
export const secret = z.string().min(32, "at least 32 characters");
export const flag = z.enum(["true", "false"]).transform((value) => value === "true");
export const integer = (min: number, max: number) =>
  z.string().regex(/^\d+$/, "a whole number").transform(Number).pipe(z.number().min(min).max(max));
export const seconds = z
  .string()
  .regex(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/, "seconds, separated by commas")
  .transform((value) => value.split(",").map(Number));
export const jsonOf = <T>(inner: z.ZodType<T>) =>
  z.string().transform((value, context) => {
    let parsed: unknown;
    try {
      parsed = JSON.parse(value);
    } catch {
      context.addIssue({ code: "custom", message: "not valid JSON" });
      return z.NEVER;
    }
    const result = inner.safeParse(parsed);
    if (result.success) return result.data;
    context.addIssue({ code: "custom", message: result.error.issues[0]?.message ?? "wrong shape" });
    return z.NEVER;
  });
const dataKey = z.string().refine((value) => Buffer.from(value, "base64").length === 32, {
  message: "each key is 32 bytes in base64",
});
export const dataKeys = jsonOf(z.record(z.string().regex(/^[\w-]{1,32}$/), dataKey)).refine(
  (keys) => Object.keys(keys).length > 0,
  "at least one key",
);
const coordinate = z.string().regex(/^[\w-]{43}$/, "a P-256 key in base64url");
export const es256PrivateKey = jsonOf(
  z.object({
    kty: z.literal("EC", "an EC key"),
    crv: z.literal("P-256", "a P-256 key"),
    x: coordinate,
    y: coordinate,
    d: coordinate,
    kid: z.string("a kid").regex(/^[\w.-]{1,64}$/, "a kid of letters, digits, - _ ."),
  }),
);
export const origin = z.url({ protocol: /^https?$/ }).transform((value) => new URL(value).origin);

export const setting = <T>(
  schema: z.ZodType<T, string>,
  fallback: string | null,
  about: string,
): Setting<T | undefined> => ({ schema: schema.optional(), about, fallback });
export const withDefault = <T>(
  schema: z.ZodType<T, string>,
  fallback: string,
  about: string,
): Setting<T> => ({
  schema: z
    .string()
    .optional()
    .transform((value) => value ?? fallback)
    .pipe(schema),
  about,
  fallback,
});
