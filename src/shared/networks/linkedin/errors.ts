import * as z from "zod";
import type { Classified, ErrorRow } from "../classified.ts";
import { isHtml, noteOf, waitSeconds } from "../classified.ts";
import type { HttpResponse } from "../network.ts";

/**
 * The codes of the posts and media APIs. A token's codes are not among them: they are used in so many ways that every
 * 401 is taken for the same.
 */
const CODES: Readonly<Record<string, ErrorRow>> = {
  ACCESS_DENIED: { code: "permission_missing", effect: "refuse" },
  DUPLICATE_POST: { code: "duplicate_content", effect: "refuse" },
  FIELD_LENGTH_TOO_LONG: { code: "text_too_long", effect: "refuse" },
  INVALID_VALUE_BLANK_FIELD: { code: "text_invalid", effect: "refuse" },
  MEDIA_ASSET_WAITING_UPLOAD: { code: "media_not_ready", effect: "prepare_again" },
  MEDIA_ASSET_PROCESSING_FAILED: { code: "media_processing_failed", effect: "prepare_again" },
  EXPIRED_UPLOAD_URL: { code: "media_processing_failed", effect: "prepare_again" },
  NONEXISTENT_VERSION: { code: "app_misconfigured", effect: "refuse" },
  VERSION_MISSING: { code: "app_misconfigured", effect: "refuse" },
};

/** A code that says too little without the field that it is about. */
const FIELDS: readonly (ErrorRow & { readonly networkCode: string; readonly field: RegExp })[] = [
  {
    networkCode: "FIELD_LENGTH_TOO_LONG",
    field: /^content\b/,
    code: "text_invalid",
    effect: "refuse",
  },
  {
    networkCode: "INVALID_VALUE_BLANK_FIELD",
    field: /^content\b/,
    code: "text_invalid",
    effect: "refuse",
  },
];

const DUPLICATE = /\bduplicate of urn:li:(?:share|ugcPost|activity):\d+/i;
const POST_URN = /urn:li:(?:share|ugcPost|activity):\d+/;

/** For answers whose code says nothing. The first row whose words fit wins. */
const MESSAGES: readonly (ErrorRow & { readonly statuses: readonly number[]; words: RegExp })[] = [
  { statuses: [400, 422], words: DUPLICATE, code: "duplicate_content", effect: "refuse" },
  {
    statuses: [400, 422],
    words: /processing failed/i,
    code: "media_processing_failed",
    effect: "prepare_again",
  },
  {
    statuses: [400, 422],
    words: /waiting upload|(?:still|being) process/i,
    code: "media_not_ready",
    effect: "prepare_again",
  },
  {
    statuses: [400, 422],
    words: /unable to obtain activity|service unavailable/i,
    code: "network_unavailable",
    effect: "doubt",
  },
  {
    statuses: [400, 426],
    words: /version.*(?:not active|deprecated|must be present)/i,
    code: "app_misconfigured",
    effect: "refuse",
  },
  { statuses: [429], words: /\bMEMBER DAY\b/i, code: "quota_exceeded", effect: "refuse" },
];

const STATUSES: Readonly<Record<number, ErrorRow>> = {
  400: { code: "invalid_request", effect: "refuse" },
  401: { code: "connection_needs_reauth", effect: "refuse" },
  403: { code: "permission_missing", effect: "refuse" },
  404: { code: "network_unavailable", effect: "later" },
  413: { code: "media_rejected", effect: "refuse", rule: "linkedin.media.size" },
  415: { code: "media_rejected", effect: "refuse", rule: "linkedin.media.type" },
  422: { code: "invalid_request", effect: "refuse" },
  426: { code: "app_misconfigured", effect: "refuse" },
  429: { code: "rate_limited", effect: "later" },
};

const IN_DOUBT: ErrorRow = { code: "network_unavailable", effect: "doubt" };

const inputError = z.object({
  code: z.string().optional().catch(undefined),
  input: z
    .object({ inputPath: z.object({ fieldPath: z.string() }) })
    .transform(({ inputPath }) => inputPath.fieldPath)
    .catch(""),
});
const errorBody = z.object({
  code: z.string().optional().catch(undefined),
  serviceErrorCode: z.number().optional().catch(undefined),
  message: z.string().catch(""),
  errorDetails: z.object({ inputErrors: z.array(inputError) }).catch({ inputErrors: [] }),
});

interface Complaint {
  readonly code: string | undefined;
  /** Of the request, where the answer names one. */
  readonly field: string;
  readonly message: string;
}

function complaintOf(response: HttpResponse): Complaint {
  const body = errorBody.safeParse(response.json()).data;
  if (body === undefined) {
    const message = isHtml(response) ? "" : response.text().slice(0, 2000);
    return { code: undefined, field: "", message };
  }
  const { code, serviceErrorCode, message, errorDetails } = body;
  const [detail] = errorDetails.inputErrors;
  const named = code ?? detail?.code ?? serviceErrorCode?.toString();
  return { code: named, field: detail?.input ?? "", message };
}

/** The post that this one repeats, as the answer names it. */
export function duplicateUrn(response: HttpResponse): string | undefined {
  const said = DUPLICATE.exec(complaintOf(response).message)?.[0] ?? "";
  return POST_URN.exec(said)?.[0];
}

/** What an answer that is not the wanted one means. Read by the structured fields first, by the status last. */
export function classify(response: HttpResponse, now: Date): Classified {
  const complaint = complaintOf(response);
  return {
    ...rowOf(response, complaint),
    networkCode: complaint.code ?? `HTTP ${response.status}`,
    note: noteOf(complaint.message),
    retryAfterSeconds: waitSeconds(response, ["retry-after"], now),
  };
}

function rowOf(response: HttpResponse, complaint: Complaint): ErrorRow {
  const { status } = response;
  const byStatus = STATUSES[status] ?? IN_DOUBT;
  // A proxy's page proves nothing, unless its status speaks of the request itself.
  if (isHtml(response)) return status === 413 || status === 429 ? byStatus : IN_DOUBT;
  if (status === 401) return byStatus;
  return status >= 400 && status < 500 ? (complaintRow(status, complaint) ?? byStatus) : IN_DOUBT;
}

function complaintRow(status: number, complaint: Complaint): ErrorRow | undefined {
  const { code = "", field, message } = complaint;
  return (
    FIELDS.find((row) => row.networkCode === code && row.field.test(field)) ??
    CODES[code] ??
    MESSAGES.find((row) => row.statuses.includes(status) && row.words.test(message))
  );
}
