import type { LegErrorCode } from "./errors.ts";
import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import type { LegFailure, NetworkTools, Rejected, TryLater } from "./network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";

/**
 * What an answer means for the leg: `refuse` and `later` say that nothing was published; `at_once` too, and that fresh
 * credentials cure it; `prepare_again` that an upload is gone; `doubt` that the answer proves nothing.
 */
type Effect = "refuse" | "later" | "at_once" | "prepare_again" | "doubt";

/** What a signal means: the outcome of a row of a network's error table. */
export interface ErrorRow {
  readonly code: LegErrorCode;
  readonly effect: Effect;
  readonly rule?: string;
  /** What to do about it, where this signal has a way out of its own; the code's otherwise. */
  readonly remediation?: string;
  /** The HTTP status of a refusal that the network's table does not know: somebody has to look at it. */
  readonly unmappedStatus?: number;
}

export interface Classified extends ErrorRow {
  readonly networkCode: string | null;
  readonly note: string;
  readonly retryAfterSeconds: number | null;
}

const NOTE_CHARACTERS_MAX = 500;
const WAIT_SECONDS_MAX = 24 * 3600;
const BURST_SECONDS_MAX = 3600;
/** Numbers above this are points in time, numbers below it durations: both are in use for the same headers. */
const UNIX_SECONDS_MIN = 1_000_000_000;

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|DPoP|Basic|OAuth)\s+[\w.~+/=-]{8,}/gi, "$1 [redacted]"],
  [/\beyJ[\w-]{5,}(?:\.[\w-]*){0,4}/g, "[redacted]"],
  [/\b[a-z2-7]{4}(?:-[a-z2-7]{4}){3}\b/g, "[redacted]"],
  [
    /((?:access|refresh|id)_?(?:token|jwt)|client_secret|password)(["']?\s*[=:]\s*["']?)[^\s"'&,}]+/gi,
    "$1$2[redacted]",
  ],
  [/([?&](?:code|state|token)=)[^\s&"']+/gi, "$1[redacted]"],
];

/** The call's answer or why there is none. Whatever else is thrown is a defect and passes through. */
export async function exchange(
  tools: NetworkTools,
  request: HttpRequest,
): Promise<HttpResponse | HttpFailure> {
  try {
    return await tools.http(request);
  } catch (error) {
    if (error instanceof HttpFailure) return error;
    throw error;
  }
}

/** The network's own words as the timeline may show them. */
export function noteOf(text: string): string {
  let note = text;
  for (const [pattern, replacement] of SECRETS) note = note.replace(pattern, replacement);
  return note.replace(/\s+/g, " ").trim().slice(0, NOTE_CHARACTERS_MAX);
}

/** A page of a proxy or a firewall in front of the network says nothing about what the network did. */
export function isHtml(response: HttpResponse): boolean {
  const contentType = response.headers["content-type"] ?? "";
  return (
    contentType.includes("html") || /^\s*<(?:!doctype|html)/i.test(response.text().slice(0, 200))
  );
}

/** Such a page with a status of the request itself speaks for the network all the same. */
const PLAIN_STATUSES: ReadonlySet<number> = new Set([413, 429]);

/** Whether somebody in front of the network answered, of whom nobody knows what the network did. */
export function isProxyPage(response: HttpResponse): boolean {
  return isHtml(response) && !PLAIN_STATUSES.has(response.status);
}

/** Seconds to wait by the first of the headers that is there: a duration, unix seconds or a date. */
export function waitSeconds(
  response: HttpResponse,
  headers: readonly string[],
  now: Date,
): number | null {
  const value = headers.map((name) => response.headers[name]?.trim()).find((header) => header);
  if (value === undefined) return null;
  const number = Number(value);
  const seconds = Number.isFinite(number)
    ? number > UNIX_SECONDS_MIN
      ? number - now.getTime() / 1000
      : number
    : (Date.parse(value) - now.getTime()) / 1000;
  if (!Number.isFinite(seconds)) return null;
  return Math.min(Math.max(Math.ceil(seconds), 1), WAIT_SECONDS_MAX);
}

/** A wait that long is a used-up allowance and not a burst: no attempt before its end can succeed. */
export function withQuota(row: ErrorRow, seconds: number | null): ErrorRow {
  const isQuota = row.code === "rate_limited" && (seconds ?? 0) > BURST_SECONDS_MAX;
  return isQuota ? { code: "quota_exceeded", effect: "refuse" } : row;
}

export function failureOf(classified: Classified, mediaIndex?: number): LegFailure {
  return {
    code: classified.code,
    networkCode: classified.networkCode,
    ...(classified.rule === undefined ? {} : { rule: classified.rule }),
    ...(classified.remediation === undefined ? {} : { remediation: classified.remediation }),
    ...(mediaIndex === undefined ? {} : { mediaIndex }),
    ...(classified.note === "" ? {} : { note: classified.note }),
    ...(classified.unmappedStatus === undefined
      ? {}
      : { unmappedStatus: classified.unmappedStatus }),
  };
}

/** The outcome of a call that shows nothing to anyone: whatever became of it, the leg is not published by it. */
export function unpublished(classified: Classified, mediaIndex?: number): TryLater | Rejected {
  const failure = failureOf(classified, mediaIndex);
  switch (classified.effect) {
    case "refuse":
      return { kind: "rejected", failure };
    case "at_once":
      return { kind: "try_later", failure, retryAfterSeconds: 0 };
    case "doubt":
      return {
        kind: "try_later",
        failure: { ...failure, code: "network_unavailable" },
        ...withWait(classified),
      };
    default:
      return { kind: "try_later", failure, ...withWait(classified) };
  }
}

function withWait(classified: Classified): { retryAfterSeconds?: number } {
  return classified.retryAfterSeconds === null
    ? {}
    : { retryAfterSeconds: classified.retryAfterSeconds };
}

/** As `unpublished`, for a call without an answer. */
export function unanswered(failure: HttpFailure): TryLater {
  return {
    kind: "try_later",
    failure: { code: "network_unavailable", networkCode: null, note: failure.message },
  };
}
