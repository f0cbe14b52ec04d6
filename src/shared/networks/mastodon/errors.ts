import { objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import type { ClassifiedAnswer, ErrorRow, TableRow } from "../contract/answers.ts";
import {
  lostFile,
  frontRow,
  isChallenge,
  isElsewhere,
  isHtml,
  isProxyPage,
  noteOf,
  otherText,
  rowWithWait,
} from "../contract/answers.ts";
import { codes, errorTable, refusal, rowOf, rows, provenRefusal } from "../contract/answers.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";

/** A separate refusal: the account's own posts are checked first. Messages of Mastodon, GoToSocial and Pixelfed. */
export const MEDIA_TAKEN =
  /not found or already attached|\bmedia (?:not found|already attached)|invalid media[ _]ids?/i;

const IN_DOUBT: ErrorRow = { code: "outcome_unknown", effect: "doubt" };
// What proves that no status was made, by https://github.com/mastodon/mastodon: the account and the scopes are checked
// before anything else (`app/controllers/api/base_controller.rb`), files before the status is made
// (`app/services/post_status_service.rb`, `validate_media!`), its text by the model that saves it, and rates before the
// app (`config/initializers/rack_attack.rb`). Pixelfed refuses an empty status before it makes one (`statusCreate` in
// `app/Http/Controllers/Api/ApiV1Controller.php`). Sentences without a source may come after the post was made.
const RESTRICTED = provenRefusal("account_restricted");
const PERMISSION = provenRefusal("permission_missing");
/** How servers say that a request has no valid token. */
const NO_USER =
  /invalid (?:credentials|(?:access[ _])?token)|unauthenticated|not (?:authenticated|logged in)|requires? (?:an authenticated user|authentication|log-?in)|access token (?:is|was|has) (?:invalid|expired|revoked)/i;
const FILE_WANTED = provenRefusal("media_rejected", { rule: "mastodon.media.required" });
const ALT_TEXT_WANTED = provenRefusal("media_rejected", { rule: "mastodon.altText.required" });
const ALT_TEXT_REFUSED = provenRefusal("media_rejected", { rule: "mastodon.altText.refused" });
const TEXT_LENGTH = "mastodon.text.length";
const LONG_TEXT = provenRefusal("text_too_long", { rule: TEXT_LENGTH });
const NO_CONTENT = provenRefusal("text_invalid", { rule: "mastodon.content.empty" });
const FILE_TYPE = "mastodon.media.type";
const TOO_LARGE = provenRefusal("media_rejected", { rule: "mastodon.media.size" });
const TOO_MANY_FILES = provenRefusal("media_rejected", { rule: "mastodon.media.count" });
const NOT_PERMITTED = refusal("account_restricted", { rule: "mastodon.account.notPermitted" });
const FAULT = /\bcannot read propert(?:y|ies) of (?:undefined|null)\b|\bis not a function\b/i;
const REFUSED_FILE = /could not be verified|\bfiles?\b|\bvideos?\b|\bimages?\b|\bmedia\b/i;

const FULL = provenRefusal("media_rejected", { rule: "mastodon.account.full" });
const NO_VISIBILITY = provenRefusal("feature_unsupported", {
  rule: "mastodon.visibility.unsupported",
});
const ARRIVED_EMPTY = lostFile("mastodon");

/** A server that accepts no post without a text, also where it has a file. */
const TEXT_WANTED = "mastodon.text.required";

function sentence(status: number, message: RegExp, meaning: ErrorRow): TableRow {
  return { signal: { status, message }, ...meaning };
}

/** Makes the row of a field of the form that a server names (`refusedField`). */
function named(field: RegExp, message: RegExp, meaning: ErrorRow): TableRow {
  return { signal: { status: CHECKED, field, message }, ...meaning };
}

/** The status that servers use for a form that does not pass their checks. */
const CHECKED = 422;
const ANY = /^/;

/**
 * The API has no error codes, only a status and a sentence. Every request asks for English ones. The first row whose
 * sentence fits wins.
 */
export const ERRORS = errorTable([
  // A field of the form, checked before anything is made: `statusCreate` and `mediaUpload` of Pixelfed
  // (`app/Http/Controllers/Api/ApiV1Controller.php`), and the schemas of Takahē (`api/views/statuses.py`).
  named(/^visibility$/, ANY, NO_VISIBILITY),
  named(/^status$/, /required|blank|empty/i, provenRefusal("text_invalid", { rule: TEXT_WANTED })),
  named(/^status$/, /greater than|at most|too long/i, LONG_TEXT),
  named(/^(?:status|spoiler_text|language)$/, ANY, provenRefusal("text_invalid")),
  named(/^media_ids\b/, /required/i, FILE_WANTED),
  named(/^media_ids\b/, /more than|at most/i, TOO_MANY_FILES),
  named(/^file\b/, /kilobytes/i, TOO_LARGE),
  named(/^file\b/, /required/i, ARRIVED_EMPTY),
  named(/^file\b/, ANY, provenRefusal("media_rejected", { rule: FILE_TYPE })),
  // Pixelfed's: https://github.com/cheeaun/phanpy/issues/502, https://github.com/technicat/fedicat/issues/772
  sentence(403, /empty statuses are not allowed/i, FILE_WANTED),
  sentence(422, /media ids field is required/i, FILE_WANTED),
  // Scopes: Mastodon's own sentence, Pleroma's "Insufficient permissions", GoToSocial's "insufficient scope", Pixelfed's
  // "Invalid scope(s)". Every server checks them before anything else.
  sentence(403, /\bscopes?\b|\bscope\(s\)|insufficient[ _](?:permissions?|scope)/i, PERMISSION),
  // A request without a user: Pleroma knows no 401 (`ensure_authenticated_plug.ex` in `lib/pleroma/web/plugs`). Mastodon
  // says the last of a token of no user (`require_user!` in `app/controllers/api/base_controller.rb`).
  ...[400, 403, 422].map((status) =>
    sentence(status, NO_USER, provenRefusal("connection_needs_reauth")),
  ),
  // Pixelfed's, at the upload: https://github.com/pixelfed/pixelfed/issues/4845.
  ...[403, 422].map((status) => sentence(status, /(?:account size|storage) limit/i, FULL)),
  // Mastodon's for what an account may not do (https://docs.joinmastodon.org/entities/Error).
  sentence(403, /action is not allowed/i, NOT_PERMITTED),
  // GoToSocial's, for each call of such an account (`internal/middleware` and `internal/api/util` check it first).
  sentence(403, /account (?:has|is currently|is) mov(?:ed|ing)/i, {
    ...RESTRICTED,
    rule: "mastodon.account.moved",
  }),
  sentence(403, /confirmed e-?mail/i, { ...RESTRICTED, rule: "mastodon.account.unconfirmed" }),
  sentence(403, /pending approval/i, { ...RESTRICTED, rule: "mastodon.account.awaitingApproval" }),
  // Pleroma's, at the token endpoint: `handle_token_exchange_error` in `lib/pleroma/web/o_auth/o_auth_controller.ex`.
  sentence(403, /awaiting approval/i, { ...RESTRICTED, rule: "mastodon.account.awaitingApproval" }),
  sentence(403, /password reset is required/i, {
    ...RESTRICTED,
    rule: "mastodon.account.passwordReset",
  }),
  sentence(403, /(?:login|account) is (?:currently )?disabled|suspended/i, RESTRICTED),
  sentence(422, /not finished processing/i, {
    code: "media_not_ready",
    effect: "prepare_again",
    isProof: true,
  }),
  ...[400, 403, 422].map((status) => sentence(status, MEDIA_TAKEN, IN_DOUBT)),
  sentence(422, /character limit/i, LONG_TEXT),
  sentence(422, /text.*too long/i, refusal("text_too_long", { rule: TEXT_LENGTH })),
  // Servers check the upload's form so when the file did not arrive.
  sentence(422, /\bfile can'?t be blank/i, ARRIVED_EMPTY),
  sentence(422, /can'?t be blank/i, provenRefusal("text_invalid", { rule: TEXT_WANTED })),
  // A server's own check (https://github.com/cquest/tootbot/issues/9), by the model that saves the status, too.
  sentence(422, /validation failed: text\b/i, provenRefusal("text_invalid")),
  sentence(422, /cannot attach more than/i, TOO_MANY_FILES),
  sentence(
    422,
    /cannot attach a video/i,
    provenRefusal("media_rejected", { rule: "mastodon.media.mixed" }),
  ),
  sentence(422, /cannot attach/i, provenRefusal("media_rejected")),
  // Pleroma's, checked before a post is made (`validate_character_limit`, `validate_attachments_count` in
  // `lib/pleroma/web/common_api/utils.ex`). It sometimes answers 400 for its own failures
  // (https://github.com/technicat/fedicat/issues/859).
  sentence(422, /empty status without attachments/i, NO_CONTENT),
  sentence(422, /too many attachments/i, TOO_MANY_FILES),
  // A rule of the server, named first: "[KeywordPolicy] Matches with rejected keyword" (`lib/pleroma/web/activity_pub/mrf`).
  // Rules are asked before a post is stored (`do_common_pipeline` in `lib/pleroma/web/activity_pub/pipeline.ex`).
  sentence(422, /^\[\w+policy\]/i, provenRefusal("content_rejected")),
  sentence(400, /internal server error/i, IN_DOUBT),
  // "Validation failed: Description is too long (maximum is 1500 characters)" (`app/models/media_attachment.rb`).
  sentence(422, /description/i, ALT_TEXT_REFUSED),
  // "Validation failed: File file size must be less than 8 MB" (https://github.com/mastodon/mastodon/issues/6949).
  sentence(422, /file size must be less than|file is too (?:large|big)/i, TOO_LARGE),
  sentence(422, /content type/i, refusal("media_rejected", { rule: FILE_TYPE })),
  // "9999x9999 images are not supported" and "144fps videos are not supported" (`app/models/media_attachment.rb`).
  sentence(
    422,
    /\dx\d{1,9} images are not supported/i,
    refusal("media_rejected", { rule: "mastodon.media.pixels" }),
  ),
  sentence(
    422,
    /\dfps videos are not supported/i,
    refusal("media_rejected", { rule: "mastodon.media.frameRate" }),
  ),
  sentence(422, REFUSED_FILE, refusal("media_rejected")),
  sentence(422, /language|spoiler|visibility/i, refusal("text_invalid")),
  sentence(500, /error processing thumbnail/i, {
    code: "media_processing_failed",
    effect: "later",
  }),
  // GoToSocial's (`internal/processing/status/common.go`), Iceshrimp's and Pixelfed's, checked before a post is made.
  sentence(400, /exceed max chars/i, LONG_TEXT),
  // A limit next to the number of characters, in whatever words: GoToSocial's "status too long, 6000 characters provided
  // but limit is 5000".
  ...[400, 403, 422].map((status) =>
    sentence(
      status,
      /(?:status|text|post|note) (?:is )?too long|characters provided but limit/i,
      LONG_TEXT,
    ),
  ),
  sentence(400, /no text, media or poll|must have text, media or poll/i, NO_CONTENT),
  sentence(400, /media description less than/i, ALT_TEXT_WANTED),
  sentence(400, /media files exceed max/i, TOO_MANY_FILES),
  sentence(400, /media description exceeds max|description length/i, ALT_TEXT_REFUSED),
  // At the upload (`validateCreateMedia` in `internal/api/client/media/mediacreate.go`), where Mastodon answers 413:
  // https://github.com/robertoszek/pleroma-bot/issues/115.
  sentence(400, /size limit exceeded/i, TOO_LARGE),
  sentence(400, /duplicate idempotency key/i, IN_DOUBT),
  // Errors that a fork of Misskey got from its own API, with any status (`ApiCallService.ts` and
  // `endpoints/notes/create.ts` in `packages/backend/src/server/api` of misskey-dev/misskey).
  ...codes(
    provenRefusal("connection_needs_reauth"),
    "CREDENTIAL_REQUIRED",
    "AUTHENTICATION_FAILED",
  ),
  ...codes(provenRefusal("permission_missing"), "PERMISSION_DENIED"),
  ...codes(RESTRICTED, "YOUR_ACCOUNT_SUSPENDED"),
  ...codes({ code: "rate_limited", effect: "later", isProof: true }, "RATE_LIMIT_EXCEEDED"),
  ...codes(NO_CONTENT, "CONTENT_REQUIRED"),
  ...codes(provenRefusal("invalid_request"), "INVALID_PARAM"),
  ...codes(IN_DOUBT, "INTERNAL_ERROR"),
  // A fault of the server's own program, under any status (https://github.com/TootSDK/TootSDK/issues/314).
  ...[400, 401, 403, 422].map((status) => sentence(status, FAULT, IN_DOUBT)),
  ...rows(provenRefusal("connection_needs_reauth"), { status: 401 }),
  ...rows(IN_DOUBT, { status: 408 }),
  ...rows(TOO_LARGE, { status: 413 }),
  ...rows(refusal("media_rejected", { rule: FILE_TYPE }), { status: 415 }),
  ...rows({ code: "rate_limited", effect: "later", isProof: true }, { status: 429 }),
  // The server does not have the call at all (RFC 9110, 15.6.2): https://github.com/friendica/friendica/issues/7863.
  ...rows(refusal("feature_unsupported"), { status: 501 }),
]);

/**
 * Compatible servers answer with a string, an object in an object, or nothing. Iceshrimp.NET has the name of the status
 * in `error` and the sentence next to it (https://github.com/eramdam/tokimeki-mastodon/issues/14).
 */
const errorBody = objectShape(() => ({
  error: lenient(z.union([z.string(), z.object({ message: z.string() }).transform(messageOf)])),
  error_description: lenient(z.string()),
  message: lenient(z.string()),
}));
const messageOf = ({ message }: { message: string }) => message;

const codedBody = objectShape(() => ({ error: z.object({ code: z.string() }) }));

const checkedBody = objectShape(() => ({
  // Laravel's, in Pixelfed.
  errors: lenient(z.record(z.string(), z.tuple([z.string()], z.unknown()))),
  // Django's with Pydantic, in Takahē: the field is the last part of its place.
  error_details: lenient(
    z.tuple([z.object({ loc: z.array(z.string()), msg: z.string() })], z.unknown()),
  ),
}));

/** Returns the field of the form that did not pass a server's checks, and what is wrong with it. */
function refusedField(
  response: HttpResponse,
): { readonly field: string; readonly message: string } | undefined {
  if (response.status < 400) return undefined;
  const { errors, error_details } = checkedBody().safeParse(response.json()).data ?? {};
  const [[field, [message]] = ["", [""]]] = Object.entries(errors ?? {});
  if (field !== "") return { field, message };
  const [{ loc, msg } = { loc: [], msg: "" }] = error_details ?? [];
  const last = loc.at(-1);
  return last === undefined ? undefined : { field: last, message: msg };
}

/** Reports whether a server fails. One that does not have a call says so with 501 (RFC 9110, 15.6.2). */
export function isOutage({ status }: HttpResponse): boolean {
  return status >= 500 && status !== 501;
}

/** Laravel's whole sentence for a request without a valid token. */
const NO_LOG_IN = /^\s*unauthenticated\.?\s*$/i;
/** The status that stands for a request without a valid token. */
const UNAUTHORIZED = 401;

/**
 * Returns the status that an answer stands for. Pixelfed answers 500 with the checks that a form did not pass
 * (https://github.com/pixelfed/pixelfed/issues/4789), and with that it accepts no token, which it checks before anything
 * else (https://github.com/pixelfed/pixelfed/issues/5613).
 */
export function meantStatus(response: HttpResponse): number {
  if (leadsToLogIn(response)) return UNAUTHORIZED;
  if (refusedField(response) !== undefined) return CHECKED;
  const isFailure = response.status >= 500 && !isHtml(response);
  return isFailure && NO_LOG_IN.test(errorText(response)) ? UNAUTHORIZED : response.status;
}

/** A login page's address: Pixelfed's, and those of other programs. */
const LOG_IN_PATH = /\/(?:log|sign)[-_]?in\/?$/i;

/**
 * Reports whether a server leads a program to its page for people to log in, which Pixelfed does with a token that has
 * expired, before anything else (https://github.com/halcy/Mastodon.py/issues/436).
 */
function leadsToLogIn({ status, headers }: HttpResponse): boolean {
  if (status < 300 || status >= 400) return false;
  const [path = ""] = (headers["location"] ?? "").split(/[?#]/, 1);
  return LOG_IN_PATH.test(path);
}

/** Returns the network's own sentence, or "". */
export function errorText(response: HttpResponse): string {
  const body: unknown = response.json();
  if (typeof body === "string") return body;
  const { error, error_description, message } = errorBody().safeParse(body).data ?? {};
  const said = [error, error_description, message].filter(Boolean).join(" ");
  return (said || otherText(response)).replaceAll(UNDERSCORE, " ");
}

/**
 * Between the words of a name, such as Pleroma's "file_too_large" (`lib/pleroma/upload.ex`). Spaces make it a sentence in
 * which patterns find words.
 */
const UNDERSCORE = /(?<=[a-z])_(?=[a-z])/gi;

/** Friendica's page for a token that it doesn't accept (https://github.com/friendica/friendica/issues/14840). */
const OWN_PAGE = /this api requires login/i;

/** Returns the code of a fork of Misskey, which passes on its own API's error. Its status is always 401. */
function errorCode(response: HttpResponse): string | undefined {
  return codedBody().safeParse(response.json()).data?.error.code;
}

/** Returns the meaning of an unexpected answer. Its code or sentence decides first, the status last. */
export function classify(response: HttpResponse, now: Date): ClassifiedAnswer {
  const text = errorText(response);
  const code = errorCode(response);
  // A status that comes with any code proves nothing by itself.
  const status = code !== undefined && response.status === 401 ? 400 : meantStatus(response);
  const { field = "", message = text } = refusedField(response) ?? {};
  const isOwn = leadsToLogIn(response) || OWN_PAGE.test(response.text().slice(0, 2000));
  const isOfFront = isProxyPage(response) || isElsewhere(response);
  const row =
    (isOfFront && !isOwn) || isChallenge(response)
      ? frontRow("mastodon", response, IN_DOUBT)
      : rowOf(ERRORS, { status, code, field, message }, IN_DOUBT);
  return {
    ...rowWithWait(row, response, "x-ratelimit-reset", now),
    networkCode: code ?? `HTTP ${response.status}`,
    note: noteOf(field === "" ? text : `${field}: ${message}`),
  };
}
