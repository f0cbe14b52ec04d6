import * as z from "zod";
import { shape, type Shape } from "./shape.ts";

/** One setting: what it means, for whom it is, and how its text becomes a value. */
export interface Setting<T> {
  readonly schema: Shape<z.ZodType<T, string>>;
  readonly about: string;
  /** The text of a setting that is not given; null when there is none. Shown in docs/reference/settings.md. */
  readonly fallback: string | null;
}

/** What the setting's text becomes. */
export type ValueOf<Of extends Setting<unknown>> = Of extends Setting<infer T> ? T : never;

export const text = shape(() => z.string().min(1));
export const secret = shape(() => z.string().min(32, "at least 32 characters"));
export const flag = shape(() => z.enum(["true", "false"]).transform((value) => value === "true"));
const wholeNumber = shape(() => z.string().regex(/^\d+$/, "a whole number").transform(Number));
/** Returns the schema of a whole number in a range: a check on a shared one, since a start waits for each schema. */
export const integer = (min: number, max: number) =>
  shape(() =>
    wholeNumber().refine((value) => value >= min && value <= max, `from ${min} to ${max}`),
  );
export const seconds = shape(() =>
  z
    .string()
    .regex(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/, "seconds, separated by commas")
    .transform((value) => value.split(",").map(Number)),
);
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
export const dataKeys = shape(() => {
  const dataKey = z.string().refine((value) => Buffer.from(value, "base64").length === 32, {
    message: "each key is 32 bytes in base64",
  });
  return jsonOf(z.record(z.string().regex(/^[\w-]{1,32}$/), dataKey)).refine(
    (keys) => Object.keys(keys).length > 0,
    "at least one key",
  );
});
export const es256PrivateKey = shape(() => {
  const coordinate = z.string().regex(/^[\w-]{43}$/, "a P-256 key in base64url");
  return jsonOf(
    z.object({
      kty: z.literal("EC", "an EC key"),
      crv: z.literal("P-256", "a P-256 key"),
      x: coordinate,
      y: coordinate,
      d: coordinate,
      kid: z.string("a kid").regex(/^[\w.-]{1,64}$/, "a kid of letters, digits, - _ ."),
    }),
  );
});
export const origin = shape(() =>
  z.url({ protocol: /^https?$/ }).transform((value) => new URL(value).origin),
);

/** A name that people read: Mastodon takes 60 characters, and in an authenticator's address a colon ends the name. */
export const displayName = shape(() =>
  z
    .string()
    .trim()
    .min(1)
    .max(60, "60 characters at most")
    .regex(/^[^\p{Cc}\u202a-\u202e\u2066-\u2069:]*$/u, "no colon, no control characters"),
);
/** What a `User-Agent` header may be: printable ASCII. */
export const userAgent = shape(() =>
  z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/, "up to 200 ASCII characters"),
);

export const webAddress = shape(() =>
  z.url({ protocol: /^https?$/ }).max(2_000, "2,000 characters at most"),
);

const addressRange = shape(() => z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]));
export const isAddressRange = (part: string) => addressRange().safeParse(part).success;

export const setting = <T>(
  schema: Shape<z.ZodType<T, string>>,
  fallback: null,
  about: string,
): Setting<T | undefined> => ({ schema, about, fallback });
export const withDefault = <T>(
  schema: Shape<z.ZodType<T, string>>,
  fallback: string,
  about: string,
): Setting<T> => ({ schema, about, fallback });
