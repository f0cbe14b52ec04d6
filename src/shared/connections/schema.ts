import * as z from "zod";
import { NETWORK_NAMES } from "../networks/names.ts";
import { linkUrl, publicUrl } from "../networks/options.ts";
import { LOCALES } from "../runtime/locale.ts";
import { pageQuery } from "../runtime/page.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";

const EXPIRES_IN_DEFAULT = 3_600;
/** Two days, in seconds. */
export const CONNECT_SESSION_SECONDS_MAX = 172_800;

/** Makes the schema of a short text without control characters and direction marks, which could disguise a name. */
const label = (lengthMax: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(lengthMax)
    .regex(
      /^[^\p{Cc}\u202a-\u202e\u2066-\u2069]*$/u,
      "must not contain control characters or marks of direction",
    );

const linkedUrl = (what: string) =>
  publicUrl().optional().describe(`Your ${what}; the page links to it.`);

export const brandingShape = shape(() =>
  z.strictObject({
    name: label(80).optional(),
    logoUrl: publicUrl().optional(),
    faviconUrl: publicUrl().optional().describe("The icon of the browser tab."),
    accentColor: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, "must be a color of six digits, such as #1a73e8")
      .optional(),
    backLabel: label(40).optional(),
    locale: z
      .enum(LOCALES)
      .optional()
      .describe("The page's language. The default is the browser's."),
    theme: z
      .enum(["light", "dark", "auto"])
      .optional()
      .describe("`auto`, the default, follows the system's setting."),
    privacyUrl: linkedUrl("privacy policy"),
    termsUrl: linkedUrl("terms"),
    supportUrl: linkedUrl("support page"),
  }),
);
export type Branding = ShapeOf<typeof brandingShape>;

export const CreateConnectSessionBody = shape(() =>
  z.strictObject({
    platforms: z
      .array(z.enum(NETWORK_NAMES))
      .min(1)
      .max(NETWORK_NAMES.length)
      .refine(
        (names) => new Set(names).size === names.length,
        "must not repeat a network: name each once",
      )
      .default([...NETWORK_NAMES])
      .meta({ description: "The networks that the page offers.", uniqueItems: true }),
    returnUrl: linkUrl()
      .nullish()
      .describe(
        "The https URL, on a public host, to which the page returns. In a local run it may be on `http://localhost`. Without it, the page says that it can be closed.",
      ),
    state: z.string().max(512).nullish().describe("Returned in the query of `returnUrl`."),
    branding: brandingShape().nullish().describe("Your name, logo, colors and links on the page."),
    allowDisconnect: z
      .boolean()
      .default(false)
      .describe("Whether the end user may also disconnect the linked accounts of `platforms`."),
    expiresIn: z
      .int()
      .min(300)
      .max(CONNECT_SESSION_SECONDS_MAX)
      .default(EXPIRES_IN_DEFAULT)
      .describe("Seconds."),
  }),
);
export type CreateConnectSession = ShapeOf<typeof CreateConnectSessionBody>;

export const ListSessionsQuery = shape(() => z.strictObject(pageQuery()));
export type ListSessions = ShapeOf<typeof ListSessionsQuery>;

/** Fields that a browser sends to the hosted page. The verbs check them and answer anything wrong with a page. */
export const BrowserFields = shape(() => z.record(z.string(), z.string()));
