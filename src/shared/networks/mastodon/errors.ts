import * as z from "zod";
import type { Classified, ErrorRow } from "../classified.ts";
import { isHtml, noteOf, waitSeconds, withQuota } from "../classified.ts";
import type { HttpResponse } from "../network.ts";

interface PairRow extends ErrorRow {
  readonly status: number;
  readonly message: RegExp;
}

/** Told apart from the other refusals because the account's own posts must be looked at first. */
export const MEDIA_TAKEN = /not found or already attached/i;

/**
 * The API has no error codes, only a status and a sentence; every request asks for English ones.
 * Order matters: the first row whose sentence fits wins.
 */
const PAIRS: readonly PairRow[] = [
  {
    status: 403,
    message: /outside the authorized scopes/i,
    code: "permission_missing",
    effect: "refuse",
  },
  { status: 403, message: /action is not allowed/i, code: "content_rejected", effect: "refuse" },
  {
    status: 403,
    message: /login is currently disabled|confirmed e-?mail|pending approval|suspended/i,
    code: "account_restricted",
    effect: "refuse",
  },
  {
    status: 422,
    message: /not finished processing/i,
    code: "media_not_ready",
    effect: "prepare_again",
  },
  { status: 422, message: MEDIA_TAKEN, code: "outcome_unknown", effect: "doubt" },
  {
    status: 422,
    message: /character limit|text.*too long/i,
    code: "text_too_long",
    effect: "refuse",
  },
  { status: 422, message: /can'?t be blank/i, code: "text_invalid", effect: "refuse" },
  {
    status: 422,
    message:
      /cannot attach|content type|could not be verified|\bfile\b|\bvideos?\b|\bimages?\b|\bmedia\b|description/i,
    code: "media_rejected",
    effect: "refuse",
  },
  { status: 422, message: /language|spoiler|visibility/i, code: "text_invalid", effect: "refuse" },
  {
    status: 500,
    message: /error processing thumbnail/i,
    code: "media_processing_failed",
    effect: "later",
  },
];

const STATUSES: Readonly<Record<number, ErrorRow>> = {
  400: { code: "invalid_request", effect: "refuse" },
  401: { code: "connection_needs_reauth", effect: "refuse" },
  403: { code: "permission_missing", effect: "refuse" },
  404: { code: "network_unavailable", effect: "later" },
  405: { code: "network_unavailable", effect: "later" },
  410: { code: "connection_needs_reauth", effect: "refuse" },
  413: { code: "media_rejected", effect: "refuse", rule: "mastodon.media.size" },
  415: { code: "media_rejected", effect: "refuse", rule: "mastodon.media.type" },
  422: { code: "invalid_request", effect: "refuse" },
  429: { code: "rate_limited", effect: "later" },
};

const IN_DOUBT: ErrorRow = { code: "outcome_unknown", effect: "doubt" };

/** Compatible servers answer with a string, an object in an object, or nothing at all. */
const errorBody = z.union([
  z.string(),
  z.object({ error: z.string(), error_description: z.string().optional() }),
  z.object({ error: z.object({ message: z.string() }) }),
  z.object({ message: z.string() }),
]);

/** The network's own sentence, empty when there is none. */
export function errorText(response: HttpResponse): string {
  const { data: body } = errorBody.safeParse(response.json());
  if (body === undefined) return isHtml(response) ? "" : response.text().slice(0, 2000);
  if (typeof body === "string") return body;
  if ("message" in body) return body.message;
  return typeof body.error === "string"
    ? [body.error, "error_description" in body ? body.error_description : ""].join(" ").trim()
    : body.error.message;
}

/** What an answer that is not the wanted one means: by its sentence first, by the status last. */
export function classify(response: HttpResponse, now: Date): Classified {
  const text = errorText(response);
  const seconds = waitSeconds(response, ["retry-after", "x-ratelimit-reset"], now);
  const row = withQuota(rowOf(response, text), seconds);
  return {
    ...row,
    networkCode: `HTTP ${response.status}`,
    note: noteOf(text),
    // The reset header is on every answer; it means a wait only where the answer says so.
    retryAfterSeconds: response.status === 429 || response.status === 503 ? seconds : null,
  };
}

function rowOf(response: HttpResponse, text: string): ErrorRow {
  const { status } = response;
  // A proxy's page proves nothing, unless its status speaks of the request itself.
  if (isHtml(response) && status !== 413 && status !== 429) return IN_DOUBT;
  const pair = PAIRS.find((row) => row.status === status && row.message.test(text));
  return pair ?? STATUSES[status] ?? IN_DOUBT;
}
