import type { Classified } from "../../../src/shared/networks/contract/answers.ts";
import type { NetworkName } from "../../../src/shared/networks/lookup.ts";

/** As Meta words an error. */
export function graph(code: number | undefined, subcode?: number, more: object = {}): object {
  const error = { message: "words", type: "OAuthException", code, error_subcode: subcode, ...more };
  return { error };
}

type Case = readonly [NetworkName, number, unknown, Classified["code"]];

/** What Meta says of our app under numbers that are an account's otherwise. */
export const APP_SENTENCES = [
  [190, "Error validating application. Application has been deleted."],
  [190, "Cannot get application info due to a system error."],
  [3, "(#3) Application does not have the capability to make this API call."],
  [100, "Unsupported request - method type: post"],
  [100, "Invalid appsecret_proof provided in the API argument"],
  [200, "API access blocked."],
  [200, "API access deactivated. To reactivate, go to the app dashboard."],
] as const;

/** Every row of the contract's mapping, as the network would send it. */
export const CASES: readonly Case[] = [
  ...[190, 102].flatMap((code): Case[] => [
    ["facebook", 400, graph(code), "connection_needs_reauth"],
    ["instagram", 401, graph(code), "connection_needs_reauth"],
  ]),
  ["facebook", 400, graph(undefined), "connection_needs_reauth"],
  ...[458, 459, 460, 463, 464, 467].flatMap((subcode): Case[] => [
    ["facebook", 400, graph(190, subcode), "connection_needs_reauth"],
    ["instagram", 400, graph(190, subcode), "connection_needs_reauth"],
  ]),
  ["facebook", 401, graph(190, 492), "permission_missing"],
  ...APP_SENTENCES.flatMap(([code, message]): Case[] =>
    (["facebook", "instagram"] as const).map((network): Case => [
      network,
      400,
      graph(code, undefined, { message }),
      "app_misconfigured",
    ]),
  ),
  ...[400, 403].flatMap((status) =>
    [
      "Organization permissions must be used when using organization as author",
      "Organization Or Events permissions must be used when using organization as author",
    ].map((message): Case => ["linkedin", status, { message, status }, "permission_missing"]),
  ),
  ...[10, 200, 210, 299].flatMap((code): Case[] => [
    ["facebook", 403, graph(code), "permission_missing"],
    ["instagram", 403, graph(code), "permission_missing"],
  ]),
  ["facebook", 400, graph(100, 33), "permission_missing"],
  ...[
    [351],
    [352],
    [352, 1363024],
    ...[1363022, 1363023, 1363025, 1363026].map((subcode) => [100, subcode] as const),
  ].map(([code, subcode]): Case => ["facebook", 400, graph(code, subcode), "media_rejected"]),
  ...[[390], [351, 1363019], [6000, 1363019], [390, 1363030], [100, 1363037]].map(
    ([code, subcode]): Case => ["facebook", 400, graph(code, subcode), "media_processing_failed"],
  ),
  ["facebook", 400, graph(100, 1363042), "permission_missing"],
  ...[2069030, 2069031, 2069033].map((subcode): Case => [
    "facebook",
    403,
    graph(200, subcode),
    "invalid_request",
  ]),
  ["facebook", 400, graph(190, 2069032), "app_misconfigured"],
  ["facebook", 400, graph(200, 1404078), "account_restricted"],
  ["facebook", 400, graph(368, 4854002), "account_restricted"],
  ["facebook", 400, graph(368, 1404112), "account_restricted"],
  ["facebook", 400, graph(368, 1404082), "duplicate_content"],
  ["facebook", 400, graph(506), "duplicate_content"],
  ["facebook", 400, graph(100, 1366051), "duplicate_content"],
  ["facebook", 400, graph(368), "content_rejected"],
  ["facebook", 400, graph(368, 1390008), "rate_limited"],
  ["facebook", 400, graph(1, 1346003), "content_rejected"],
  ["facebook", 400, graph(1, 1404102), "content_rejected"],
  ...[4, 17, 32, 341, 613, 80001, 80002, 80014].flatMap((code): Case[] => [
    ["facebook", 400, graph(code), "rate_limited"],
    ["instagram", 403, graph(code), "rate_limited"],
  ]),
  ...[1, 2].flatMap((code): Case[] => [
    ["facebook", 400, graph(code), "network_unavailable"],
    ["instagram", 500, graph(code), "network_unavailable"],
  ]),
  ["facebook", 400, graph(77_777, undefined, { is_transient: true }), "network_unavailable"],
  ["facebook", 400, graph(100, 1363047), "network_unavailable"],
  ["facebook", 400, graph(100, 1609010), "network_unavailable"],
  ...[1609005, 1609008, 2061006].map((subcode): Case => [
    "facebook",
    400,
    graph(100, subcode),
    "link_rejected",
  ]),
  ...[1363040, 1363127, 1363128, 1363129, 1366046, 2069019].map((subcode): Case => [
    "facebook",
    400,
    graph(100, subcode),
    "media_rejected",
  ]),
  ["facebook", 400, graph(324, 2069019), "media_unreachable"],
  ["facebook", 400, graph(389), "media_unreachable"],
  [
    "facebook",
    400,
    graph(100, undefined, { message: "(#100) Missing parameter: url" }),
    "invalid_request",
  ],
  [
    "facebook",
    400,
    graph(100, undefined, { message: "(#100) Name parameter too long" }),
    "text_invalid",
  ],
  [
    "facebook",
    400,
    graph(100, undefined, { message: "(#100) No permission to publish the video" }),
    "permission_missing",
  ],
  ["instagram", 400, graph(100, 2207018), "invalid_request"],
  ["instagram", 400, graph(-1, 2207085), "network_unavailable"],
  ["instagram", 403, graph(9, 2207042), "quota_exceeded"],
  ["instagram", 403, graph(4, 2207051), "content_rejected"],
  ["instagram", 403, graph(25, 2207050), "account_restricted"],
  [
    "instagram",
    400,
    graph(10, undefined, { message: "The user is not an Instagram Business" }),
    "account_restricted",
  ],
  ["instagram", 400, graph(9007, 2207027), "media_not_ready"],
  ["instagram", 400, graph(-2, 2207003), "media_unreachable"],
  ["instagram", 400, graph(9004, 2207052), "media_unreachable"],
  ["instagram", 400, graph(100, 2207077), "media_unreachable"],
  ["instagram", 400, graph(100, 2207082), "media_unreachable"],
  ["instagram", 400, graph(-2, 2207020), "media_processing_failed"],
  ["instagram", 400, graph(24, 2207006), "media_processing_failed"],
  ["instagram", 400, graph(24, 2207008), "media_processing_failed"],
  ["instagram", 400, graph(-1, 2207001), "network_unavailable"],
  ["instagram", 400, graph(-1, 2207032), "network_unavailable"],
  ["instagram", 400, graph(-1, 2207053), "network_unavailable"],
  ...(
    [
      [36000, 2207004],
      [36001, 2207005],
      [36003, 2207009],
      [352, 2207026],
      [100, 2207028],
      [100, 2207023],
      [1, 2207057],
    ] as const
  ).map(([code, subcode]): Case => ["instagram", 400, graph(code, subcode), "media_rejected"]),
  ["instagram", 400, graph(36004, 2207010), "text_invalid"],
  ["instagram", 400, graph(100, 2207040), "text_invalid"],
  ["instagram", 400, graph(100, 2207081), "invalid_request"],
  ...[
    "REVOKED_ACCESS_TOKEN",
    "INVALID_ACCESS_TOKEN",
    "EXPIRED_ACCESS_TOKEN",
    "EMPTY_ACCESS_TOKEN",
  ].map((code): Case => ["linkedin", 401, { status: 401, code }, "connection_needs_reauth"]),
  ["linkedin", 401, { serviceErrorCode: 65601 }, "connection_needs_reauth"],
  ["linkedin", 403, { code: "ACCESS_DENIED" }, "permission_missing"],
  ["linkedin", 403, { serviceErrorCode: 100 }, "permission_missing"],
  ["linkedin", 403, { message: "Not enough permissions to access" }, "permission_missing"],
  [
    "linkedin",
    422,
    { message: "Content is a duplicate of urn:li:share:6844785523593134080" },
    "duplicate_content",
  ],
  ["linkedin", 400, { code: "FIELD_LENGTH_TOO_LONG" }, "text_too_long"],
  ["linkedin", 400, { code: "INVALID_VALUE_BLANK_FIELD" }, "text_invalid"],
  ["linkedin", 400, { code: "MEDIA_ASSET_WAITING_UPLOAD" }, "media_not_ready"],
  ["linkedin", 400, { message: "The video is still processing" }, "media_not_ready"],
  ["linkedin", 400, { code: "MEDIA_ASSET_PROCESSING_FAILED" }, "media_processing_failed"],
  ["linkedin", 400, { code: "EXPIRED_UPLOAD_URL" }, "media_processing_failed"],
  ["linkedin", 413, "", "media_rejected"],
  ["linkedin", 415, "", "media_rejected"],
  ...["INVALID_URN_TYPE", "INVALID_URN_ID", "MISSING_FIELD"].map((code): Case => [
    "linkedin",
    400,
    { code },
    "invalid_request",
  ]),
  ["linkedin", 426, { code: "NONEXISTENT_VERSION" }, "app_misconfigured"],
  [
    "linkedin",
    429,
    {
      serviceErrorCode: 101,
      message: "Resource level throttle MEMBER DAY limit for calls to this resource is reached.",
    },
    "quota_exceeded",
  ],
  [
    "linkedin",
    429,
    {
      serviceErrorCode: 101,
      message:
        "Resource level throttle APPLICATION DAY limit for calls to this resource is reached.",
    },
    "rate_limited",
  ],
  ["linkedin", 409, { message: "Conflict" }, "network_unavailable"],
  ["linkedin", 503, { message: "Service Unavailable" }, "network_unavailable"],
  ["linkedin", 400, { message: "Unable to obtain activity" }, "network_unavailable"],
  ["bluesky", 401, { error: "AuthenticationRequired" }, "connection_needs_reauth"],
  ["bluesky", 401, { error: "AuthFactorTokenRequired" }, "connection_needs_reauth"],
  // Of an access token: a fresh one is got first, and that tells whether the session has ended.
  ["bluesky", 400, { error: "ExpiredToken" }, "network_unavailable"],
  ["bluesky", 401, { error: "AccountTakedown" }, "account_restricted"],
  ["bluesky", 401, { error: "AccountDeactivated" }, "account_restricted"],
  ["bluesky", 400, { error: "RepoDeactivated" }, "account_restricted"],
  ["bluesky", 403, { error: "ScopeMissingError" }, "permission_missing"],
  ["bluesky", 429, { error: "RateLimitExceeded" }, "rate_limited"],
  ["bluesky", 400, { error: "BlobNotFound" }, "media_processing_failed"],
  ["bluesky", 400, { error: "InvalidMimeType" }, "media_rejected"],
  ["bluesky", 400, { error: "InvalidSize" }, "media_rejected"],
  ["bluesky", 413, { error: "PayloadTooLarge" }, "media_rejected"],
  ...["UnsupportedContentType", "VideoTooLarge", "VideoTooLong", "BadAspectRatio"].map(
    (error): Case => ["bluesky", 400, { error }, "media_rejected"],
  ),
  ["bluesky", 400, { error: "DailyLimitExceeded" }, "quota_exceeded"],
  ["bluesky", 400, { error: "UploadForbidden" }, "account_restricted"],
  ["bluesky", 400, { error: "ServiceOverloaded" }, "network_unavailable"],
  ["mastodon", 401, { error: "The access token is invalid" }, "connection_needs_reauth"],
  ["mastodon", 401, { error: "The access token was revoked" }, "connection_needs_reauth"],
  [
    "mastodon",
    403,
    { error: "This action is outside the authorized scopes" },
    "permission_missing",
  ],
  ["mastodon", 403, { error: "Your login is currently disabled" }, "account_restricted"],
  [
    "mastodon",
    403,
    { error: "Your login is missing a confirmed e-mail address" },
    "account_restricted",
  ],
  ["mastodon", 403, { error: "Your login is currently pending approval" }, "account_restricted"],
  [
    "mastodon",
    422,
    { error: "Cannot attach files that have not finished processing. Try again in a moment!" },
    "media_not_ready",
  ],
  ["mastodon", 422, { error: "Media 1 not found or already attached" }, "outcome_unknown"],
  ["mastodon", 422, { error: "Cannot attach more than 4 files" }, "media_rejected"],
  ["mastodon", 422, { error: "File content type is invalid" }, "media_rejected"],
  [
    "mastodon",
    422,
    { error: "File type of uploaded media could not be verified" },
    "media_rejected",
  ],
  ["mastodon", 413, "", "media_rejected"],
  [
    "mastodon",
    422,
    { error: "Validation failed: Text character limit of 500 exceeded" },
    "text_too_long",
  ],
  ["mastodon", 422, { error: "Validation failed: Text can't be blank" }, "text_invalid"],
  [
    "mastodon",
    500,
    { error: "Error processing thumbnail for uploaded media" },
    "media_processing_failed",
  ],
  ["mastodon", 429, { error: "Too many requests" }, "rate_limited"],
];
