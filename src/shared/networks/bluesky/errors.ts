import * as z from "zod";
import type { Classified, ErrorRow } from "../classified.ts";
import { isHtml, noteOf, waitSeconds, withQuota } from "../classified.ts";
import type { HttpResponse } from "../network.ts";

interface PairRow extends ErrorRow {
  readonly error: string;
  readonly message: RegExp;
}

/** An error and its message: first, because the errors alone say less. */
const PAIRS: readonly PairRow[] = [
  {
    error: "InvalidRequest",
    message: /could not find blob|blob.*not found/i,
    code: "media_processing_failed",
    effect: "prepare_again",
  },
  {
    error: "InvalidRequest",
    message: /grapheme|too (?:big|long).*\btext$|\btext\b.*(?:longer than|too (?:big|long))/i,
    code: "text_too_long",
    effect: "refuse",
  },
  {
    error: "InvalidRequest",
    message: /record:.*\b(?:embed|images?|video|thumb|items|blob)\b/i,
    code: "media_rejected",
    effect: "refuse",
  },
  {
    error: "InvalidRequest",
    message: /record:.*\b(?:text|facets?)\b/i,
    code: "text_invalid",
    effect: "refuse",
  },
];

/** https://atproto.com/specs/xrpc#error-responses and the errors of the reference server. */
const CODES: Readonly<Record<string, ErrorRow>> = {
  // Of an access token, and a 400: whether the session as such has ended is told when it is renewed.
  ExpiredToken: { code: "network_unavailable", effect: "at_once" },
  InvalidToken: { code: "network_unavailable", effect: "at_once" },
  AuthMissing: { code: "connection_needs_reauth", effect: "refuse" },
  AuthenticationRequired: { code: "connection_needs_reauth", effect: "refuse" },
  AuthFactorTokenRequired: { code: "connection_needs_reauth", effect: "refuse" },
  RepoNotFound: { code: "connection_needs_reauth", effect: "refuse" },
  AccountTakedown: { code: "account_restricted", effect: "refuse" },
  AccountSuspended: { code: "account_restricted", effect: "refuse" },
  AccountDeactivated: { code: "account_restricted", effect: "refuse" },
  RepoTakendown: { code: "account_restricted", effect: "refuse" },
  RepoSuspended: { code: "account_restricted", effect: "refuse" },
  RepoDeactivated: { code: "account_restricted", effect: "refuse" },
  UploadForbidden: { code: "account_restricted", effect: "refuse" },
  ScopeMissingError: { code: "permission_missing", effect: "refuse" },
  InsufficientScope: { code: "permission_missing", effect: "refuse" },
  RateLimitExceeded: { code: "rate_limited", effect: "later" },
  // Uploads that no record refers to are thrown away after a while.
  BlobNotFound: { code: "media_processing_failed", effect: "prepare_again" },
  InvalidMimeType: { code: "media_rejected", effect: "prepare_again" },
  InvalidSize: { code: "media_rejected", effect: "prepare_again" },
  PayloadTooLarge: { code: "media_rejected", effect: "refuse", rule: "bluesky.media.size" },
  UnsupportedContentType: { code: "media_rejected", effect: "refuse" },
  VideoTooLarge: { code: "media_rejected", effect: "refuse", rule: "bluesky.media.size" },
  VideoTooLong: { code: "media_rejected", effect: "refuse" },
  BadAspectRatio: { code: "media_rejected", effect: "refuse" },
  DailyLimitExceeded: { code: "quota_exceeded", effect: "refuse" },
  ServiceOverloaded: { code: "network_unavailable", effect: "later" },
  // Someone wrote under our key: only the record itself tells who.
  InvalidSwap: { code: "outcome_unknown", effect: "doubt" },
  InvalidRequest: { code: "invalid_request", effect: "refuse" },
};

const STATUSES: Readonly<Record<number, ErrorRow>> = {
  400: { code: "invalid_request", effect: "refuse" },
  401: { code: "connection_needs_reauth", effect: "refuse" },
  403: { code: "permission_missing", effect: "refuse" },
  404: { code: "network_unavailable", effect: "later" },
  408: { code: "outcome_unknown", effect: "doubt" },
  413: { code: "media_rejected", effect: "refuse", rule: "bluesky.media.size" },
  429: { code: "rate_limited", effect: "later" },
};

const IN_DOUBT: ErrorRow = { code: "outcome_unknown", effect: "doubt" };

const errorBody = z.object({ error: z.string(), message: z.string().optional() });

/** The XRPC error of an answer, or undefined when it is none of the network's own. */
export function xrpcError(response: HttpResponse): z.infer<typeof errorBody> | undefined {
  const parsed = errorBody.safeParse(response.json());
  return parsed.success ? parsed.data : undefined;
}

/** What an answer that is not the wanted one means. Read by the structured fields first, by the status last. */
export function classify(response: HttpResponse, now: Date): Classified {
  const body = xrpcError(response);
  const seconds = waitSeconds(response, ["retry-after", "ratelimit-reset"], now);
  const row = withQuota(rowOf(response, body), seconds);
  const text = body === undefined ? response.text().slice(0, 2000) : (body.message ?? "");
  return {
    ...row,
    networkCode: body?.error ?? `HTTP ${response.status}`,
    note: noteOf(text),
    // The reset header is on every answer; it means a wait only where the answer says so.
    retryAfterSeconds: response.status === 429 || response.status === 503 ? seconds : null,
  };
}

function rowOf(
  response: HttpResponse,
  body: { error: string; message?: string | undefined } | undefined,
): ErrorRow {
  if (body === undefined) {
    // A proxy's page proves nothing, unless its status speaks of the request itself.
    const isProxyPage = isHtml(response) && response.status !== 413 && response.status !== 429;
    return isProxyPage ? IN_DOUBT : (STATUSES[response.status] ?? IN_DOUBT);
  }
  if (response.status >= 500) return IN_DOUBT;
  const { error, message = "" } = body;
  const pair = PAIRS.find((row) => row.error === error && row.message.test(message));
  return pair ?? CODES[error] ?? STATUSES[response.status] ?? IN_DOUBT;
}
