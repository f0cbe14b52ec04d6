import type { ErrorCode } from "../src/shared/runtime/errors.ts";
import type { DELIVERY_ERRORS } from "../src/shared/webhooks/deliveries/delivery.ts";

interface Advice {
  readonly advice: string;
  /** Whether the unchanged request may succeed later. */
  readonly again: string;
}

const NO = "no";
const CREDENTIAL = "with another credential";

/** What a caller does about an error; a code that nobody has advice for does not compile. */
export const ERROR_ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  invalid_json: { advice: "Send JSON in UTF-8.", again: NO },
  validation_failed: { advice: "Fix the fields that `details.issues` names.", again: NO },
  idempotency_key_required: {
    advice: "Make a key for the post, store it with the post, and send it.",
    again: "with the header",
  },
  idempotency_key_invalid: {
    advice: "A UUID is a good key. Send it in one header line.",
    again: "with another key",
  },
  profile_header_required: { advice: "Send the profile's id.", again: "with the header" },
  profile_header_mismatch: {
    advice: "Leave out the header if the path names the profile, or send the same id.",
    again: "with the same id in both",
  },
  application_header_required: {
    advice: "Send `X-Application-Id`, because a session belongs to the whole platform.",
    again: "with the header",
  },
  invalid_cursor: {
    advice: "Start with the first page, and keep the filters for all pages.",
    again: NO,
  },
  unauthenticated: {
    advice: "Send `Authorization: Bearer …`, once, and not in the URL.",
    again: "with the header",
  },
  invalid_credentials: { advice: "Check the credential.", again: CREDENTIAL },
  api_key_revoked: {
    advice: "Use another key; a revoked one never works again.",
    again: CREDENTIAL,
  },
  api_key_expired: { advice: "Make a new key in time.", again: CREDENTIAL },
  session_expired: { advice: "Log in again.", again: "after a log-in" },
  totp_required: { advice: "Send `totpCode` with the password.", again: "with the code" },
  invalid_grant_token: { advice: "Mint a new grant for this profile.", again: "with a new grant" },
  insufficient_tokens: {
    advice:
      "Ask an operator of the service to add tokens. `GET /v1/billing/balance` shows the balance.",
    again: "yes, with the same Idempotency-Key",
  },
  daily_budget_reached: {
    advice: "Raise the budget with `PATCH /v1/billing/limits`, or wait until `details.resetsAt`.",
    again: "yes, with the same Idempotency-Key",
  },
  session_required: { advice: "Log in; a key can't do this.", again: CREDENTIAL },
  app_admin_required: { advice: "Use an `app_admin` key or a session.", again: CREDENTIAL },
  role_required: { advice: "Have the role assigned by your identity provider.", again: CREDENTIAL },
  owner_required: { advice: "Ask an owner of the platform.", again: CREDENTIAL },
  confirmation_required: {
    advice: "Enter the password again with `POST /v1/auth/confirm`.",
    again: "with the token of its answer",
  },
  profile_not_allowed: {
    advice: "Send a profile grant, or put the profile on a new key's allowlist.",
    again: "with a grant",
  },
  application_mismatch: {
    advice: "Leave out the application. A key has its own.",
    again: NO,
  },
  application_disabled: { advice: "A session can enable it again.", again: "once it is enabled" },
  profile_disabled: {
    advice: '`PATCH /v1/profiles/{profileId}` with `{"status": "active"}`.',
    again: "once it is enabled",
  },
  platform_suspended: { advice: "Ask the operators.", again: "once it is active" },
  platform_closed: {
    advice: "Ask the operators to open it again, within seven days.",
    again: "once it is active",
  },
  invalid_link: { advice: "Ask for a new link.", again: NO },
  email_unverified: {
    advice: "Follow the link that was mailed to you. `POST /v1/auth/verify/resend` sends it again.",
    again: "after that",
  },
  mail_disabled: { advice: "Ask the operators for a link.", again: NO },
  invitation_required: { advice: "Invite them with `POST /v1/invitations`.", again: NO },
  signup_disabled: { advice: "Ask the operators for an account.", again: NO },
  not_found: { advice: "Check the id and the key.", again: NO },
  method_not_allowed: { advice: "Use a method of `details.allow`.", again: NO },
  conflict: {
    advice:
      "Use the existing one, which `details.existingId` names if it is yours. For a post, read it again.",
    again: NO,
  },
  idempotency_conflict: {
    advice: "A new post needs a new key. To repeat the request, send the same body.",
    again: "with a new key",
  },
  duplicate_content: {
    advice: "Change the text, or wait until `details.allowedAfter`.",
    again: "after that time",
  },
  invalid_state: { advice: "Read it again, then decide.", again: NO },
  nothing_to_remove: { advice: "Read the post: `legs` says what is published.", again: NO },
  removal_unsupported: {
    advice:
      "Show your user the addresses in `details.posts`, where the posts can be removed manually.",
    again: NO,
  },
  nothing_to_retry: { advice: "Name only legs that are `failed`, or none.", again: NO },
  limit_reached: { advice: "Remove what you no longer use.", again: "once there is room" },
  not_publishable: {
    advice: "`details.platforms` has what `POST /v1/posts/validate` would answer.",
    again: "once the cause is gone",
  },
  length_required: {
    advice:
      "Send `Content-Length` and no `Transfer-Encoding`. .NET's `PostAsJsonAsync` leaves it out: make a `JsonContent`, await `LoadIntoBufferAsync()`, and post that.",
    again: NO,
  },
  payload_too_large: { advice: "Send less; files are given by their URLs.", again: NO },
  unsupported_media_type: {
    advice: "Send `Content-Type: application/json`, and no `Content-Encoding`.",
    again: NO,
  },
  rate_limited: { advice: "Wait as long as `Retry-After` says.", again: "yes, after that" },
  internal_error: {
    advice: "Repeat it with the same Idempotency-Key; tell the operators the `requestId`.",
    again: "yes",
  },
  service_unavailable: {
    advice: "Repeat it with the same Idempotency-Key, after `Retry-After`.",
    again: "yes",
  },
  not_ready: { advice: "For the operators: `details.checks` says what is missing.", again: "yes" },
};

/** What an endpoint's owner does about a delivery's `lastError`. */
export const DELIVERY_ADVICE: Readonly<Record<(typeof DELIVERY_ERRORS)[number], string>> = {
  blocked_address:
    "The name doesn't exist, or leads to an address that is not public. Correct the DNS entry.",
  timeout: "No answer within 10 seconds. Answer first, work later.",
  connect_failed: "Nothing listens there, or no name server answers.",
  tls_failed:
    "The certificate is not valid for this name or has expired, or the server doesn't send the intermediate certificate, which browsers find by themselves: install the full chain.",
  connection_lost: "The connection ended before the answer.",
  too_large: "The answer's head is too long to be read.",
  endpoint_failing:
    "Five calls in a row failed, so it waits until one succeeds. Redrive or test it to try immediately.",
  endpoint_deleted: "The endpoint was deleted while the delivery waited.",
  endpoint_disabled: "The endpoint was disabled while the delivery waited.",
  event_expired: "The event is older than 31 days and no longer kept.",
  interrupted: "The process ended in the middle of the last attempt; redrive it.",
};
