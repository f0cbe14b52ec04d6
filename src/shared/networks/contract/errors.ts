/** An error that may end a leg, in our own words. Those of the network never reach the customer's end user. */
interface LegError {
  readonly message: string;
  readonly remediation: string;
  /** Whether the unchanged leg may succeed when it is tried again. */
  readonly retryable: boolean;
}

/** Makes an error after which the unchanged leg may succeed when it is tried again. */
const retryable = (message: string, remediation: string): LegError => ({
  message,
  remediation,
  retryable: true,
});
const final = (message: string, remediation: string): LegError => ({
  message,
  remediation,
  retryable: false,
});

export const LEG_ERRORS = {
  connection_missing: retryable(
    "No account of this network is linked to the profile.",
    "Link an account on the connect page, then retry.",
  ),
  connection_needs_reauth: retryable(
    "The network no longer accepts the stored authorisation of this account.",
    "Reconnect the account on the connect page, then retry.",
  ),
  permission_missing: retryable(
    "The account was linked without a permission that publishing needs.",
    "Reconnect the account and grant all requested permissions.",
  ),
  account_restricted: retryable(
    "The network has restricted this account.",
    "Log in to the network, follow its instructions, then reconnect the account.",
  ),
  rate_limited: retryable(
    "The network is receiving too many requests for this account.",
    "Retry in a few minutes.",
  ),
  quota_exceeded: retryable(
    "The account has used up its publishing quota of the last 24 hours.",
    "Retry when the quota has been reset.",
  ),
  duplicate_content: final(
    "The same text was already published to this account.",
    "Change the text.",
  ),
  text_too_long: final(
    "The text is longer than the network allows.",
    "Shorten the text, or give this network its own with platformOptions.",
  ),
  text_invalid: final(
    "The network does not accept this text.",
    "Change the text, or give this network its own with platformOptions.",
  ),
  media_unreachable: retryable(
    "A media file could not be downloaded.",
    "Check that the media URL is public and answers without a log-in, then retry.",
  ),
  media_rejected: final(
    "The network does not accept a media file of this post.",
    "Use a file of a type, size and shape that the network allows.",
  ),
  media_processing_failed: retryable(
    "The network could not process a media file.",
    "Retry. If it fails again, re-encode the file.",
  ),
  media_not_ready: retryable("The network did not finish processing the media in time.", "Retry."),
  link_rejected: final("The network refuses a link in this post.", "Remove or replace the link."),
  content_rejected: final(
    "The network refused this content.",
    "Check the network's content rules and change the post.",
  ),
  network_unavailable: retryable(
    "The network could not be reached; nothing was published.",
    "Retry in a few minutes.",
  ),
  outcome_unknown: retryable(
    "The network did not confirm the post, so it may already be live.",
    "Check the account, and retry only if the post isn't there.",
  ),
  app_misconfigured: retryable(
    "This network is not available at the moment.",
    "The post itself is fine. Retry later or contact support.",
  ),
  invalid_request: final("The network refused the request.", "Contact support with the post's id."),
  feature_unsupported: final(
    "The network does not offer this for this account or this kind of post.",
    "Leave it out, or do it manually on the network.",
  ),
  profile_disabled: retryable("The profile is disabled.", "Enable the profile, then retry."),
  application_disabled: retryable(
    "The application is disabled.",
    "Enable the application, then retry.",
  ),
  insufficient_tokens: retryable(
    "The wallet did not hold enough tokens when the post was due, or its daily budget was used up.",
    "Add tokens or raise the budget, then retry.",
  ),
  schedule_missed: retryable(
    "The post was more than 24 hours late and was not published.",
    "Retry to publish it now.",
  ),
  canceled: final("The post was canceled.", "Create a new post."),
  internal_error: retryable(
    "Publishing failed for a reason on our side.",
    "Retry. If it fails again, contact support with the post's id.",
  ),
};

export type LegErrorCode = keyof typeof LEG_ERRORS;

/** Codes that are only warnings, by what each of them means: what is done to the post, or could not be done. */
export const WARNING_MEANINGS = {
  image_changed:
    "A picture is converted, scaled, turned, compressed, flattened or shown as its first frame: `rule` says which.",
  metadata_removed:
    "Where, when and with what a picture was taken is left out, or what its file has besides the picture.",
  text_shortened: "The text is shown shorter than it was given.",
  alt_text_shortened: "An alternative text is cut, between words if possible.",
  near_limit: "A limit is nearly reached. Nothing is done.",
  option_unused:
    "A field, a text or an alternative text has no place on this network or kind of post, and is left out.",
  link_card_skipped: "The link card is left out.",
  first_comment_failed: "The first comment was not published.",
  first_comment_unknown: "The network did not confirm the first comment.",
  thumbnail_failed: "The picture of a link card is left out.",
  kind_changed: "The post is published as another kind, such as a feed video instead of a reel.",
  default_used: "A value was chosen for the caller, such as a document's title.",
  type_unknown:
    "It isn't known whether the network accepts a file of this type. The file is sent as it is.",
} as const;

/** Codes of errors that warnings may have as well: an extra is left out. */
const SHARED_CODES = ["permission_missing", "feature_unsupported"] as const;

export type WarningCode = keyof typeof WARNING_MEANINGS | (typeof SHARED_CODES)[number];

// Safe: the record has these keys and no others.
export const WARNING_CODES = Object.keys(WARNING_MEANINGS) as (keyof typeof WARNING_MEANINGS)[];

export type FindingCode = LegErrorCode | WarningCode;

export function endsLegs(code: FindingCode): code is LegErrorCode {
  return Object.hasOwn(LEG_ERRORS, code);
}
