import * as z from "zod";
import { readinessChecks } from "../../tenants/tenants.ts";
import type { ErrorCode } from "../../runtime/errors.ts";
import { count, idOf, time } from "../../runtime/fields.ts";
import { networkName } from "../../connections/answer-schema.ts";
import { networkValidations } from "../../publishing/answer-schema.ts";
import { shape } from "../../runtime/shape.ts";

interface ErrorMeaning {
  readonly when: string;
  /** The contents of `details`, or `{}` when there is nothing to add. */
  readonly details: () => z.ZodType;
}

const nothing = shape(() => z.strictObject({}));
const plainMeaning = (when: string): ErrorMeaning => ({ when, details: nothing });

const issues = shape(() =>
  z.strictObject({
    issues: z.array(
      z.strictObject({
        path: z
          .string()
          .describe("Path of the field, separated by dots, or the parameter or header."),
        code: z.string(),
        message: z.string(),
      }),
    ),
  }),
);

/** The meaning of every error code, and the contents of its `details`. */
export const ERROR_REFERENCE = {
  invalid_json: plainMeaning("The body is not JSON in UTF-8."),
  validation_failed: {
    when: "Fields are missing, wrong, unknown or repeated. All of them are listed together.",
    details: issues,
  },
  idempotency_key_required: plainMeaning("The Idempotency-Key header is missing."),
  idempotency_key_invalid: plainMeaning(
    "The Idempotency-Key is not 8 to 128 visible ASCII characters without spaces and commas, or was sent twice.",
  ),
  profile_header_required: plainMeaning("The X-Profile-Id header is missing."),
  profile_header_mismatch: {
    when: "X-Profile-Id and the path name different profiles.",
    details: shape(() => z.strictObject({ header: z.string(), path: z.string() })),
  },
  application_header_required: plainMeaning("A session has to name the application for this."),
  invalid_cursor: plainMeaning(
    "This service did not issue the cursor, or issued it for another query.",
  ),
  unauthenticated: plainMeaning("The bearer credential is missing."),
  invalid_credentials: plainMeaning("The credential, password or code is wrong."),
  api_key_revoked: plainMeaning("The API key was revoked."),
  api_key_expired: plainMeaning("The API key has expired."),
  session_expired: plainMeaning("The session has ended, for any reason. Sign in again."),
  totp_required: plainMeaning("The password is right. Send the code of the authenticator app too."),
  invalid_grant_token: plainMeaning("The profile grant has expired or is for another profile."),
  insufficient_tokens: {
    when: "The wallet is short. Nothing was written and the Idempotency-Key stays unused.",
    details: shape(() => z.strictObject({ required: count(), available: count() })),
  },
  daily_budget_reached: {
    when: "The platform's own daily budget is used up. Nothing was written.",
    details: shape(() =>
      z.strictObject({ budget: count(), used: count(), required: count(), resetsAt: time() }),
    ),
  },
  session_required: plainMeaning("Only a dashboard session may do this."),
  app_admin_required: plainMeaning("A restricted key may not do this."),
  role_required: plainMeaning("The operator lacks the role that the route requires."),
  owner_required: plainMeaning("Only an owner of the platform may do this."),
  confirmation_required: {
    when: "The password was entered too long ago for this.",
    details: shape(() => z.strictObject({ maxAgeSeconds: count() })),
  },
  profile_not_allowed: plainMeaning(
    "The restricted key may not act for this profile: it is not on its allowlist, and no grant was sent.",
  ),
  application_mismatch: plainMeaning("The application isn't the caller's."),
  application_disabled: plainMeaning("The application is disabled."),
  profile_disabled: plainMeaning("The profile is disabled."),
  platform_suspended: plainMeaning("The platform is suspended."),
  platform_closed: plainMeaning(
    "The platform is closed. It is erased seven days after it was closed.",
  ),
  invalid_link: plainMeaning(
    "A one-time link is unknown, used, expired, replaced or of another kind.",
  ),
  email_unverified: plainMeaning("The user's e-mail is not verified, so the user may only read."),
  mail_disabled: plainMeaning("The relay sends no mail."),
  invitation_required: plainMeaning(
    "Users are invited here, and can't be created with a password.",
  ),
  signup_disabled: plainMeaning("Sign-up is closed."),
  not_found: plainMeaning(
    "It doesn't exist or belongs to somebody else. The answer is the same for both.",
  ),
  method_not_allowed: {
    when: "The path exists, but not with this method. `Allow` lists its methods.",
    details: shape(() => z.strictObject({ allow: z.array(z.string()) })),
  },
  conflict: {
    when: "This unique value is already in use, or the post has changed since `expectedUpdatedAt`.",
    details: shape(() => z.strictObject({ existingId: z.string().optional() })),
  },
  idempotency_conflict: plainMeaning("The Idempotency-Key was used with another request."),
  duplicate_content: {
    when: "The same text was recently published to every one of these accounts.",
    details: shape(() =>
      z.strictObject({
        postId: idOf("post").nullable().describe("Null when the post belongs to another profile."),
        platforms: z.array(networkName()),
        allowedAfter: time().nullable(),
      }),
    ),
  },
  invalid_state: {
    when: "Its present state doesn't allow this.",
    details: shape(() =>
      z.strictObject({
        status: z.string().optional(),
        remove: z.string().optional().describe("For a published post: the path that removes it."),
      }),
    ),
  },
  nothing_to_retry: plainMeaning("A requested leg has not failed."),
  nothing_to_remove: {
    when: "Nothing that was requested is published, or it is already removed.",
    details: shape(() =>
      z.strictObject({
        platforms: z.array(networkName()).describe("Where there is nothing to remove."),
      }),
    ),
  },
  removal_unsupported: {
    when: "The requested networks can't remove these posts for the relay.",
    details: shape(() =>
      z.strictObject({
        posts: z
          .array(z.strictObject({ platform: networkName(), url: z.string().nullable() }))
          .describe("Where to remove them by hand."),
      }),
    ),
  },
  limit_reached: plainMeaning("The maximum number is reached."),
  length_required: plainMeaning(
    "The body came in chunks, without Content-Length, and can't be read. Send the length.",
  ),
  payload_too_large: {
    when: "The body is too large.",
    details: shape(() => z.strictObject({ bytesMax: count() })),
  },
  unsupported_media_type: {
    when: "The body has a content type that isn't supported here, or is compressed.",
    details: shape(() =>
      z.strictObject({
        acceptEncoding: z
          .literal("identity")
          .optional()
          .describe(
            "Present when the body is compressed, together with the header Accept-Encoding.",
          ),
      }),
    ),
  },
  not_publishable: {
    when: "None of the networks can take the post. Nothing was written.",
    details: shape(() => z.strictObject({ platforms: networkValidations() })),
  },
  rate_limited: {
    when: "Too many requests. Wait for the number of seconds in `Retry-After`.",
    details: shape(() => z.strictObject({ retryAfter: count() })),
  },
  internal_error: plainMeaning("An error on our side. It was logged with the request's id."),
  service_unavailable: plainMeaning("Not possible right now. Repeating the same request is safe."),
  not_ready: {
    when: "A check of the service failed.",
    details: shape(() => z.strictObject({ checks: readinessChecks() })),
  },
} as const satisfies Record<ErrorCode, ErrorMeaning>;
