import type { Answer } from "../exchange.ts";
import { EXPIRED, REVOKED, denied, duplicateOf, linkedInError, throttled } from "./errors.ts";
import type { LinkedInProblem } from "./errors.ts";

/** A post of somebody that nobody can find. */
const OTHER_POST = "urn:li:share:6844785523593134080";

const REFUSALS: Readonly<Record<string, LinkedInProblem>> = {
  network_unavailable: { status: 503, message: "Service Unavailable" },
  rate_limited: throttled("APPLICATION MINUTE"),
  quota_exceeded: throttled("MEMBER DAY"),
  connection_needs_reauth: REVOKED,
  token_expired: EXPIRED,
  permission_missing: denied("partnerApiPostsExternal.CREATE"),
  text_too_long: {
    status: 400,
    code: "FIELD_LENGTH_TOO_LONG",
    message: "commentary is longer than 3000 characters",
    field: "commentary",
  },
  text_invalid: {
    status: 400,
    code: "INVALID_VALUE_BLANK_FIELD",
    message: "commentary must not be blank",
    field: "commentary",
  },
  media_rejected: { status: 415, message: "Unsupported Media Type" },
  unproven: { status: 400, code: "INVALID_VALUE", message: "The sandbox refuses this" },
  media_processing_failed: {
    status: 400,
    code: "MEDIA_ASSET_PROCESSING_FAILED",
    message: "Media asset processing failed",
  },
};

/** The failure as LinkedIn would say it. */
export function failureAnswer(code: string): Answer {
  if (code === "duplicate_content") return duplicateOf(OTHER_POST);
  return linkedInError(
    REFUSALS[code] ?? {
      status: 400,
      code: "PARAM_INVALID",
      message: `The sandbox refuses this (${code})`,
    },
  );
}
