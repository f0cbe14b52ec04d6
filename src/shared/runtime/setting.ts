// The small variant of the library, because every start loads it.
import { isIP } from "node:net";
import * as z from "zod/mini";
import { canonicalEmail } from "./email.ts";
import { shape, type Shape } from "./shape.ts";

/** The schema of a setting's text. */
type SettingSchema<T> = z.ZodMiniType<T, string>;

/** One setting: its meaning, who sets it, and how its text becomes a value. */
export interface Setting<T> {
  readonly schema: Shape<SettingSchema<T>>;
  readonly about: string;
  /** The text to use when the setting is not given, or null when there is none. docs/reference/settings.md shows it. */
  readonly fallback: string | null;
}

export type ValueOf<Of extends Setting<unknown>> = Of extends Setting<infer T> ? T : never;

export const matching = (pattern: RegExp, words: string) =>
  z.string().check(z.regex(pattern, words));
/** Returns the schema of a value that is made from another schema's value. */
const transformed = <T, Made>(schema: SettingSchema<T>, make: (value: T) => Made) =>
  z.pipe(schema, z.transform(make));
/** Adds a rule to a schema. `words` say what the value has to be. */
export const withRule = <T>(
  schema: SettingSchema<T>,
  holds: (value: T) => boolean,
  words: string,
) => schema.check(z.refine(holds, words));

/** Text as it is. White space around it comes from pasting, and would be part of a name or an id. */
export const text = shape(() =>
  matching(/^\S(?:.*\S)?$/, "must not begin or end with white space"),
);
/** One or more words, separated by spaces. */
export const severalWords = shape(() =>
  withRule(
    transformed(z.string(), (value) => value.split(/\s/).filter((word) => word !== "")),
    (found) => found.length > 0,
    "must have at least one word",
  ),
);
export const secret = shape(() =>
  z.string().check(z.minLength(32, "must have at least 32 characters")),
);
export const oneOfWords = <Word extends string>(...words: readonly [Word, Word, ...Word[]]) =>
  transformed(z.enum(words, `must be one of ${words.join(", ")}`), (word) => word);
export const flag = shape(() =>
  transformed(oneOfWords("true", "false"), (value) => value === "true"),
);
const wholeNumber = shape(() => transformed(matching(/^\d+$/, "must be a whole number"), Number));
/** Returns a whole number in a range. It adds a check to a shared schema, because every new schema delays the start. */
export const integerSetting = (min: number, max: number) =>
  shape(() =>
    withRule(
      wholeNumber(),
      (value) => value >= min && value <= max,
      `must be from ${min} to ${max}`,
    ),
  );
const DELAY_SECONDS_MAX = 604_800;
const DELAYS_MAX = 50;
/** Delays, separated by commas: a week at most, because a typing mistake of one digit more would end all retries. */
export const seconds = shape(() =>
  withRule(
    transformed(
      matching(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/, "must be seconds, separated by commas"),
      (value) => value.split(",").map(Number),
    ),
    (delays) => delays.length <= DELAYS_MAX && delays.every((one) => one <= DELAY_SECONDS_MAX),
    `must be at most ${DELAYS_MAX} delays of at most ${DELAY_SECONDS_MAX} seconds`,
  ),
);
/** Returns the schema of JSON. `shapeWords` say what it has to look like. */
export const jsonSetting = <T>(inner: z.ZodMiniType<T>, shapeWords: string) =>
  z.pipe(
    z.string(),
    z.transform((value, context) => {
      const fail = (message: string) => {
        context.issues.push({ code: "custom", message, input: value });
        return z.NEVER;
      };
      let parsed: unknown;
      try {
        parsed = JSON.parse(value);
      } catch {
        return fail(`is not valid JSON: it ${shapeWords}`);
      }
      const result = inner.safeParse(parsed);
      if (result.success) return result.data;
      // The JSON is one setting, and its keys and values may be secret, so only the first problem is reported.
      const words = result.error.issues[0]?.message ?? "";
      return fail(words.startsWith("must ") ? words : shapeWords);
    }),
  );
export const dataKeys = shape(() => {
  const dataKey = withRule(
    z.string(),
    // Node skips what is no base64, so a mistyped key would be another key.
    (value) => /^[\w+/-]{43}=?$/.test(value) && Buffer.from(value, "base64").length === 32,
    "must have 32 bytes in base64 for each key",
  );
  // A name of digits alone would become the first, wherever it is, and the first key seals.
  const keyId = z
    .string()
    .check(
      z.regex(/^\d{0,31}[A-Za-z_-][\w-]{0,31}$/, "must have key ids such as k1, not digits alone"),
    );
  const words = `must be a JSON object such as {"k1":"<32 bytes in base64>"}`;
  return withRule(
    jsonSetting(z.record(keyId, dataKey), words),
    (keys) => Object.keys(keys).length > 0,
    "must have at least one key",
  );
});
export const es256PrivateKey = shape(() => {
  const coordinate = matching(/^[\w-]{43}$/, "must be a P-256 key in base64url");
  return jsonSetting(
    z.object({
      kty: z.literal("EC", "must be an EC key"),
      crv: z.literal("P-256", "must be a P-256 key"),
      x: coordinate,
      y: coordinate,
      d: coordinate,
      kid: matching(/^[\w.-]{1,64}$/, "must have a kid of letters, digits, - _ ."),
    }),
    "must be a private P-256 key as a JSON Web Key: kty, crv, x, y, d and kid",
  );
});
export const httpUrl = shape(() =>
  z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
);
export const origin = shape(() =>
  transformed(
    withRule(
      httpUrl(),
      (value) => /^https?:\/\/[^/?#@]+\/?$/.test(value),
      "must have origins such as http://127.0.0.1:7072",
    ),
    (value) => new URL(value).origin,
  ),
);
/** The address of an API: what is appended to it has to be its path. */
export const baseUrl = shape(() =>
  transformed(
    withRule(
      httpUrl(),
      (value) => /^https?:\/\/[^?#@]+$/.test(value),
      "must be an http or https URL without user, query and fragment",
    ),
    (value) => value.replace(/\/+$/, ""),
  ),
);
export const accountName = shape(() =>
  matching(/^[a-z0-9]{3,24}$/, "must be 3 to 24 lower-case letters and digits"),
);
export const guid = shape(() =>
  transformed(
    matching(
      /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
      "must be an id (a GUID), not a name",
    ),
    // Tokens have it in lower case, and are compared by text.
    (id) => id.toLowerCase(),
  ),
);
/** A host as URLs have it, so that an entry for it is found. */
export const hostName = shape(() =>
  matching(/^[a-z0-9.-]{1,253}$/, "must have hosts in lower case, without port"),
);

/** A name that people read. Mastodon allows 60 characters, and a colon would end the name in an authenticator's URI. */
export const displayName = shape(() =>
  z
    .string()
    .check(
      z.trim(),
      z.minLength(1, "must not be blank"),
      z.maxLength(60, "must have at most 60 characters"),
      z.regex(
        /^[^\p{Cc}\u202a-\u202e\u2066-\u2069:]*$/u,
        "must have no colon and no control characters",
      ),
    ),
);
/** A `User-Agent` header: printable ASCII. */
export const userAgent = shape(() =>
  matching(
    /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/,
    "must be up to 200 printable ASCII characters",
  ),
);

/** Address of a mail server, and how to log in there. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const SMTPS_PORT = 465;
const SUBMISSION_PORT = 587;

const decodedPart = (part: string) => (part === "" ? undefined : decodeURIComponent(part));

function mailServerOf(text: string): MailServer {
  const { protocol, hostname, port, username, password } = new URL(text);
  const isSecure = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (isSecure ? SMTPS_PORT : SUBMISSION_PORT) : Number(port),
    isSecure,
    user: decodedPart(username),
    password: decodedPart(password),
  };
}

const MAIL_URL =
  "must be an address such as smtps://user:password@smtp.example.com:465, with special characters of user and password percent-encoded: %23 for #, %25 for %, %2F for /, %3A for :, %3F for ?, %40 for @";

export const mailUrl = shape(() => {
  const isMailUrl = (text: string) => {
    try {
      return mailServerOf(text).host !== "" && /^smtps?:\/\/[^/?#]+\/?$/.test(text);
    } catch {
      return false;
    }
  };
  return transformed(withRule(z.string(), isMailUrl, MAIL_URL), mailServerOf);
});
export const mailAddress = shape(() => {
  const isAddress = (text: string) => canonicalEmail(text) !== undefined;
  const written = withRule(z.string(), isAddress, "must be an email address");
  return transformed(written, (text) => canonicalEmail(text) ?? text);
});

export const webAddress = shape(() =>
  httpUrl().check(z.maxLength(2_000, "must have at most 2,000 characters")),
);

/** Parts that are separated by commas. */
export const list = () =>
  transformed(z.string(), (value) =>
    value
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  );

const addressRange = shape(() => z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]));
export const isAddressRange = (part: string) => addressRange().safeParse(part).success;

const PORT = /:\d{1,5}$/;
/** Reports whether the text is an IP address, with or without a port. An IPv6 address with a port is in brackets. */
export const isNameServer = (part: string) => {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(part)?.[1];
  return isIP(bracketed ?? part) === 6 || isIP(part.replace(PORT, "")) === 4;
};

export const setting = <T>(
  schema: Shape<SettingSchema<T>>,
  fallback: null,
  about: string,
): Setting<T | undefined> => ({ schema, about, fallback });
export const withDefault = <T>(
  schema: Shape<SettingSchema<T>>,
  fallback: string,
  about: string,
): Setting<T> => ({ schema, about, fallback });
