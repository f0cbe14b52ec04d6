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

/** A password of any length may be tried: a wrong one is a wrong one. */
export const LogInBody = z.strictObject({
  email: z.string().min(1).max(EMAIL_LENGTH_MAX),
  password: z.string().min(1).max(1_000),
  totpCode: z.string().max(64).optional(),
});
export type LogIn = z.output<typeof LogInBody>;

export const CreatePlatformBody = z.strictObject({
  name,
  ownerEmail: email,
  ownerPassword: newPassword,
  initialTokens: z.int().min(1).max(TOKENS_MAX).optional(),
});
export type CreatePlatform = z.output<typeof CreatePlatformBody>;

export const UpdatePlatformBody = z.strictObject({ status: z.enum(PLATFORM_STATUSES) });
export type UpdatePlatform = z.output<typeof UpdatePlatformBody>;

export const ListPlatformsQuery = z.strictObject(pageQuery);
export type ListPlatforms = z.output<typeof ListPlatformsQuery>;
