import * as z from "zod";
import { shape } from "../runtime/shape.ts";
import type { LegDraft } from "./contract/draft.ts";
import { isId } from "../runtime/ids.ts";
import { misreadAddress } from "../runtime/web-address.ts";

const TEXT_UTF16_MAX = 63_206;
const MEDIA_MAX = 20;
const URL_CHARACTERS_MAX = 2_048;
/** Signed addresses of files carry tokens of several thousand characters. */
const FILE_URL_CHARACTERS_MAX = 8_192;
/** More than any network accepts. A text longer than the network's own limit is cut. */
export const ALT_TEXT_CHARACTERS_MAX = 10_000;
export const ALT_TEXTS_FIT =
  'must have as many items as "mediaUrls", null where a file has no text';

/** Makes the schema of an address with one of these protocols, which is read exactly as written. */
const address = (
  protocols: readonly string[],
  error: string,
  charactersMax: number = URL_CHARACTERS_MAX,
) =>
  z
    .string()
    .trim()
    .max(charactersMax)
    .superRefine((text, context) => {
      const isOne = URL.canParse(text) && protocols.includes(new URL(text).protocol);
      const message = isOne ? misreadAddress(text) : error;
      if (message !== undefined)
        context.addIssue({ code: "invalid_format", format: "url", input: text, message });
    })
    .meta({ format: "uri" });

/** An address to which readers are led. */
export const linkUrl = shape(() => address(["https:", "http:"], "must be an http or https URL"));

const withoutCredentials = (error: string, charactersMax: number) =>
  address(["https:"], error, charactersMax).refine(hasNoCredentials, {
    error: "must not carry a user name or a password: the file has to be public",
    abort: true,
  });

/** A URL that readers' browsers fetch: https, without anything secret in it. */
export const publicUrl = shape(() =>
  withoutCredentials("must be an https URL", URL_CHARACTERS_MAX),
);

/** What is said of an address at which there can be no file for the relay. */
export const NO_FILE_URL =
  "must be a public https URL, or the `url` of a file that was uploaded with POST /v1/media";

const filesElsewhere = shape(() => withoutCredentials(NO_FILE_URL, Number.MAX_SAFE_INTEGER));

/** The address of a file that was uploaded here, which is http in a local run. Verbs check that it is of this relay. */
const UPLOADED = /^http:\/\/[^/?#@]+\/(?:[^?#]*\/)?v1\/media\//;

/** The URL of a file that the relay fetches, or of one that was uploaded here. It may be longer than others. */
export const fileUrl = shape(() =>
  z
    .string()
    .trim()
    .max(FILE_URL_CHARACTERS_MAX)
    .superRefine((text, context) => {
      if (UPLOADED.test(text)) return;
      if (isId("file", text)) {
        const message = "must be the `url` of the file, not its id: GET /v1/media/{mediaId} has it";
        context.addIssue({ code: "invalid_format", format: "url", input: text, message });
        return;
      }
      for (const { message } of filesElsewhere().safeParse(text).error?.issues ?? [])
        context.addIssue({ code: "invalid_format", format: "url", input: text, message });
    })
    .meta({ format: "uri" }),
);

export const languageTag = shape(() =>
  z
    .string()
    // Abort, because the runtime takes quadratic time to check a very long tag.
    .max(35, { abort: true })
    .refine(isLanguageTag, { error: "must be a language tag such as en or pt-BR" }),
);

/** Makes the schema of a comment to write below the published post. */
export const firstComment = (charactersMax: number) =>
  z.string().trim().min(1).max(charactersMax).optional();

const sharedFields = shape(() => ({
  text: z.string().max(TEXT_UTF16_MAX).describe("Replaces the post's text."),
  mediaUrls: z.array(fileUrl()).max(MEDIA_MAX).describe("Replaces the post's media."),
  altTexts: z
    .array(z.string().max(ALT_TEXT_CHARACTERS_MAX).nullable())
    .max(MEDIA_MAX)
    .describe("One entry per media file."),
}));

/**
 * Makes the schema of `platformOptions.<network>`: the fields that every network accepts and the network's own. Any
 * other field is refused.
 */
function networkOptions<Fields extends z.ZodRawShape>(fields: Fields) {
  const shared = z.strictObject(sharedFields()).partial();
  return shared.extend(fields).refine(altTextsFit, {
    error: ALT_TEXTS_FIT,
    path: ["altTexts"],
  });
}

/**
 * Makes the schema of `platformOptions.<network>` and the reader of a draft's own options, which were validated when
 * the post was accepted.
 */
export function optionsOf<Fields extends z.ZodRawShape>(fields: () => Fields) {
  const own = shape(() => z.object(fields()));
  return {
    options: shape(() => networkOptions(fields())),
    read: ({ options }: Pick<LegDraft, "options">): z.output<z.ZodObject<Fields>> =>
      own().parse(options),
  };
}

function altTextsFit(options: {
  readonly mediaUrls?: readonly string[] | undefined;
  readonly altTexts?: readonly (string | null)[] | undefined;
}): boolean {
  const { mediaUrls, altTexts } = options;
  return mediaUrls === undefined || altTexts === undefined || mediaUrls.length === altTexts.length;
}

function hasNoCredentials(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const url = new URL(text);
  return url.username === "" && url.password === "";
}

function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
