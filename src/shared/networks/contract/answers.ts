import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { isNetworkId } from "./text.ts";
import type { LegErrorCode, SentenceValues } from "./errors.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { NetworkTools } from "./tools.ts";

/**
 * What an answer means for the leg. `refuse`: the leg ends. `later`: the call may be repeated. `at_once`: it may be
 * repeated with new credentials. `prepare_again`: an upload is gone. `doubt`: the answer says nothing.
 */
type Effect = "refuse" | "later" | "at_once" | "prepare_again" | "doubt";

/** What a signal means: the outcome in a row of a network's error table. */
export interface ErrorRow {
  readonly code: LegErrorCode;
  readonly effect: Effect;
  /**
   * Whether it proves that nothing was published, because the network's documents or source say that the request is
   * refused before anything is done. Without that, the call is looked up.
   */
  readonly isProof?: true;
  /** What is wrong, if it is known more exactly than by the code. */
  readonly rule?: string;
  /** The values of the rule's sentences. */
  readonly values?: SentenceValues;
  /** Whether it is about a limit that all accounts of the app share, so that operators are told. */
  readonly isOfApp?: true;
  /** The HTTP status of a refusal that the network's table doesn't have. A person has to review it. */
  readonly unmappedStatus?: number;
}

export interface ClassifiedAnswer extends ErrorRow {
  readonly networkCode: string | null;
  readonly note: string;
  readonly retryAfterSeconds: number | null;
}

const NOTE_CHARACTERS_MAX = 500;

const WAIT_SECONDS_MAX = 24 * 3600;

const BURST_SECONDS_MAX = 3600;

/** Larger numbers are points in time, smaller ones durations, because the same headers have both. */
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

/** Makes a call and returns its answer, or why there is none. Any other error is a defect and is thrown. */
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

/** Returns the network's own words for the timeline, shortened and without secrets. */
export function noteOf(text: string): string {
  let note = text;
  for (const [pattern, replacement] of SECRETS) note = note.replace(pattern, replacement);
  return note.replace(/\s+/g, " ").trim().slice(0, NOTE_CHARACTERS_MAX);
}

/**
 * Reports whether an answer is a web page. A page of a proxy or firewall in front of the network says nothing about
 * what the network did.
 */
export function isHtml(response: HttpResponse): boolean {
  const contentType = response.headers["content-type"] ?? "";
  return (
    contentType.includes("html") || /^\s*<(?:!doctype|html)/i.test(response.text().slice(0, 200))
  );
}

/** Even on such a page, these statuses are about the request itself. */
const PLAIN_STATUSES: ReadonlySet<number> = new Set([413, 429]);

/**
 * Reports whether Cloudflare answered with a challenge, which it does before a request reaches the server
 * (https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/).
 */
export function isChallenge({ headers }: HttpResponse): boolean {
  return headers["cf-mitigated"]?.trim().toLowerCase() === "challenge";
}

/** A page by which a firewall refuses programs or one request. */
const BLOCKED_PAGE =
  /<title>[^<]{0,80}(?:just a moment|attention required|access denied|request (?:blocked|rejected)|forbidden)|sorry, you have been blocked|cf-error-details|blocked by (?:the )?(?:security|firewall|waf)/i;

/** Reports whether a firewall in front of a server refused the request. */
export function isBlocked(response: HttpResponse): boolean {
  const isRefusal = [403, 406, 429, 503].includes(response.status) && isHtml(response);
  return isChallenge(response) || (isRefusal && BLOCKED_PAGE.test(response.text().slice(0, 8_000)));
}

/** Reports whether a proxy or firewall answered instead of the network, so that the outcome is unknown. */
export function isProxyPage(response: HttpResponse): boolean {
  return isHtml(response) && !PLAIN_STATUSES.has(response.status);
}

/**
 * Statuses by which a server names another address for the same request (RFC 9110, 15.4). No call is repeated there: it
 * has the account's token. 302 and 303 may come after the effect.
 */
const MOVED_STATUSES: ReadonlySet<number> = new Set([301, 307, 308]);

/**
 * Returns the meaning of an answer from something in front of a server that people chose, or of one that sends the call
 * elsewhere. `doubt` is any other page's.
 */
export function frontRow(network: string, response: HttpResponse, doubt: ErrorRow): ErrorRow {
  const code = "network_unavailable";
  if (isChallenge(response))
    return { code, effect: "later", isProof: true, rule: `${network}.server.challenge` };
  if (isElsewhere(response)) return provenRefusal(code, { rule: `${network}.server.moved` });
  return isBlocked(response) ? refusal(code, { rule: `${network}.server.blocked` }) : doubt;
}

/** Reports whether a server sends a call to another address. */
export function isElsewhere({ status }: HttpResponse): boolean {
  return MOVED_STATUSES.has(status);
}

/** Makes the meaning of an answer that there was no file, or no body, although one was sent: it was lost on the way. */
export function lostFile(network: string): ErrorRow {
  return { code: "network_unavailable", effect: "later", rule: `${network}.media.lost` };
}

/** Returns the seconds to wait by the first header that exists: a duration, Unix seconds or a date. */
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

/** Turns a long wait for a limit on calls, which is no quota of posts, into `quota_exceeded`, and says so. */
export function withPause(network: string, row: ErrorRow, seconds: number | null): ErrorRow {
  if (!isLongWait(row, seconds)) return row;
  const values = { hours: Math.ceil((seconds ?? 0) / 3600) };
  return {
    ...row,
    code: "quota_exceeded",
    effect: "refuse",
    rule: `${network}.calls.paused`,
    values,
  };
}

function isLongWait({ code }: ErrorRow, seconds: number | null): boolean {
  return code === "rate_limited" && (seconds ?? 0) > BURST_SECONDS_MAX;
}

/**
 * Returns the meaning of a refusal with the wait that its headers ask for. The network's reset header is on every
 * answer, and only means a wait after too many calls.
 */
export function rowWithWait(row: ErrorRow, answer: HttpResponse, reset: string, now: Date) {
  const isThrottled = answer.status === 429;
  const seconds = waitSeconds(answer, ["retry-after", ...(isThrottled ? [reset] : [])], now);
  const retryAfterSeconds = isThrottled || answer.status === 503 ? seconds : null;
  if (!isLongWait(row, seconds)) return { ...row, retryAfterSeconds };
  // The account's allowance is used up, so no earlier attempt can succeed.
  return { ...row, code: "quota_exceeded", effect: "refuse", retryAfterSeconds } as const;
}

/** Returns the text of an answer in none of the network's own forms, or nothing for a web page. */
export function otherText(answer: HttpResponse): string {
  return isHtml(answer) ? "" : answer.text().slice(0, TEXT_CHARACTERS_MAX);
}

const TEXT_CHARACTERS_MAX = 2000;

/** What an answer says about its reason, read from the network's own envelope. */
export interface Signal {
  readonly status: number;
  readonly code?: string | number | undefined;
  readonly subcode?: number | undefined;
  /** Field of the request, if the answer names one. */
  readonly field?: string | undefined;
  readonly isTransient?: boolean | undefined;
  readonly message: string;
}

/** Far more than any network says. A federated server may say anything, and a pattern of two words is quadratic. */
const MESSAGE_CHARACTERS_MAX = 2000;

/** A pattern. Everything that it names has to match. */
interface SignalPattern {
  readonly status?: number;
  readonly code?: string | number;
  readonly codes?: readonly [number, number];
  readonly subcode?: number;
  readonly field?: RegExp;
  readonly isTransient?: true;
  readonly message?: RegExp;
}

export interface TableRow extends ErrorRow {
  readonly signal: SignalPattern;
}

/** In the order of `rank`. */
export type ErrorTable = readonly TableRow[];

/**
 * Returns the rank of a pattern, the most specific first: code and subcode, subcode, code, status. Messages rank after
 * the structured field that they explain, because networks reword and translate them.
 */
function rank({ code, codes, subcode, field, isTransient, message }: SignalPattern): number {
  const hasWords = field !== undefined || message !== undefined;
  if (subcode !== undefined) return code === undefined ? 1 : 0;
  if (code !== undefined) return hasWords ? 2 : 3;
  if (codes !== undefined) return 4;
  if (isTransient) return 5;
  return hasWords ? 6 : 7;
}

/** Makes the table. Rows of the same rank keep their order, and the first that matches wins. */
export function errorTable(...parts: readonly (readonly TableRow[])[]): ErrorTable {
  return parts.flat().toSorted((one, other) => rank(one.signal) - rank(other.signal));
}

function matchesSignal(pattern: SignalPattern, signal: Signal): boolean {
  const { codes, field, message } = pattern;
  const number = typeof signal.code === "number" ? signal.code : Number.NaN;
  const isEqual = (["status", "code", "subcode", "isTransient"] as const).every(
    (name) => pattern[name] === undefined || pattern[name] === signal[name],
  );
  return (
    isEqual &&
    (codes === undefined || (number >= codes[0] && number <= codes[1])) &&
    (field === undefined || field.test((signal.field ?? "").slice(0, MESSAGE_CHARACTERS_MAX))) &&
    (message === undefined || message.test(signal.message.slice(0, MESSAGE_CHARACTERS_MAX)))
  );
}

/** Returns the meaning of a signal by the first row that fits; undefined where none does. */
export function findRow(table: ErrorTable, signal: Signal): ErrorRow | undefined {
  const found = table.find(({ signal: pattern }) => matchesSignal(pattern, signal));
  if (found === undefined) return undefined;
  const { signal: _matched, ...meaning } = found;
  return meaning;
}

/**
 * Returns the meaning of a signal. An unknown refusal (4xx) counts as permanent and is marked for review, because
 * repeating it doesn't help. Any other unknown answer proves nothing and means `doubt`.
 */
export function rowOf(table: ErrorTable, signal: Signal, doubt: ErrorRow): ErrorRow {
  const found = findRow(table, signal);
  if (found !== undefined) return found;
  const { status } = signal;
  return status >= 400 && status < 500
    ? { code: "invalid_request", effect: "refuse", unmappedStatus: status }
    : doubt;
}

type More = Omit<ErrorRow, "code" | "effect">;

/** Makes the meaning of a refusal after which the outcome of the call is looked up. */
export function refusal(code: LegErrorCode, more: More = {}): ErrorRow {
  return { code, effect: "refuse", ...more };
}

/** Makes the meaning of a refusal that proves that nothing was published. Its table names the source. */
export function provenRefusal(code: LegErrorCode, more: More = {}): ErrorRow {
  return { code, effect: "refuse", isProof: true, ...more };
}

/** Makes rows that give several signals the same meaning. */
export function rows(meaning: ErrorRow, ...signals: readonly SignalPattern[]): TableRow[] {
  return signals.map((signal) => ({ signal, ...meaning }));
}

/** Makes rows that give several subcodes the same meaning, with any code. */
export function subcodes(meaning: ErrorRow, ...numbers: readonly number[]): TableRow[] {
  return numbers.map((subcode) => ({ signal: { subcode }, ...meaning }));
}

/** Makes rows that give several codes the same meaning. */
export function codes(meaning: ErrorRow, ...list: readonly (string | number)[]): TableRow[] {
  return list.map((code) => ({ signal: { code }, ...meaning }));
}

/** Returns the `error` of an OAuth answer (RFC 6749, section 5.2). */
export function oauthError(answer: HttpResponse): string | undefined {
  return z.object({ error: z.string() }).safeParse(answer.json()).data?.error;
}

/** An id as a network writes it, as text or as a whole number. The text of anything else would be no id. */
export const idShape = shape(() =>
  z.union([z.string().refine(isNetworkId), z.number().int().nonnegative().transform(String)]),
);

/** A number that some answers have in quotes. */
export const numberShape = shape(() =>
  z.union([
    z.number(),
    z
      .string()
      .regex(/^-?\d{1,20}$/)
      .transform(Number),
  ]),
);

/** Returns the `id`, as text, of what a call made or found. Undefined without one. */
export function readMade(answer: HttpResponse): string | undefined {
  if (answer.status !== 200) return undefined;
  return z.object({ id: idShape() }).safeParse(answer.json()).data?.id;
}
