import * as z from "zod";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { PLATFORM_STATUSES } from "../platforms/platform.ts";

const EMAIL_LENGTH_MAX = 254;
const TOKENS_MAX = 10_000_000;

const email = shape(() => z.string().trim().max(EMAIL_LENGTH_MAX).check(z.email()));
const newPassword = shape(() => z.string().min(12).max(128));
const name = shape(() => z.string().trim().min(1).max(120));

export const SignUpBody = shape(() =>
  z.strictObject({ email: email(), password: newPassword(), platformName: name() }),
);
export type SignUp = ShapeOf<typeof SignUpBody>;

/** A password or code of any form may be tried: a wrong one is a wrong one. */
const triedPassword = shape(() => z.string().min(1).max(1_000));
const triedCode = shape(() => z.string().max(64));

export const LogInBody = shape(() =>
  z.strictObject({
    email: z.string().min(1).max(EMAIL_LENGTH_MAX),
    password: triedPassword(),
    totpCode: triedCode()
      .optional()
      .describe("Of the authenticator app, where TOTP is on; or a recovery code."),
  }),
);
export type LogIn = ShapeOf<typeof LogInBody>;

export const ChangePasswordBody = shape(() =>
  z.strictObject({
    currentPassword: triedPassword(),
    newPassword: newPassword(),
  }),
);
export type ChangePassword = ShapeOf<typeof ChangePasswordBody>;

export const ConfirmTotpBody = shape(() => z.strictObject({ code: triedCode() }));
export type ConfirmTotp = ShapeOf<typeof ConfirmTotpBody>;

/** `code`: one of the app, or a recovery code. */
export const RemoveTotpBody = shape(() =>
  z.strictObject({ password: triedPassword(), code: triedCode() }),
);
export type RemoveTotp = ShapeOf<typeof RemoveTotpBody>;

export const CreateUserBody = shape(() =>
  z.strictObject({ email: email(), password: newPassword() }),
);
export type CreateUser = ShapeOf<typeof CreateUserBody>;

export const ListUsersQuery = shape(() => z.strictObject(pageQuery()));
export type ListUsers = ShapeOf<typeof ListUsersQuery>;

export const CreatePlatformBody = shape(() =>
  z.strictObject({
    name: name(),
    ownerEmail: email(),
    ownerPassword: newPassword(),
    initialTokens: z.int().min(1).max(TOKENS_MAX).optional().describe("Credited at once."),
  }),
);
export type CreatePlatform = ShapeOf<typeof CreatePlatformBody>;

export const UpdatePlatformBody = shape(() =>
  z.strictObject({ status: z.enum(PLATFORM_STATUSES) }),
);
export type UpdatePlatform = ShapeOf<typeof UpdatePlatformBody>;

export const ListPlatformsQuery = shape(() => z.strictObject(pageQuery()));
export type ListPlatforms = ShapeOf<typeof ListPlatformsQuery>;
