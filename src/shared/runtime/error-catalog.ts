/** What is said about an error of the envelope. Only its `details` have a schema elsewhere. */
interface CatalogEntry {
  /** The HTTP status. */
  readonly status: number;
  readonly when: string;
  /** What a caller does about it. */
  readonly advice: string;
  /** Whether the unchanged request may succeed later. */
  readonly again: string;
}

const NO = "no";
const CREDENTIAL = "with another credential";

/**
 * Every error that the envelope can have. The type `ErrorCode`, the OpenAPI document, the reference at `/docs` and the
 * table of `docs/errors.md` come from here. `tools/reference/error-details.ts` has the contents of `details`.
 */
export const ERROR_CATALOG = {
  invalid_json: {
    status: 400,
    when: "The body is not JSON in UTF-8.",
    advice: "Send JSON in UTF-8.",
    again: NO,
  },
  validation_failed: {
    status: 400,
    when: "Fields are missing, wrong, unknown or repeated. All of them are listed together.",
    advice: "Fix the fields that `details.issues` names.",
    again: NO,
  },
  idempotency_key_required: {
    status: 400,
    when: "The Idempotency-Key header is missing.",
    advice: "Make a key for the post, store it with the post, and send it.",
    again: "with the header",
  },
  idempotency_key_invalid: {
    status: 400,
    when: "The Idempotency-Key is not 8 to 128 visible ASCII characters without spaces and commas, or was sent twice.",
    advice: "A UUID is a good key. Send it in one header line.",
    again: "with another key",
  },
  profile_header_required: {
    status: 400,
    when: "The X-Profile-Id header is missing.",
    advice: "Send the profile's id.",
    again: "with the header",
  },
  profile_header_mismatch: {
    status: 400,
    when: "X-Profile-Id and the path name different profiles.",
    advice: "Leave out the header if the path names the profile, or send the same id.",
    again: "with the same id in both",
  },
  application_header_required: {
    status: 400,
    when: "A session has to name the application for this.",
    advice: "Send `X-Application-Id`, because a session belongs to the whole platform.",
    again: "with the header",
  },
  invalid_cursor: {
    status: 400,
    when: "This service did not issue the cursor, or issued it for another query.",
    advice: "Start with the first page, and keep the filters for all pages.",
    again: NO,
  },
  invalid_link: {
    status: 400,
    when: "A one-time link is unknown, used, expired, replaced or of another kind.",
    advice: "Ask for a new link.",
    again: NO,
  },
  unauthenticated: {
    status: 401,
    when: "The bearer credential is missing.",
    advice: "Send `Authorization: Bearer …`, once, and not in the URL.",
    again: "with the header",
  },
  invalid_credentials: {
    status: 401,
    when: "The credential, password or code is wrong.",
    advice: "Check that it is complete and belongs to this deployment.",
    again: CREDENTIAL,
  },
  api_key_revoked: {
    status: 401,
    when: "The API key was revoked.",
    advice: "Use another key; a revoked key never works again.",
    again: CREDENTIAL,
  },
  api_key_expired: {
    status: 401,
    when: "The API key has expired.",
    advice: "Create a new key before the old one expires.",
    again: CREDENTIAL,
  },
  session_expired: {
    status: 401,
    when: "The session has ended, for any reason.",
    advice: "Log in again.",
    again: "after a login",
  },
  totp_required: {
    status: 401,
    when: "The password is correct, but a code from the authenticator app is required.",
    advice: "Send `totpCode` with the password.",
    again: "with the code",
  },
  invalid_grant_token: {
    status: 401,
    when: "The profile grant has expired or is for another profile.",
    advice: "Create a new grant for this profile.",
    again: "with a new grant",
  },
  insufficient_tokens: {
    status: 402,
    when: "The balance is too low. Nothing was created, and the Idempotency-Key can be used again.",
    advice:
      "Ask an operator of the service to add tokens. `GET /v1/billing/balance` shows the balance.",
    again: "yes, with the same Idempotency-Key",
  },
  daily_budget_reached: {
    status: 402,
    when: "The platform's own daily budget is used up. Nothing was created.",
    advice: "Raise the budget with `PATCH /v1/billing/limits`, or wait until `details.resetsAt`.",
    again: "yes, with the same Idempotency-Key",
  },
  session_required: {
    status: 403,
    when: "Only a dashboard session may do this.",
    advice: "Log in; a key can't do this.",
    again: CREDENTIAL,
  },
  app_admin_required: {
    status: 403,
    when: "A restricted key may not do this.",
    advice: "Use an `app_admin` key or a session.",
    again: CREDENTIAL,
  },
  role_required: {
    status: 403,
    when: "The operator doesn't have the role that the route requires.",
    advice: "Have the role assigned by your identity provider.",
    again: CREDENTIAL,
  },
  owner_required: {
    status: 403,
    when: "Only an owner of the platform may do this.",
    advice: "Ask an owner of the platform.",
    again: CREDENTIAL,
  },
  confirmation_required: {
    status: 403,
    when: "The password was entered too long ago for this.",
    advice: "Enter the password again with `POST /v1/auth/confirm`.",
    again: "with the token in its response",
  },
  profile_not_allowed: {
    status: 403,
    when: "The restricted key may not act for this profile: it is not on its allowlist, and no grant was sent.",
    advice: "Send a profile grant, or put the profile on a new key's allowlist.",
    again: "with a grant",
  },
  application_mismatch: {
    status: 403,
    when: "The application isn't the caller's.",
    advice: "Leave out the application. A key always uses its own.",
    again: NO,
  },
  application_disabled: {
    status: 403,
    when: "The application is disabled.",
    advice: "A session can enable it again.",
    again: "once it is enabled",
  },
  profile_disabled: {
    status: 403,
    when: "The profile is disabled.",
    advice: '`PATCH /v1/profiles/{profileId}` with `{"status": "active"}`.',
    again: "once it is enabled",
  },
  platform_suspended: {
    status: 403,
    when: "The platform is suspended.",
    advice: "Ask the operators.",
    again: "once it is active",
  },
  platform_closed: {
    status: 403,
    when: "The platform is closed. It is erased seven days after it was closed.",
    advice: "Ask the operators to reopen it within seven days.",
    again: "once it is active",
  },
  email_unverified: {
    status: 403,
    when: "The user's email address is not verified, so the user can only read.",
    advice:
      "Follow the link in the verification email. `POST /v1/auth/verify/resend` sends it again.",
    again: "after that",
  },
  mail_disabled: {
    status: 403,
    when: "The relay sends no mail.",
    advice: "Ask the operators for a link.",
    again: NO,
  },
  invitation_required: {
    status: 403,
    when: "On this deployment, users are invited and can't be created with a password.",
    advice: "Invite them with `POST /v1/invitations`.",
    again: NO,
  },
  signup_disabled: {
    status: 403,
    when: "Sign-up is closed.",
    advice: "Ask the operators for an account.",
    again: NO,
  },
  not_found: {
    status: 404,
    when: "The resource doesn't exist, or you don't have access to it.",
    advice: "Check the id and the key.",
    again: NO,
  },
  method_not_allowed: {
    status: 405,
    when: "The path exists, but not with this method. `Allow` lists its methods.",
    advice: "Use a method in `details.allow`.",
    again: NO,
  },
  length_required: {
    status: 411,
    when: "The body was sent in chunks, without Content-Length, and can't be read.",
    advice:
      "Send `Content-Length` and no `Transfer-Encoding`. .NET's `PostAsJsonAsync` doesn't: create a `JsonContent`, await `LoadIntoBufferAsync()`, and post that.",
    again: NO,
  },
  payload_too_large: {
    status: 413,
    when: "The body is too large.",
    advice: "Send less. Upload files with `POST /v1/media`, or send their URLs.",
    again: NO,
  },
  unsupported_media_type: {
    status: 415,
    when: "The body has a content type that isn't supported here, or is compressed.",
    advice: "Send `Content-Type: application/json`, and no `Content-Encoding`.",
    again: NO,
  },
  conflict: {
    status: 409,
    when: "This unique value is already in use, or the post has changed since `expectedUpdatedAt`.",
    advice:
      "Use the existing resource, whose id is `details.existingId` if it is yours. If a post has changed, read it again.",
    again: NO,
  },
  idempotency_conflict: {
    status: 409,
    when: "The Idempotency-Key was used with another request.",
    advice: "A new post needs a new key. To repeat the request, send the same body.",
    again: "with a new key",
  },
  duplicate_content: {
    status: 409,
    when: "The same text was recently published to every one of these accounts.",
    advice: "Change the text, or wait until `details.allowedAfter`.",
    again: "after that time",
  },
  invalid_state: {
    status: 409,
    when: "The resource's current state doesn't allow this.",
    advice: "Read the resource again, then decide.",
    again: NO,
  },
  nothing_to_retry: {
    status: 409,
    when: "A requested leg has not failed.",
    advice: "Name only legs that are `failed`, or leave out `platforms`.",
    again: NO,
  },
  nothing_to_remove: {
    status: 409,
    when: "Nothing that you asked to remove is published, or it was already removed.",
    advice: "Read the post: `legs` says what is published.",
    again: NO,
  },
  removal_unsupported: {
    status: 409,
    when: "These networks don't let the relay remove these posts.",
    advice:
      "Show your user the URLs in `details.posts`, where they can remove the posts themselves.",
    again: NO,
  },
  limit_reached: {
    status: 409,
    when: "A maximum is reached: of a number, or of the room for files. `message` has the limit.",
    advice: "Delete what you no longer use.",
    again: "once there is room",
  },
  media_rejected: {
    status: 422,
    when: "The uploaded bytes are not those that were announced, or can't be read. The file is rejected.",
    advice:
      "Read `details.reason` and `details.problems`, then upload the file again as a new one.",
    again: NO,
  },
  not_publishable: {
    status: 422,
    when: "None of the networks would accept the post. Nothing was created.",
    advice: "`details.platforms` has what `POST /v1/posts/validate` would return.",
    again: "once the cause is gone",
  },
  rate_limited: {
    status: 429,
    when: "Too many requests. Wait for the number of seconds in `Retry-After`.",
    advice: "Wait as long as `Retry-After` says.",
    again: "yes, after that",
  },
  internal_error: {
    status: 500,
    when: "An error on our side. It was logged with the request id.",
    advice:
      "Repeat the request with the same Idempotency-Key. If it fails again, send the operators the `requestId`.",
    again: "yes",
  },
  service_unavailable: {
    status: 503,
    when: "Not possible right now. Repeating the same request is safe.",
    advice: "Repeat the request with the same Idempotency-Key, after `Retry-After`.",
    again: "yes",
  },
  not_ready: {
    status: 503,
    when: "A check of the service failed.",
    advice: "For the operators: `details.checks` says what is missing.",
    again: "yes",
  },
} as const satisfies Readonly<Record<string, CatalogEntry>>;

export type ErrorCode = keyof typeof ERROR_CATALOG;

// Safe: these are its keys, and there are some.
export const ERROR_CODES = Object.keys(ERROR_CATALOG) as [ErrorCode, ...ErrorCode[]];
