import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import type { ClassifiedAnswer, ErrorRow, Signal, TableRow } from "../contract/answers.ts";
import { isProxyPage, noteOf, otherText, waitSeconds } from "../contract/answers.ts";
import { codes, errorTable, refusal, rowOf, rows, provenRefusal } from "../contract/answers.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";

const DUPLICATE = /\bduplicate of urn:li:(?:share|ugcPost|activity):\d+/i;
const POST_URN = /urn:li:(?:share|ugcPost|activity):\d+/;

// LinkedIn documents the codes (https://learn.microsoft.com/linkedin/shared/api-guide/concepts/error-handling), but not
// the order of its checks. So a refusal is a proof only if the request can't have reached the post: token, permission,
// version, method, size and form of the body (https://linkedin.github.io/rest.li/Validation-in-Rest_li, a filter before
// the resource), and an asset that has not arrived, for which clients repeat the post until it has.
const REAUTH = provenRefusal("connection_needs_reauth");
const PERMISSION = provenRefusal("permission_missing");
const TEXT = refusal("text_invalid");
const LONG_TEXT = refusal("text_too_long", { rule: "linkedin.text.length" });
const NOT_READY: ErrorRow = { code: "media_not_ready", effect: "prepare_again", isProof: true };
const BROKEN_FILE: ErrorRow = { code: "media_processing_failed", effect: "prepare_again" };
const OUR_FAULT = provenRefusal("app_misconfigured");
const OUR_MISTAKE = provenRefusal("invalid_request");
const APP_DAY = refusal("rate_limited", {
  isOfApp: true,
  rule: "linkedin.calls.appDay",
});
const DUPLICATE_POST = refusal("duplicate_content");
const file = (rule: string) => provenRefusal("media_rejected", { rule });
const IN_DOUBT: ErrorRow = { code: "network_unavailable", effect: "doubt" };

/** Replaces the missing code of a refusal that has no words either. */
const NO_WORDS = "";

/** "Organization permissions must be used", and since 2026 "Organization Or Events permissions must be used". */
const MISSING = /not enough permissions|\bpermissions? must be used\b/i;

/** The app's products don't have the API, for any account (https://github.com/PipedreamHQ/pipedream/issues/854). */
export const NO_API = /\bresource \S+ does not exist/i;

const TOO_LONG = /\btext length \(\d{1,9} characters\) exceeded\b/i;

function refusals(meaning: ErrorRow, message: RegExp): TableRow[] {
  return rows(meaning, { status: 400, message }, { status: 422, message });
}

/**
 * The codes and messages of the posts and media APIs. The codes of tokens are not included, because they are used in so
 * many ways that every 401 is treated the same.
 */
export const ERRORS = errorTable([
  // The field names a card's title or another part. Without it, the codes are about the text.
  ...rows(TEXT, { code: "FIELD_LENGTH_TOO_LONG", field: /^content\b/ }),
  ...codes(LONG_TEXT, "FIELD_LENGTH_TOO_LONG"),
  // "ShareCommentary text length (8694 characters) exceeded the maximum allowed (3000 characters)", of the text that an
  // array's code is about (https://github.com/n8n-io/n8n/issues/22899).
  ...rows(LONG_TEXT, { code: "FIELD_ARRAY_SIZE_TOO_HIGH", message: TOO_LONG }),
  ...refusals(LONG_TEXT, TOO_LONG),
  ...codes(TEXT, "INVALID_VALUE_BLANK_FIELD"),
  // A field of the request that the app's products don't cover, for any account
  // (https://github.com/artesaos/laravel-linkedin/issues/20).
  ...["ACCESS_DENIED", "100"].flatMap((code) =>
    rows(OUR_FAULT, { code, message: /unpermitted fields/i }),
  ),
  // The post has another author: an account may not remove it.
  ...refusals(refusal("permission_missing"), /\bINVALID_CONTENT_OWNERSHIP\b/),
  ...codes(refusal("permission_missing"), "INVALID_CONTENT_OWNERSHIP"),
  // 100 is used when there is no other code.
  ...codes(PERMISSION, "ACCESS_DENIED", "100"),
  ...codes(DUPLICATE_POST, "DUPLICATE_POST"),
  ...codes(NOT_READY, "MEDIA_ASSET_WAITING_UPLOAD"),
  ...codes(BROKEN_FILE, "MEDIA_ASSET_PROCESSING_FAILED", "EXPIRED_UPLOAD_URL"),
  ...codes(refusal("invalid_request"), "INVALID_URN_TYPE", "INVALID_URN_ID"),
  ...codes(OUR_MISTAKE, "MISSING_FIELD"),
  ...codes(OUR_MISTAKE, "PARAM_INVALID", "QUERY_PARAM_NOT_ALLOWED", "ILLEGAL_ARGUMENT"),
  ...codes(OUR_FAULT, "NONEXISTENT_VERSION", "VERSION_MISSING"),
  ...refusals(DUPLICATE_POST, DUPLICATE),
  ...refusals(BROKEN_FILE, /processing failed/i),
  ...refusals(NOT_READY, /waiting upload|(?:still|being) process/i),
  ...refusals(IN_DOUBT, /unable to obtain activity|service unavailable/i),
  ...rows(OUR_FAULT, {
    status: 400,
    message: /version.*(?:not active|deprecated|must be present)/i,
  }),
  ...[400, 403].flatMap((status) => rows(PERMISSION, { status, message: MISSING })),
  ...rows(OUR_FAULT, { status: 404, message: NO_API }),
  ...rows(refusal("quota_exceeded"), { status: 429, message: /\bMEMBER DAY\b/i }),
  // https://learn.microsoft.com/linkedin/shared/api-guide/concepts/rate-limits: reset at midnight UTC, for all members.
  ...rows(APP_DAY, { status: 429, message: /\bAPPLICATION DAY\b/i }),
  ...rows(REAUTH, { status: 401 }),
  // https://github.com/PipedreamHQ/pipedream/issues/21101
  ...rows(refusal("permission_missing"), { status: 403, code: NO_WORDS }),
  ...rows(IN_DOUBT, { status: 408 }, { status: 409 }),
  ...rows(file("linkedin.media.size"), { status: 413 }),
  ...rows(file("linkedin.media.type"), { status: 415 }),
  // A method or a length that the API doesn't accept.
  ...rows(OUR_MISTAKE, { status: 405 }, { status: 411 }),
  ...rows(OUR_FAULT, { status: 426 }),
  ...rows(
    {
      code: "rate_limited",
      effect: "later",
      rule: "linkedin.calls.limited",
    },
    { status: 429 },
  ),
]);

const inputError = objectShape(() => ({
  code: lenient(z.string()),
  input: lenient(z.object({ inputPath: z.object({ fieldPath: z.string() }) })),
}));
const errorBody = objectShape(() => ({
  code: lenient(z.string()),
  serviceErrorCode: lenient(z.number()),
  message: lenient(z.string(), ""),
  errorDetails: lenient(z.object({ inputErrors: lenient(lenientList(inputError()), []) })),
}));

interface Complaint {
  readonly code: string | undefined;
  /** Field of the request, if the answer names one. */
  readonly field: string;
  readonly message: string;
}

function complaintOf(response: HttpResponse): Complaint {
  const body = errorBody().safeParse(response.json()).data;
  if (body === undefined) return { code: undefined, field: "", message: otherText(response) };
  const { code, serviceErrorCode, message, errorDetails } = body;
  const [detail] = errorDetails?.inputErrors ?? [];
  const named = code ?? detail?.code ?? serviceErrorCode?.toString();
  return { code: named, field: detail?.input?.inputPath.fieldPath ?? "", message };
}

export function duplicateUrn(response: HttpResponse): string | undefined {
  const said = DUPLICATE.exec(complaintOf(response).message)?.[0] ?? "";
  return POST_URN.exec(said)?.[0];
}

/** Returns the meaning of an unexpected answer. Structured fields decide first, the status last. */
export function classify(response: HttpResponse, now: Date): ClassifiedAnswer {
  const complaint = complaintOf(response);
  const seconds = secondsToWait(response, complaint, now);
  const row = isProxyPage(response)
    ? IN_DOUBT
    : rowOf(ERRORS, signalOf(response, complaint), IN_DOUBT);
  return {
    ...row,
    networkCode: complaint.code ?? `HTTP ${response.status}`,
    note: noteOf(complaint.message),
    retryAfterSeconds: seconds,
  };
}

/** Returns the signal of an answer. Only the words of a refusal count; a server that failed may say anything. */
function signalOf({ status }: HttpResponse, { code, field, message }: Complaint): Signal {
  const isStated = status >= 400 && status < 500 && status !== 401;
  const named = code ?? (message === "" ? NO_WORDS : undefined);
  return { status, code: isStated ? named : undefined, field, message };
}

/** Returns the seconds to wait. Daily limits, for which an answer names no time, are reset at midnight UTC. */
function secondsToWait(response: HttpResponse, { message }: Complaint, now: Date): number | null {
  const stated = waitSeconds(response, ["retry-after"], now);
  if (stated !== null || response.status !== 429 || !/\bDAY\b/.test(message)) return stated;
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
  return Math.ceil((midnight - now.getTime()) / 1000);
}
