/** The codes of errors that may end a leg, and whether the unchanged leg may succeed when it is tried again. */
export const LEG_ERRORS = {
  connection_missing: { retryable: true },
  connection_needs_reauth: { retryable: true },
  permission_missing: { retryable: true },
  account_restricted: { retryable: true },
  rate_limited: { retryable: true },
  quota_exceeded: { retryable: true },
  duplicate_content: { retryable: false },
  text_too_long: { retryable: false },
  text_invalid: { retryable: false },
  media_unreachable: { retryable: true },
  media_rejected: { retryable: false },
  media_processing_failed: { retryable: true },
  media_not_ready: { retryable: true },
  link_rejected: { retryable: false },
  content_rejected: { retryable: false },
  network_unavailable: { retryable: true },
  outcome_unknown: { retryable: true },
  app_misconfigured: { retryable: true },
  invalid_request: { retryable: false },
  feature_unsupported: { retryable: false },
  profile_disabled: { retryable: true },
  application_disabled: { retryable: true },
  insufficient_tokens: { retryable: true },
  schedule_missed: { retryable: true },
  canceled: { retryable: false },
  internal_error: { retryable: true },
};

export type LegErrorCode = keyof typeof LEG_ERRORS;

/** Codes that are only warnings, by what each of them means: what is done to the post, or could not be done. */
export const WARNING_MEANINGS = {
  image_changed:
    "A picture is converted, scaled, rotated, compressed, flattened or reduced to its first frame: `rule` says which.",
  metadata_removed:
    "Metadata (time, place, camera) or other data in the picture's file is removed.",
  text_shortened: "The text is shortened.",
  alt_text_shortened: "An alternative text is shortened, between words if possible.",
  near_limit: "A limit is nearly reached. Nothing is changed.",
  option_unused:
    "A field, a text or an alternative text isn't supported on this network or for this kind of post, and is left out.",
  link_card_skipped: "The link card is left out.",
  first_comment_failed: "The first comment was not published.",
  first_comment_unknown: "The network did not confirm the first comment.",
  thumbnail_failed: "The picture of a link card is left out.",
  kind_changed:
    "The post is published as another kind, such as a feed video instead of a reel, or without some of its files.",
  default_used: "A default is used for something that was left out, such as a document's title.",
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

/** What a sentence has besides fixed words: numbers, and short texts of others. */
export type SentenceValues = Readonly<Record<string, string | number>>;
