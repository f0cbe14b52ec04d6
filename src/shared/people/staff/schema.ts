import * as z from "zod";
import { composed } from "../../networks/contract/text.ts";
import { USER_ROLES } from "../../callers/caller.ts";
import type { ConfirmedSession } from "../../callers/tokens.ts";
import { count, idOf, time, withoutSpace } from "../../runtime/fields.ts";
import { exampleId } from "../../runtime/ids.ts";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import {
  platform,
  platformExample,
  platformSummary,
  platformSummaryExample,
} from "../../tenants/platform-schema.ts";
import { email, locale } from "../links/schema.ts";
import { isCodeLike, type RecoveryCodes, type TotpSecret } from "./second-factor.ts";
import type { FoundUser, SignedIn, UserView } from "./user.ts";

const EMAIL_LENGTH_MAX = 254;
const TOKENS_MAX = 10_000_000;
const DEVICE_TOKEN_LENGTH_MAX = 2_000;

const PASSWORD_LENGTH = { min: 12, max: 128 } as const;
export const newPassword = shape(() =>
  z
    .string()
    .overwrite(composed)
    .min(PASSWORD_LENGTH.min)
    .max(PASSWORD_LENGTH.max)
    .describe(
      "Must not be a common password, or based on the email address, the platform's name or the service's name. Otherwise the issue is `password_too_weak`, which is checked only if everything else is valid.",
    ),
);
export const role = shape(() =>
  z
    .enum(USER_ROLES)
    .describe(
      "An `owner` can do everything. A `member` can't change other users, API keys, the budget or the platform, and can't disable applications or erase profiles.",
    ),
);
const name = shape(() => z.string().trim().min(1).max(120));

export const chosenLocale = shape(() =>
  locale()
    .optional()
    .describe("The language of emails to this user. The default follows `Accept-Language`."),
);

export const SignUpBody = shape(() =>
  z.strictObject({
    email: email(),
    password: newPassword(),
    platformName: name(),
    locale: chosenLocale(),
  }),
);
export type SignUp = ShapeOf<typeof SignUpBody>;

/** A password to check, in any form: an impossible one is refused like any wrong one. */
const triedPassword = shape(() => z.string().min(1).max(1_000));

const CODE_WORDS = `six digits as text, such as "012345" with its leading zero, or a recovery code`;

/**
 * Makes the schema of a code to check. What can't be a code of any user is a mistake of the form and counts as no
 * guess: clients that read a code as a number drop its leading zero. Where a code may be absent it may be blank, as forms
 * send a field that was left empty.
 */
const codeText = (mayBeBlank: boolean) =>
  z
    .string({
      error: ({ input }) =>
        `${input === undefined ? "is missing and must be" : "must be"} ${CODE_WORDS}`,
    })
    .max(64, { abort: true })
    .refine(
      (text) => isCodeLike(text) || (mayBeBlank && text.trim() === ""),
      `must be ${CODE_WORDS}`,
    )
    .describe(
      "Six digits from the authenticator app, or a recovery code. Spaces and dashes don't matter.",
    );
const triedCode = shape(() => codeText(false));
const optionalCode = shape(() =>
  codeText(true)
    .optional()
    .describe(
      "Required if TOTP is on: six digits from the authenticator app, or a recovery code. Spaces and dashes don't matter.",
    ),
);

/** One that is not accepted is ignored. */
const triedDevice = shape(() =>
  z
    .string()
    .max(DEVICE_TOKEN_LENGTH_MAX)
    .optional()
    .describe(
      "From an earlier login on this device. With it, attempts by others don't delay this request.",
    ),
);

export const LogInBody = shape(() =>
  z.strictObject({
    email: z.string().min(1).max(EMAIL_LENGTH_MAX),
    password: triedPassword(),
    totpCode: optionalCode(),
    deviceToken: triedDevice(),
  }),
);
export type LogIn = ShapeOf<typeof LogInBody>;

export const LogOutBody = shape(() =>
  z.strictObject({
    everywhere: z
      .boolean()
      .default(true)
      .describe("Whether every session of the user ends, or only this one."),
  }),
);
export type LogOut = ShapeOf<typeof LogOutBody>;

export const ConfirmSessionBody = shape(() =>
  z.strictObject({
    password: triedPassword(),
    totpCode: optionalCode(),
    deviceToken: triedDevice(),
  }),
);
export type ConfirmSession = ShapeOf<typeof ConfirmSessionBody>;

export const ChangePasswordBody = shape(() =>
  z.strictObject({
    currentPassword: triedPassword(),
    newPassword: newPassword(),
  }),
);
export type ChangePassword = ShapeOf<typeof ChangePasswordBody>;

export const ConfirmTotpBody = shape(() => z.strictObject({ code: triedCode() }));
export type ConfirmTotp = ShapeOf<typeof ConfirmTotpBody>;

export const RemoveTotpBody = shape(() =>
  z.strictObject({ password: triedPassword(), code: triedCode() }),
);
export type RemoveTotp = ShapeOf<typeof RemoveTotpBody>;

export const ChangeEmailBody = shape(() =>
  z.strictObject({
    newEmail: email(),
    password: triedPassword().describe("The current password."),
    totpCode: optionalCode(),
  }),
);
export type ChangeEmail = ShapeOf<typeof ChangeEmailBody>;

export const CreateUserBody = shape(() =>
  z.strictObject({
    email: email(),
    password: newPassword(),
    locale: chosenLocale(),
    role: role().default("member"),
  }),
);
export type CreateUser = ShapeOf<typeof CreateUserBody>;

export const UpdateUserBody = shape(() =>
  z
    .strictObject({
      role: role().optional(),
      locale: locale()
        .optional()
        .describe("The language of emails to this user. Users can change only their own."),
    })
    .refine(({ role, locale }) => role !== undefined || locale !== undefined, {
      error: 'must have "role" or "locale"',
    }),
);
export type UpdateUser = ShapeOf<typeof UpdateUserBody>;

export const ListUsersQuery = shape(() => z.strictObject(pageQuery()));
export type ListUsers = ShapeOf<typeof ListUsersQuery>;

export const FindUserQuery = shape(() =>
  z.strictObject({
    email: withoutSpace(z.string().trim().min(1).max(EMAIL_LENGTH_MAX))
      .describe("The complete address, in upper or lower case.")
      .meta({ examples: ["owner@example.com"] }),
  }),
);
export type FindUser = ShapeOf<typeof FindUserQuery>;

export const CreatePlatformBody = shape(() =>
  z.strictObject({
    name: name(),
    ownerEmail: email(),
    ownerPassword: newPassword(),
    locale: locale()
      .optional()
      .describe("The language of emails to the owner. The default is `en`."),
    initialTokens: z.int().min(1).max(TOKENS_MAX).optional().describe("Credited immediately."),
  }),
);
export type CreatePlatform = ShapeOf<typeof CreatePlatformBody>;

const userFields = shape(() => ({
  id: idOf("user"),
  email: z.string(),
  role: role(),
  emailVerified: z
    .boolean()
    .describe("If the relay sends email, a user who is not verified can only read."),
  locale: locale().describe("The language of emails to this user."),
  totpEnabled: z.boolean(),
  createdAt: time(),
  lastLoginAt: time().nullable(),
}));

export const user = shape(
  () =>
    z.strictObject(userFields()).meta({
      id: "User",
      description: "A member of a platform's staff.",
    }) satisfies z.ZodType<UserView>,
);

export const foundUser = shape(
  () =>
    z.strictObject({ ...userFields(), platformId: idOf("platform") }).meta({
      id: "UserFound",
      description: "A user, and the platform that they belong to.",
    }) satisfies z.ZodType<FoundUser>,
);

export const signedIn = shape(
  () =>
    z
      .strictObject({
        token: z.string().describe("Sent as `Authorization: Bearer …` until it expires."),
        expiresIn: count().describe("Seconds."),
        expiresAt: time(),
        user: user(),
        platform: platform(),
        deviceToken: z
          .string()
          .describe("Keep it on the device for 180 days, and send it with the next login."),
      })
      .meta({ id: "Session", description: "A dashboard session." }) satisfies z.ZodType<SignedIn>,
);

export const confirmedSession = shape(
  () =>
    z
      .strictObject({
        token: z
          .string()
          .describe("A token of the same session. The previous one stays valid too."),
        expiresIn: count().describe(
          "Seconds until the session ends, which the confirmation doesn't change.",
        ),
        expiresAt: time(),
        confirmedUntil: time(),
      })
      .meta({
        id: "ConfirmedSession",
        description: "A session whose user has just entered the password.",
      }) satisfies z.ZodType<ConfirmedSession>,
);

export const totpSecret = shape(
  () =>
    z
      .strictObject({
        secret: z.string().describe("Base32, for typing it into an authenticator app."),
        otpauthUrl: z.string().describe("The same secret in a URI, for a QR code."),
      })
      .meta({ id: "TotpSecret" }) satisfies z.ZodType<TotpSecret>,
);

export const recoveryCodes = shape(
  () =>
    z
      .strictObject({ recoveryCodes: z.array(z.string()).readonly() })
      .meta({ id: "RecoveryCodes" }) satisfies z.ZodType<RecoveryCodes>,
);

export const createdPlatform = shape(() =>
  z.strictObject({ platform: platformSummary(), user: user() }).meta({ id: "PlatformCreated" }),
);

const AT = "2026-03-04T10:00:00.000Z";

export const userExample = (): ShapeOf<typeof user> => ({
  id: exampleId("user"),
  email: "owner@example.com",
  role: "owner",
  emailVerified: true,
  locale: "en",
  totpEnabled: false,
  createdAt: AT,
  lastLoginAt: AT,
});

export const foundUserExample = (): ShapeOf<typeof foundUser> => ({
  ...userExample(),
  platformId: exampleId("platform"),
});

export const signInExample = (): ShapeOf<typeof signedIn> => ({
  platform: platformExample,
  user: userExample(),
  token: "eyJhbGciOiJIUzI1NiIsInR5cCI6InNlc3Npb24rand0In0.eyJzdWIiOiJ1c3IifQ.signature",
  expiresIn: 43_200,
  expiresAt: "2026-03-04T22:00:00.000Z",
  deviceToken: "eyJhbGciOiJIUzI1NiIsInR5cCI6ImRldmljZStqd3QifQ.eyJzdWIiOiJ1c3IifQ.signature",
});

export const signUpExample = (): SignUp => ({
  email: "owner@example.com",
  password: "a password of some length",
  platformName: "Example Media",
});

export const logInExample = (): LogIn => ({
  email: "owner@example.com",
  password: "a password of some length",
  totpCode: "492039",
});

export const confirmedSessionExample = (): ShapeOf<typeof confirmedSession> => ({
  token: signInExample().token,
  expiresIn: 41_400,
  expiresAt: "2026-03-04T22:00:00.000Z",
  confirmedUntil: "2026-03-04T10:40:00.000Z",
});

export const changePasswordExample = (): ChangePassword => ({
  currentPassword: "a password of some length",
  newPassword: "another and longer password",
});

export const createUserExample = (): z.input<ReturnType<typeof CreateUserBody>> => ({
  email: "colleague@example.com",
  password: "a password of some length",
});

export const totpSecretExample = (): ShapeOf<typeof totpSecret> => ({
  secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
  otpauthUrl:
    "otpauth://totp/Publishing%20Relay:owner%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Publishing%20Relay&algorithm=SHA1&digits=6&period=30",
});

export const recoveryCodesExample = (): ShapeOf<typeof recoveryCodes> => ({
  recoveryCodes: [
    "7K3QM-9XW2P",
    "0FZ8T-C4HJN",
    "V6D1R-QSB5E",
    "XM29K-W7GAY",
    "3PJNT-80ZFC",
    "H5VQE-RD61B",
    "AYG4W-K27XM",
    "CT9P3-NJF0Z",
    "B8ES5-H1VQR",
    "2MWXK-7GA6D",
  ],
});

export const removeTotpExample = (): RemoveTotp => ({
  password: "a password of some length",
  code: "492039",
});

export const createdPlatformExample = (): ShapeOf<typeof createdPlatform> => ({
  platform: { ...platformSummaryExample(), tokenBalance: 1_000, tokenReserved: 0 },
  user: { ...userExample(), lastLoginAt: null },
});
