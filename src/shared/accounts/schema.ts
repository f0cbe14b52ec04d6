import * as z from "zod";
import { pageQuery } from "../page.ts";
import { PLATFORM_STATUSES } from "./platform.ts";

const EMAIL_LENGTH_MAX = 254;
const TOKENS_MAX = 10_000_000;

const email = z.string().trim().max(EMAIL_LENGTH_MAX).check(z.email());
const newPassword = z.string().min(12).max(128);
const name = z.string().trim().min(1).max(120);

export const SignUpBody = z.strictObject({ email, password: newPassword, platformName: name });
export type SignUp = z.output<typeof SignUpBody>;

/** A password or code of any form may be tried: a wrong one is a wrong one. */
const triedPassword = z.string().min(1).max(1_000);
const triedCode = z.string().max(64);

export const LogInBody = z.strictObject({
  email: z.string().min(1).max(EMAIL_LENGTH_MAX),
  password: triedPassword,
  totpCode: triedCode
    .optional()
    .describe("Of the authenticator app, where TOTP is on; or a recovery code."),
});
export type LogIn = z.output<typeof LogInBody>;

export const ChangePasswordBody = z.strictObject({
  currentPassword: triedPassword,
  newPassword,
});
export type ChangePassword = z.output<typeof ChangePasswordBody>;

export const ConfirmTotpBody = z.strictObject({ code: triedCode });
export type ConfirmTotp = z.output<typeof ConfirmTotpBody>;

/** `code`: one of the app, or a recovery code. */
export const RemoveTotpBody = z.strictObject({ password: triedPassword, code: triedCode });
export type RemoveTotp = z.output<typeof RemoveTotpBody>;

export const CreateUserBody = z.strictObject({ email, password: newPassword });
export type CreateUser = z.output<typeof CreateUserBody>;

export const ListUsersQuery = z.strictObject(pageQuery);
export type ListUsers = z.output<typeof ListUsersQuery>;

export const CreatePlatformBody = z.strictObject({
  name,
  ownerEmail: email,
  ownerPassword: newPassword,
  initialTokens: z.int().min(1).max(TOKENS_MAX).optional().describe("Credited at once."),
});
export type CreatePlatform = z.output<typeof CreatePlatformBody>;

export const UpdatePlatformBody = z.strictObject({ status: z.enum(PLATFORM_STATUSES) });
export type UpdatePlatform = z.output<typeof UpdatePlatformBody>;

export const ListPlatformsQuery = z.strictObject(pageQuery);
export type ListPlatforms = z.output<typeof ListPlatformsQuery>;
