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
export const secret = shape(() => z.string().min(32, "must have at least 32 characters"));
/** Returns the schema of one of these words. */
export const oneOf = <Word extends string>(...words: readonly [Word, Word, ...Word[]]) =>
  z.enum(words, `must be one of ${words.join(", ")}`);
export const flag = shape(() => oneOf("true", "false").transform((value) => value === "true"));
const wholeNumber = shape(() =>
  z.string().regex(/^\d+$/, "must be a whole number").transform(Number),
);
/** Returns the schema of a whole number in a range: a check on a shared one, since a start waits for each schema. */
export const integer = (min: number, max: number) =>
  shape(() =>
    wholeNumber().refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`),
  );
export const seconds = shape(() =>
  z
    .string()
    .regex(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/, "must be seconds, separated by commas")
    .transform((value) => value.split(",").map(Number)),
);
/** Returns the schema of JSON; `shapeWords` say what it has to look like. */
export const jsonOf = <T>(inner: z.ZodType<T>, shapeWords: string) =>
  z.string().transform((value, context) => {
    let parsed: unknown;
    try {
      parsed = JSON.parse(value);
    } catch {
      context.addIssue({ code: "custom", message: `is not valid JSON: it ${shapeWords}` });
      return z.NEVER;
    }
    const result = inner.safeParse(parsed);
    if (result.success) return result.data;
    // All of it is one setting, whose keys and values may be secret: what is wrong first has to do.
    const words = result.error.issues[0]?.message ?? "";
    context.addIssue({ code: "custom", message: words.startsWith("must ") ? words : shapeWords });
    return z.NEVER;
  });
export const dataKeys = shape(() => {
  const dataKey = z.string().refine((value) => Buffer.from(value, "base64").length === 32, {
    message: "must have 32 bytes in base64 for each key",
  });
  const keyId = z.string().regex(/^[\w-]{1,32}$/);
  const words = `must be a JSON object such as {"k1":"<32 bytes in base64>"}`;
  return jsonOf(z.record(keyId, dataKey), words).refine(
    (keys) => Object.keys(keys).length > 0,
    "must have at least one key",
  );
});
export const es256PrivateKey = shape(() => {
  const coordinate = z.string().regex(/^[\w-]{43}$/, "must be a P-256 key in base64url");
  return jsonOf(
    z.object({
      kty: z.literal("EC", "must be an EC key"),
      crv: z.literal("P-256", "must be a P-256 key"),
      x: coordinate,
      y: coordinate,
      d: coordinate,
      kid: z.string().regex(/^[\w.-]{1,64}$/, "must have a kid of letters, digits, - _ ."),
    }),
    "must be a private P-256 key as a JSON Web Key: kty, crv, x, y, d and kid",
  );
});
/** The address of something on the web, as given. */
export const httpUrl = shape(() =>
  z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
);
export const origin = shape(() => httpUrl().transform((value) => new URL(value).origin));

/** A name that people read: Mastodon takes 60 characters, and in an authenticator's address a colon ends the name. */
export const displayName = shape(() =>
  z
    .string()
    .trim()
    .min(1, "must not be blank")
    .max(60, "must have at most 60 characters")
    .regex(
      /^[^\p{Cc}\u202a-\u202e\u2066-\u2069:]*$/u,
      "must have no colon and no control characters",
    ),
);
/** What a `User-Agent` header may be: printable ASCII. */
export const userAgent = shape(() =>
  z
    .string()
    .regex(
      /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/,
      "must be up to 200 printable ASCII characters",
    ),
);

export const webAddress = shape(() => httpUrl().max(2_000, "must have at most 2,000 characters"));

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
