/** What may end a leg, in the words of the contract. The network's own words never reach the customer's end user. */
interface LegError {
  readonly message: string;
  readonly remediation: string;
  /** Whether the unchanged leg may succeed when it is tried again. */
  readonly retryable: boolean;
}

export const LEG_ERRORS = {
  connection_missing: {
    message: "No account of this network is linked to the profile.",
    remediation: "Link an account on the connect page, then retry.",
    retryable: true,
  },
  connection_needs_reauth: {
    message: "The network no longer accepts the stored authorisation of this account.",
    remediation: "Reconnect the account on the connect page, then retry.",
    retryable: true,
  },
  permission_missing: {
    message: "The account was linked without a permission that publishing needs.",
    remediation: "Reconnect the account and grant every permission that is asked for.",
    retryable: true,
  },
  account_restricted: {
    message: "The network has restricted this account.",
    remediation: "Log in to the network, resolve what it asks for, then reconnect the account.",
    retryable: true,
  },
  rate_limited: {
    message: "The network is receiving too many requests for this account.",
    remediation: "Retry in some minutes.",
    retryable: true,
  },
  quota_exceeded: {
    message: "The account has used up its publishing quota of the last 24 hours.",
    remediation: "Retry when the quota is free again.",
    retryable: true,
  },
  duplicate_content: {
    message: "The same text was already published to this account.",
    remediation: "Change the text.",
    retryable: false,
  },
  text_too_long: {
    message: "The text is longer than the network allows.",
    remediation: "Shorten the text, or give this network its own with platformOptions.",
    retryable: false,
  },
  text_invalid: {
    message: "The network does not accept this text.",
    remediation: "Change the text, or give this network its own with platformOptions.",
    retryable: false,
  },
  media_unreachable: {
    message: "A media file could not be downloaded.",
    remediation: "Check that the media URL is public and answers without a log-in, then retry.",
    retryable: true,
  },
  media_rejected: {
    message: "The network does not accept a media file of this post.",
    remediation: "Use a file of a type, size and shape that the network allows.",
    retryable: false,
  },
  media_processing_failed: {
    message: "The network could not process a media file.",
    remediation: "Retry; if it fails again, re-encode the file.",
    retryable: true,
  },
  media_not_ready: {
    message: "The network did not finish processing the media in time.",
    remediation: "Retry.",
    retryable: true,
  },
  link_rejected: {
    message: "The network refuses a link in this post.",
    remediation: "Remove or replace the link.",
    retryable: false,
  },
  content_rejected: {
    message: "The network refused this content.",
    remediation: "Check the network's content rules and change the post.",
    retryable: false,
  },
  network_unavailable: {
    message: "The network could not be reached; nothing was published.",
    remediation: "Retry in some minutes.",
    retryable: true,
  },
  outcome_unknown: {
    message: "The network did not confirm the post: it may be live already.",
    remediation: "Look at the account; retry only if the post is not there.",
    retryable: true,
  },
  app_misconfigured: {
    message: "This network is not available at the moment.",
    remediation: "Nothing is wrong with the post; retry later or contact support.",
    retryable: true,
  },
  invalid_request: {
    message: "The network refused the request.",
    remediation: "Contact support with the post's id.",
    retryable: false,
  },
  feature_unsupported: {
    message: "The network does not offer this for this account or this kind of post.",
    remediation: "Leave it out, or do it by hand.",
    retryable: false,
  },
  profile_disabled: {
    message: "The profile is disabled.",
    remediation: "Enable the profile, then retry.",
    retryable: true,
  },
  application_disabled: {
    message: "The application is disabled.",
    remediation: "Enable the application, then retry.",
    retryable: true,
  },
  insufficient_tokens: {
    message:
      "The wallet did not hold enough tokens when the post was due, or its daily budget was used up.",
    remediation: "Add tokens or raise the budget, then retry.",
    retryable: true,
  },
  schedule_missed: {
    message: "The post was more than 24 hours late and was not published.",
    remediation: "Retry to publish it now.",
    retryable: true,
  },
  canceled: {
    message: "The post was canceled.",
    remediation: "Create a new post.",
    retryable: false,
  },
  internal_error: {
    message: "Publishing failed for a reason on our side.",
    remediation: "Retry; contact support with the post's id if it fails again.",
    retryable: true,
  },
} as const satisfies Record<string, LegError>;

export type LegErrorCode = keyof typeof LEG_ERRORS;

/** Codes of warnings alone: the post is published, but not quite as it was given. */
export const WARNING_CODES = ["alt_text_shortened"] as const;

/** What each of these warnings means. */
export const WARNING_MEANINGS = {
  alt_text_shortened: "The alternative text is cut after a word.",
} as const satisfies Record<WarningCode, string>;

type WarningCode = (typeof WARNING_CODES)[number];

/** What a finding about a draft may be told as. */
export type FindingCode = LegErrorCode | WarningCode;

/** Returns whether a finding's code may end a leg. */
export function endsLegs(code: FindingCode): code is LegErrorCode {
  return Object.hasOwn(LEG_ERRORS, code);
}
