import type { ClassifiedAnswer } from "../../src/shared/networks/contract/answers.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";

/** As Meta words an error. */
export function graph(code: number | undefined, subcode?: number, more: object = {}): object {
  const error = { message: "words", type: "OAuthException", code, error_subcode: subcode, ...more };
  return { error };
}

type Code = ClassifiedAnswer["code"];
type Case = readonly [NetworkName, number, unknown, Code, ClassifiedAnswer["effect"]];

/** What a code makes of the leg, where nothing else is said. */
const EFFECTS: Partial<Record<Code, ClassifiedAnswer["effect"]>> = {
  media_not_ready: "prepare_again",
  media_processing_failed: "prepare_again",
  media_unreachable: "later",
  network_unavailable: "doubt",
  outcome_unknown: "doubt",
  rate_limited: "later",
};

/** Answers of one status that mean the same. */
const means =
  (network: NetworkName) =>
  (
    code: Code,
    status: number,
    bodies: readonly unknown[],
    effect = EFFECTS[code] ?? "refuse",
  ): Case[] =>
    bodies.map((body): Case => [network, status, body, code, effect]);

const facebook = means("facebook");
const instagram = means("instagram");
const linkedin = means("linkedin");
const bluesky = means("bluesky");
const mastodon = means("mastodon");
const graphs = (code: number, ...subcodes: readonly number[]) =>
  subcodes.map((subcode) => graph(code, subcode));
const plain = (...codes: readonly (number | undefined)[]) => codes.map((code) => graph(code));
const worded = (code: number, ...messages: readonly string[]) =>
  messages.map((message) => graph(code, undefined, { message }));
const errors = (...names: readonly string[]) => names.map((error) => ({ error }));
const codes = (...names: readonly string[]) => names.map((code) => ({ code }));
const misskey = (code: string) => [{ error: { message: "words", code, id: "0b5f1631" } }];
const messages = (...texts: readonly string[]) => texts.map((message) => ({ message }));
const record = (...texts: readonly string[]) =>
  texts.map((text) => ({
    error: "InvalidRequest",
    message: `Invalid app.bsky.feed.post record: ${text}`,
  }));
const field = (code: string, fieldPath: string) => ({
  errorDetails: { inputErrors: [{ input: { inputPath: { fieldPath } }, code }] },
});
const throttled = (level: string) => ({
  serviceErrorCode: 101,
  message: `Resource level throttle ${level} limit for calls to this resource is reached.`,
});
/** As Laravel says what is wrong with a form, with 422 or, at some servers, 500. */
const checked = (field: string, message: string) => ({ message, errors: { [field]: [message] } });
/** As Takahē says it. */
const takahe = (name: string, msg: string) => ({
  error: "invalid_input",
  error_details: [{ loc: ["details", name], msg, type: "value_error.missing" }],
});
const EMPTY_BODY = {
  error: "InvalidRequest",
  message: "A request body is expected but none was provided",
};
const TOO_LONG = {
  message:
    "com.linkedin.content.common.exception.BadRequestResponseException: ShareCommentary text length (8694 characters) exceeded the maximum allowed (3000 characters)",
};
const DUPLICATE = "Content is a duplicate of urn:li:share:6844785523593134080";
const THROTTLES = [4, 17, 32, 341, 613, 80001, 80002, 80014];
const LOST_TOKENS = [458, 459, 460, 463, 464, 467, 490];

/** What Meta says of our app under numbers that are an account's otherwise. */
export const APP_SENTENCES = [
  [190, "Error validating application. Application has been deleted."],
  [190, "Cannot get application info due to a system error."],
  [3, "(#3) Application does not have the capability to make this API call."],
  [100, "Unsupported request - method type: post"],
  [100, "Invalid appsecret_proof provided in the API argument"],
  [191, "Invalid redirect_uri: Given URL is not allowed by the Application configuration."],
  [200, "API access blocked."],
  [200, "(#200) Feed story publishing to other users is disabled for this application"],
  [200, "API access deactivated. To reactivate, go to the app dashboard."],
] as const;

const IMPERSONATING =
  "Any of the pages_read_engagement or pages_show_list permission(s) must be granted before impersonating a user's page.";
const FRIENDICA_PAGE = "<html><head></head><body><p>This API requires login</p></body></html>";
const gateway = (text: string) => ({ serviceErrorCode: 100, status: 403, message: text });

/** Every row of the contract's mapping, as the network would send it. */
export const CASES: readonly Case[] = [
  ...[facebook, instagram].flatMap((meta) => [
    ...meta("connection_needs_reauth", 401, plain(190, 102)),
    ...meta("connection_needs_reauth", 400, graphs(190, ...LOST_TOKENS)),
    ...APP_SENTENCES.flatMap(([code, message]) =>
      meta("app_misconfigured", 400, worded(code, message)),
    ),
    ...meta("app_misconfigured", 400, plain(2635, 5, 11, 104)),
    ...meta("invalid_request", 400, plain(194, 2500)),
    ...meta("connection_needs_reauth", 400, worded(2500, "An active access token must be used")),
    ...meta("permission_missing", 403, plain(10, 200, 210, 299)),
    ...meta("permission_missing", 400, graphs(100, 33)),
    ...meta("rate_limited", 400, plain(...THROTTLES)),
    ...meta("network_unavailable", 500, ["", ...plain(1, 2)]),
    ...meta("network_unavailable", 400, plain(1, 2)),
  ]),
  ...facebook("connection_needs_reauth", 400, [...plain(undefined), ...graphs(100, 458)]),
  ...facebook("permission_missing", 401, graphs(190, 492)),
  ...facebook("permission_missing", 400, worded(190, IMPERSONATING)),
  ...facebook("network_unavailable", 400, graphs(1, 99)),
  ...facebook("invalid_request", 403, worded(200, "(#200) New Pages experience not supported: …")),
  ...facebook("permission_missing", 400, graphs(100, 1363042)),
  ...facebook("permission_missing", 400, worded(100, "(#100) No permission to publish the video")),
  ...facebook("media_rejected", 400, plain(351, 352, 324, 382)),
  ...facebook("media_rejected", 400, graphs(352, 1363024)),
  ...facebook("media_rejected", 400, graphs(100, 1363022, 1363023, 1363025, 1363026)),
  ...facebook("media_rejected", 400, graphs(100, 1363040, 1363127, 1363128, 1363129)),
  ...facebook("media_rejected", 400, graphs(100, 1366046, 2069019)),
  ...facebook("media_rejected", 413, [""]),
  ...facebook("media_unreachable", 400, [...graphs(324, 2069019), ...plain(389)]),
  ...facebook("media_processing_failed", 400, [...plain(381, 390, 6001), ...graphs(390, 1363030)]),
  ...facebook("media_processing_failed", 400, [...graphs(351, 1363019), ...graphs(6000, 1363019)]),
  ...facebook("media_processing_failed", 400, graphs(100, 1363037)),
  ...facebook("feature_unsupported", 403, graphs(200, 2069030, 2069031, 2069033)),
  ...facebook("invalid_request", 400, worded(100, "(#100) Missing parameter: url")),
  ...facebook("app_misconfigured", 400, [...graphs(190, 2069032), ...plain(101)]),
  ...facebook(
    "duplicate_content",
    400,
    worded(368, "You've already posted this. Posting the same content repeatedly is not allowed."),
  ),
  ...facebook(
    "rate_limited",
    400,
    worded(368, "It looks like you were misusing this feature by going too fast."),
    "refuse",
  ),
  ...facebook("account_restricted", 400, graphs(368, 4854002, 1404112)),
  ...facebook("account_restricted", 400, [...graphs(200, 1404078), ...graphs(1, 1404078)]),
  ...facebook("duplicate_content", 400, [...graphs(368, 1404082), ...plain(506)]),
  ...facebook("duplicate_content", 400, graphs(100, 1366051)),
  ...facebook("content_rejected", 400, [...plain(368), ...graphs(1, 1346003, 1404102)]),
  ...facebook("rate_limited", 400, graphs(368, 1390008), "refuse"),
  ...facebook("rate_limited", 429, [""]),
  ...facebook("network_unavailable", 400, graphs(100, 1363047, 1609010)),
  ...facebook("network_unavailable", 400, [graph(77_777, undefined, { is_transient: true })]),
  ...facebook("network_unavailable", 200, [""]),
  ...facebook("link_rejected", 400, [...plain(1500), ...graphs(100, 1609005, 1609008, 2061006)]),
  ...facebook("text_invalid", 400, plain(197)),
  ...facebook("account_restricted", 400, [...graphs(415, 2859009), ...graphs(100, 1404006)]),
  ...facebook("account_restricted", 400, [
    graph(77_778, undefined, { error_user_title: "Security check required" }),
    graph(77_778, undefined, { error_user_msg: "Please confirm your identity to continue." }),
  ]),
  ...facebook("network_unavailable", 400, worded(324, "(#324) Requires upload file"), "later"),
  ...facebook("invalid_request", 400, worded(210, "(#210) User not visible")),
  ...facebook("text_invalid", 400, worded(100, "(#100) Name parameter too long")),
  ...instagram("account_restricted", 400, worded(77_778, "Two-factor authentication required")),
  ...instagram("invalid_request", 400, graphs(100, 2207018, 2207081)),
  ...instagram("quota_exceeded", 403, graphs(9, 2207042)),
  ...instagram("content_rejected", 403, graphs(4, 2207051)),
  ...instagram("account_restricted", 403, graphs(25, 2207050)),
  ...instagram("account_restricted", 400, worded(10, "The user is not an Instagram Business")),
  ...instagram("media_not_ready", 400, graphs(9007, 2207027)),
  ...instagram("media_unreachable", 400, [...graphs(-2, 2207003), ...graphs(9004, 2207052)]),
  ...instagram("media_unreachable", 400, graphs(100, 2207077, 2207082)),
  ...instagram("media_processing_failed", 400, graphs(-2, 2207020)),
  ...instagram("media_processing_failed", 400, graphs(24, 2207006, 2207008)),
  ...instagram("media_processing_failed", 400, plain(-2)),
  ...instagram("network_unavailable", 400, plain(-1)),
  ...instagram("network_unavailable", 400, graphs(-1, 2207001, 2207032, 2207053, 2207085)),
  ...instagram("media_rejected", 400, [...graphs(36000, 2207004), ...graphs(36001, 2207005)]),
  ...instagram("media_rejected", 400, [...graphs(36003, 2207009), ...graphs(352, 2207026)]),
  ...instagram("media_rejected", 400, [...graphs(100, 2207028, 2207023), ...graphs(1, 2207057)]),
  ...instagram("text_invalid", 400, [...graphs(36004, 2207010), ...graphs(100, 2207040)]),
  ...linkedin("connection_needs_reauth", 401, [
    "",
    ...codes("REVOKED_ACCESS_TOKEN", "INVALID_ACCESS_TOKEN", "EXPIRED_ACCESS_TOKEN"),
    ...codes("EMPTY_ACCESS_TOKEN", "ACCESS_DENIED"),
    { serviceErrorCode: 65601 },
  ]),
  ...[400, 403].flatMap((status) =>
    linkedin(
      "permission_missing",
      status,
      ["Organization", "Organization Or Events"].map((kind) => ({
        message: `${kind} permissions must be used when using organization as author`,
        status,
      })),
    ),
  ),
  ...linkedin("permission_missing", 403, [...codes("ACCESS_DENIED"), { serviceErrorCode: 100 }]),
  ...linkedin("permission_missing", 403, messages("Not enough permissions to access")),
  ...linkedin("permission_missing", 403, [{ message: "", status: 403 }]),
  ...linkedin("permission_missing", 400, [
    { message: "INVALID_CONTENT_OWNERSHIP", error: "User does not have permission" },
    ...codes("INVALID_CONTENT_OWNERSHIP"),
  ]),
  ...linkedin("text_too_long", 400, [
    TOO_LONG,
    { ...TOO_LONG, ...field("FIELD_ARRAY_SIZE_TOO_HIGH", "/commentary") },
  ]),
  ...linkedin("permission_missing", 403, [
    gateway("Field Value validation failed in REQUEST_BODY: Data Processing Exception [/author]"),
  ]),
  ...linkedin("app_misconfigured", 403, [
    gateway("Unpermitted fields present in PARAMETER: Data Processing Exception [/format]"),
  ]),
  ...linkedin("duplicate_content", 422, [
    { message: DUPLICATE },
    { code: "DUPLICATE_POST", message: DUPLICATE },
  ]),
  ...linkedin("duplicate_content", 400, messages(DUPLICATE)),
  ...linkedin("text_too_long", 400, [
    ...codes("FIELD_LENGTH_TOO_LONG"),
    field("FIELD_LENGTH_TOO_LONG", "commentary"),
  ]),
  ...linkedin("text_invalid", 400, [
    ...codes("INVALID_VALUE_BLANK_FIELD"),
    field("FIELD_LENGTH_TOO_LONG", "content.article.title"),
  ]),
  ...linkedin("media_not_ready", 400, codes("MEDIA_ASSET_WAITING_UPLOAD")),
  ...linkedin("media_not_ready", 400, messages("The video is still processing")),
  ...linkedin("media_processing_failed", 400, [
    ...codes("MEDIA_ASSET_PROCESSING_FAILED", "EXPIRED_UPLOAD_URL"),
    ...messages("Media asset processing failed"),
  ]),
  ...[413, 415].flatMap((status) => linkedin("media_rejected", status, [""])),
  ...linkedin("invalid_request", 400, codes("INVALID_URN_TYPE", "INVALID_URN_ID", "MISSING_FIELD")),
  ...linkedin("app_misconfigured", 426, ["", ...codes("NONEXISTENT_VERSION")]),
  ...linkedin("app_misconfigured", 400, messages("A version must be present.")),
  ...linkedin("app_misconfigured", 404, messages("Resource ugcPosts does not exist")),
  ...linkedin("quota_exceeded", 429, [throttled("MEMBER DAY")]),
  ...linkedin("rate_limited", 429, [throttled("APPLICATION DAY")], "refuse"),
  ...linkedin("rate_limited", 429, [throttled("APPLICATION MINUTE")]),
  ...linkedin("rate_limited", 429, [throttled("MEMBER MINUTE")]),
  ...linkedin("network_unavailable", 409, ["", ...messages("Conflict")]),
  ...linkedin("network_unavailable", 500, [{ code: "ACCESS_DENIED", message: "x" }]),
  ...linkedin("network_unavailable", 503, messages("Service Unavailable")),
  ...linkedin("network_unavailable", 400, messages("Unable to obtain activity")),
  ...[200, 201].flatMap((status) => linkedin("network_unavailable", status, [""])),
  ...bluesky("connection_needs_reauth", 401, [
    ...errors("AuthenticationRequired", "AuthFactorTokenRequired", "AuthMissing", "SomethingNew"),
  ]),
  // An access token: a fresh one is fetched first, and that tells whether the session has ended.
  ...bluesky("network_unavailable", 400, errors("ExpiredToken", "InvalidToken"), "at_once"),
  ...bluesky("network_unavailable", 400, [EMPTY_BODY], "later"),
  ...[301, 307, 308].flatMap((status) => bluesky("network_unavailable", status, [""], "refuse")),
  ...bluesky("account_restricted", 401, errors("AccountTakedown", "AccountDeactivated")),
  ...bluesky("account_restricted", 400, errors("RepoDeactivated", "UploadForbidden")),
  ...bluesky("permission_missing", 403, errors("ScopeMissingError")),
  ...bluesky("permission_missing", 400, [{ error: "InvalidToken", message: "Bad token scope" }]),
  ...bluesky("rate_limited", 429, errors("RateLimitExceeded")),
  ...bluesky("text_too_long", 400, [
    ...record(
      "Record/text must not be longer than 300 graphemes",
      "grapheme too big (maximum 300, got 301) at $.text",
      "string too big (maximum 3000, got 3001) at $.text",
    ),
  ]),
  ...bluesky("text_invalid", 400, record("integer too small at $.facets[0].index.byteStart")),
  ...bluesky("media_processing_failed", 400, [
    ...errors("BlobNotFound"),
    { error: "InvalidRequest", message: "Could not find blob: bafk" },
  ]),
  ...bluesky("media_rejected", 400, record("blob too big at $.embed.images[0].image")),
  ...bluesky("media_rejected", 400, errors("InvalidMimeType", "InvalidSize"), "prepare_again"),
  ...bluesky("media_rejected", 400, errors("BlobTooLarge"), "prepare_again"),
  ...bluesky("media_rejected", 413, ["", ...errors("PayloadTooLarge")]),
  ...bluesky("media_rejected", 400, errors("UnsupportedContentType", "VideoTooLarge")),
  ...bluesky("media_rejected", 400, errors("VideoTooLong", "BadAspectRatio")),
  ...bluesky("quota_exceeded", 400, errors("DailyLimitExceeded")),
  ...bluesky("network_unavailable", 400, errors("ServiceOverloaded"), "later"),
  ...bluesky("outcome_unknown", 400, errors("InvalidSwap")),
  ...[200, 408].flatMap((status) => bluesky("outcome_unknown", status, [""])),
  ...mastodon("connection_needs_reauth", 401, [
    "",
    ...errors("The access token is invalid", "The access token was revoked"),
    FRIENDICA_PAGE,
  ]),
  ...mastodon("connection_needs_reauth", 403, errors("Invalid credentials.")),
  ...mastodon("connection_needs_reauth", 422, errors("This method requires an authenticated user")),
  ...mastodon(
    "permission_missing",
    403,
    errors(
      "This action is outside the authorized scopes",
      "Insufficient permissions: write:statuses.",
      "Forbidden: token has insufficient scope permission",
      "Invalid scope(s) provided.",
      "insufficient_scope",
    ),
  ),
  ...mastodon(
    "account_restricted",
    403,
    errors("Forbidden: your account has Moved or is currently Moving; you cannot take action"),
  ),
  ...mastodon(
    "text_too_long",
    400,
    errors("Bad Request: status too long, 6000 characters provided but limit is 5000"),
  ),
  ...mastodon("account_restricted", 403, [
    ...errors("Your login is currently disabled", "Your login is currently pending approval"),
    ...errors("Your login is missing a confirmed e-mail address"),
  ]),
  ...mastodon(
    "account_restricted",
    403,
    errors(
      "This action is not allowed",
      "Your account is currently disabled",
      "Your account is awaiting approval.",
      "Password reset is required",
    ),
  ),
  ...mastodon("media_rejected", 422, errors("file_too_large", "description_too_long")),
  ...mastodon("content_rejected", 422, errors("[KeywordPolicy] Matches with rejected keyword")),
  ...mastodon("feature_unsupported", 501, errors("Not implemented")),
  ...[400, 401, 403, 422].flatMap((status) =>
    mastodon("outcome_unknown", status, [
      { error: "Unauthorized", message: "Cannot read properties of undefined (reading 'data')" },
    ]),
  ),
  ...mastodon("media_not_ready", 422, [
    ...errors("Cannot attach files that have not finished processing. Try again in a moment!"),
  ]),
  ...mastodon("outcome_unknown", 422, [
    ...errors("Media 1 not found or already attached", "Media 1, 2 not found or already attached"),
  ]),
  ...mastodon("media_rejected", 422, [
    ...errors(
      "Cannot attach more than 4 files",
      "Validation failed: File content type is invalid",
      "1400x700 GIF files are not supported",
    ),
    ...errors("Cannot attach a video to a post that already contains images"),
    ...errors("File type of uploaded media could not be verified"),
  ]),
  ...mastodon("media_rejected", 422, [
    ...errors("Validation failed: File file size must be less than 8 MB"),
  ]),
  ...mastodon(
    "network_unavailable",
    422,
    [
      ...errors("Validation failed: File can't be blank"),
      checked("file", "The file field is required."),
    ],
    "later",
  ),
  ...mastodon("connection_needs_reauth", 500, errors("Unauthenticated.")),
  ...mastodon("outcome_unknown", 500, errors("Unauthenticated users make this server fail")),
  ...[301, 307, 308].flatMap((status) => mastodon("network_unavailable", status, [""], "refuse")),
  ...[302, 303].flatMap((status) => mastodon("outcome_unknown", status, [""])),
  ...mastodon("media_rejected", 413, [""]),
  ...mastodon("text_too_long", 422, [
    ...errors("Validation failed: Text character limit of 500 exceeded"),
  ]),
  ...mastodon("text_invalid", 422, [
    ...errors("Validation failed: Text can't be blank"),
    ...errors("Validation failed: Text translation missing: en.statuses.cannot_send"),
  ]),
  ...mastodon("text_invalid", 422, errors("Cannot post an empty status without attachments")),
  ...mastodon("text_too_long", 422, errors("The status is over the character limit")),
  ...mastodon("media_rejected", 422, errors("Too many attachments")),
  ...mastodon("outcome_unknown", 400, [{ errors: { detail: "Internal server error" } }]),
  ...mastodon("text_invalid", 400, [
    ...errors("Posts must have text, media or poll"),
    { statusCode: 400, error: "BadRequest", message: "Posts must have text, media or poll" },
  ]),
  ...mastodon(
    "text_too_long",
    400,
    errors("Bad Request: text with spoiler exceed max chars (5000)"),
  ),
  ...mastodon("media_rejected", 400, errors("Bad Request: media files exceed max count (6)")),
  ...mastodon("media_rejected", 400, [
    ...errors("media description less than min chars (10)"),
    ...errors(
      "Bad Request: file size limit exceeded: limit is 41943040 bytes but attachment was 5",
    ),
    ...errors("image description length must be between 10 and 500 characters (inclusive)"),
  ]),
  ...mastodon("outcome_unknown", 400, [
    ...errors("Bad Request: media already attached to status: 01F8", "Invalid media_ids"),
    ...errors("Bad Request: media not found: 01F8", "Duplicate idempotency key."),
  ]),
  ...mastodon("connection_needs_reauth", 401, misskey("CREDENTIAL_REQUIRED")),
  ...mastodon("connection_needs_reauth", 403, misskey("AUTHENTICATION_FAILED")),
  ...mastodon("permission_missing", 401, misskey("PERMISSION_DENIED")),
  ...mastodon("account_restricted", 401, misskey("YOUR_ACCOUNT_SUSPENDED")),
  ...mastodon("rate_limited", 401, misskey("RATE_LIMIT_EXCEEDED")),
  ...mastodon("text_invalid", 401, misskey("CONTENT_REQUIRED")),
  ...mastodon("invalid_request", 401, misskey("INVALID_PARAM")),
  ...mastodon("outcome_unknown", 401, misskey("INTERNAL_ERROR")),
  ...mastodon(
    "media_processing_failed",
    500,
    errors("Error processing thumbnail for uploaded media"),
    "later",
  ),
  ...mastodon("media_rejected", 403, errors("Account size limit reached.")),
  ...[422, 500].flatMap((status) => [
    ...mastodon("feature_unsupported", status, [
      checked("visibility", "The selected visibility is invalid."),
    ]),
    ...mastodon("text_too_long", status, [
      checked("status", "The status may not be greater than 500 characters."),
    ]),
    ...mastodon("media_rejected", status, [
      checked("file", "The file may not be greater than 15000 kilobytes."),
      checked("file", "The file must be a file of type: image/jpeg, image/png."),
      checked("media_ids", "The media ids field is required."),
      checked("media_ids", "The media ids may not have more than 4 items."),
    ]),
  ]),
  ...mastodon("text_invalid", 400, [takahe("status", "field required")]),
  ...mastodon("outcome_unknown", 500, [{ message: "Server Error", errors: {} }]),
  ...mastodon("outcome_unknown", 500, errors("oops")),
  ...mastodon("outcome_unknown", 503, errors("Remote SSL certificate could not be verified")),
  ...mastodon("outcome_unknown", 200, ["ok"]),
  ...mastodon("rate_limited", 429, errors("Too many requests")),
];
