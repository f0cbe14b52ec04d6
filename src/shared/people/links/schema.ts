import * as z from "zod";
import { composed } from "../../networks/contract/text.ts";
import { time } from "../../runtime/fields.ts";
import { canonicalEmail } from "../../runtime/email.ts";
import { LOCALES } from "../../runtime/locale.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";

export const tokenExample = "mX3k0pWc9vQy7sLr2NdTfJ4hB8uGzE1aKoViYtC6RlM";

const EMAIL_LENGTH_MAX = 254;
const TOKEN_LENGTH_MAX = 200;
const DEVICE_LENGTH_MAX = 2_000;
const TYPED_LENGTH_MAX = 1_000;

/** The kinds of links. A token is valid for one kind only. */
export const LINK_KINDS = ["verify", "reset", "operator_reset", "email", "invitation"] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/** The pages of links. The page for a reset also accepts the links of operators. */
export const LINK_PAGES = ["verify", "reset", "email", "invitation"] as const;
export type LinkPage = (typeof LINK_PAGES)[number];

export const KINDS_OF_PAGE: Readonly<Record<LinkPage, readonly LinkKind[]>> = {
  verify: ["verify"],
  reset: ["reset", "operator_reset"],
  email: ["email"],
  invitation: ["invitation"],
};

/** A use of a link by the form of its page, so that the same browser's repeat is answered as done. */
export interface UsedLink {
  readonly tokenHash: string;
  readonly browserHash: string;
  readonly at: string;
}

/** The language of a user's mails. */
export const locale = shape(() => z.enum(LOCALES));

/** An email address. The parsed value is its stored form. */
export const email = shape(() =>
  z
    .string()
    .trim()
    .max(EMAIL_LENGTH_MAX)
    .check(
      z.overwrite((text) => canonicalEmail(text) ?? ""),
      z.email({ pattern: /^[^@]+@[^@]+$/ }),
    )
    .describe("An international domain may be written either way. It is stored as `xn--…`."),
);

export const token = shape(() =>
  z.string().max(TOKEN_LENGTH_MAX).describe("The part after `token=` in the link that was sent."),
);

export const VerifyBody = shape(() =>
  z.strictObject({
    token: token(),
    password: z
      .string()
      .min(1)
      .max(TYPED_LENGTH_MAX)
      .optional()
      .describe(
        "The password of the user that the link is for. Not needed with a session of that user.",
      ),
  }),
);
export type Verify = ShapeOf<typeof VerifyBody>;

export const AskForResetBody = shape(() =>
  z.strictObject({
    email: z.string().min(1).max(EMAIL_LENGTH_MAX),
    deviceToken: z
      .string()
      .max(DEVICE_LENGTH_MAX)
      .optional()
      .describe(
        "The token of an earlier login from this device, which has a separate limit of three emails an hour.",
      ),
  }),
);
export type AskForReset = ShapeOf<typeof AskForResetBody>;

export const ResetLinkBody = shape(() =>
  z.strictObject({
    removeTotp: z
      .boolean()
      .default(false)
      .describe("Whether using the link also turns off two-factor authentication."),
  }),
);
export type ResetLink = ShapeOf<typeof ResetLinkBody>;

export const resetLink = shape(() =>
  z
    .strictObject({ url: z.string(), expiresAt: time() })
    .meta({ id: "ResetLink", description: "A link that sets a new password, once." }),
);

export const resetLinkExample = (): ShapeOf<typeof resetLink> => ({
  url: `https://relay.example.com/api/v1/auth/ui/reset?token=${tokenExample}`,
  expiresAt: "2026-03-04T11:00:00.000Z",
});

export const ConfirmResetBody = shape(() =>
  z.strictObject({ token: token(), newPassword: z.string().overwrite(composed).min(12).max(128) }),
);
export type ConfirmReset = ShapeOf<typeof ConfirmResetBody>;

export const knownDevice = shape(() =>
  z.strictObject({
    deviceToken: z
      .string()
      .describe("Keep it on the device for 180 days, and send it with the next login."),
  }),
);

/** Fields of a page's address and form. */
export const LinkFields = shape(() => z.record(z.string(), z.string()));

export const offFields = shape(() => z.strictObject({ token: token() }));

export const linkFields = shape(() =>
  z.strictObject({
    token: token(),
    username: z.string().optional().describe("For password managers. Not read."),
    password: z.string().optional(),
  }),
);
