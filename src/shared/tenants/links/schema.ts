import * as z from "zod";
import { LOCALES } from "../../runtime/locale.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";

const EMAIL_LENGTH_MAX = 254;
const TOKEN_LENGTH_MAX = 200;
const DEVICE_LENGTH_MAX = 2_000;
const TYPED_LENGTH_MAX = 1_000;

/** What links are for. A token of one kind is none of another. */
export const LINK_KINDS = ["verify", "reset"] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/** The language of a user's mails. */
export const locale = shape(() => z.enum(LOCALES));

const token = shape(() =>
  z.string().max(TOKEN_LENGTH_MAX).describe("Of the link that was sent: what follows `token=`."),
);

export const VerifyBody = shape(() =>
  z.strictObject({
    token: token(),
    password: z
      .string()
      .min(1)
      .max(TYPED_LENGTH_MAX)
      .optional()
      .describe("Of the user that the link is for. Not needed with a session of that user."),
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
      .describe("Of an earlier log-in from this device. It has three mails an hour of its own."),
  }),
);
export type AskForReset = ShapeOf<typeof AskForResetBody>;

export const ConfirmResetBody = shape(() =>
  z.strictObject({ token: token(), newPassword: z.string().min(12).max(128) }),
);
export type ConfirmReset = ShapeOf<typeof ConfirmResetBody>;

export const knownDevice = shape(() =>
  z.strictObject({
    deviceToken: z
      .string()
      .describe("Keep it on the device for 180 days, and send it with the next log-in."),
  }),
);

/** What a page's address and form have. */
export const LinkFields = shape(() => z.record(z.string(), z.string()));

export const linkFields = shape(() =>
  z.strictObject({ token: token(), password: z.string().optional() }),
);

export const tokenExample = "mX3k0pWc9vQy7sLr2NdTfJ4hB8uGzE1aKoViYtC6RlM";
