import * as z from "zod";
import type { Classified, ErrorRow } from "../classified.ts";
import { isHtml, noteOf, waitSeconds, withQuota } from "../classified.ts";
import type { HttpResponse } from "../network.ts";

/** What one network's answers mean. Matched in this order: a pair tells more than either of its halves. */
export interface GraphTable {
  /** By `code/subcode`. */
  readonly pairs: Readonly<Record<string, ErrorRow>>;
  readonly subcodes: Readonly<Record<string, ErrorRow>>;
  /** For codes that mean many things; the sentences are in English whatever the account's language. */
  readonly messages: readonly (ErrorRow & { readonly number: number; readonly message: RegExp })[];
  readonly codes: Readonly<Record<string, ErrorRow>>;
}

const REAUTH: ErrorRow = { code: "connection_needs_reauth", effect: "refuse" };
const PERMISSION: ErrorRow = { code: "permission_missing", effect: "refuse" };
const THROTTLED: ErrorRow = { code: "rate_limited", effect: "later" };
const OUR_FAULT: ErrorRow = { code: "app_misconfigured", effect: "refuse" };
/** What Meta calls an unknown or temporary error may have had its effect all the same. */
export const OUTAGE: ErrorRow = { code: "network_unavailable", effect: "doubt" };

/** https://developers.facebook.com/docs/graph-api/guides/error-handling */
const SUBCODES: Readonly<Record<string, ErrorRow>> = {
  458: REAUTH,
  459: REAUTH,
  460: REAUTH,
  463: REAUTH,
  464: REAUTH,
  467: REAUTH,
};
const CODES: Readonly<Record<string, ErrorRow>> = {
  1: OUTAGE,
  2: OUTAGE,
  4: THROTTLED,
  10: PERMISSION,
  17: THROTTLED,
  32: THROTTLED,
  101: OUR_FAULT,
  102: REAUTH,
  190: REAUTH,
  341: THROTTLED,
  613: THROTTLED,
  // A version of the API that ended.
  2635: OUR_FAULT,
};
const RANGES: readonly (readonly [number, number, ErrorRow])[] = [
  [200, 299, PERMISSION],
  // Limits per page, Instagram account and the like.
  [80_000, 80_099, THROTTLED],
];
const STATUSES: Readonly<Record<number, ErrorRow>> = {
  400: { code: "invalid_request", effect: "refuse" },
  401: REAUTH,
  403: PERMISSION,
  404: { code: "network_unavailable", effect: "later" },
  413: { code: "media_rejected", effect: "refuse" },
  429: THROTTLED,
};

const errorBody = z.object({
  error: z.object({
    message: z.string().catch(""),
    type: z.string().optional().catch(undefined),
    code: z.coerce.number().optional().catch(undefined),
    error_subcode: z.coerce.number().optional().catch(undefined),
    is_transient: z.boolean().optional().catch(undefined),
    error_user_title: z.string().optional().catch(undefined),
    error_user_msg: z.string().optional().catch(undefined),
  }),
});
type GraphError = z.infer<typeof errorBody>["error"];

/** The error of an answer, or undefined when it is none of Graph's own. */
function graphError(response: HttpResponse): GraphError | undefined {
  return errorBody.safeParse(response.json()).data?.error;
}

/** What an answer that is not the wanted one means: by its structured fields first, by the status last. */
export function classifyGraph(response: HttpResponse, table: GraphTable, now: Date): Classified {
  const error = graphError(response);
  const found = rowOf(response, error, table);
  const seconds = found.code === "rate_limited" ? regainSeconds(response, now) : null;
  return {
    ...withQuota(found, seconds),
    networkCode: codeOf(error) ?? `HTTP ${response.status}`,
    note: noteOf(error === undefined ? otherText(response) : wordsOf(error)),
    retryAfterSeconds: seconds,
  };
}

/** What a code within a sentence means: the status of a file that failed has no other. */
export function classifyText(text: string, table: GraphTable): Classified | undefined {
  for (const [code] of text.matchAll(/\b\d{7}\b/g)) {
    const row = table.subcodes[code];
    if (row !== undefined)
      return { ...row, networkCode: code, note: noteOf(text), retryAfterSeconds: null };
  }
  return undefined;
}

function rowOf(response: HttpResponse, error: GraphError | undefined, table: GraphTable): ErrorRow {
  const { status } = response;
  const byStatus = STATUSES[status] ?? OUTAGE;
  if (error === undefined) {
    // A proxy's page proves nothing, unless its status speaks of the request itself.
    return isHtml(response) && status !== 413 && status !== 429 ? OUTAGE : byStatus;
  }
  return knownRow(error, table) ?? (error.is_transient === true ? OUTAGE : byStatus);
}

function knownRow(error: GraphError, table: GraphTable): ErrorRow | undefined {
  const { code, error_subcode: subcode, message, type } = error;
  const isUnnumbered = code === undefined && type === "OAuthException";
  return (
    table.pairs[`${code}/${subcode}`] ??
    table.subcodes[`${subcode}`] ??
    SUBCODES[`${subcode}`] ??
    table.messages.find((row) => row.number === code && row.message.test(message)) ??
    table.codes[`${code}`] ??
    CODES[`${code}`] ??
    rangeRow(code) ??
    (isUnnumbered ? REAUTH : undefined)
  );
}

function rangeRow(code = 0): ErrorRow | undefined {
  return RANGES.find(([from, to]) => code >= from && code <= to)?.[2];
}

function codeOf(error: GraphError | undefined): string | undefined {
  if (error?.code === undefined) return undefined;
  const { code, error_subcode: subcode } = error;
  return subcode === undefined ? `${code}` : `${code}/${subcode}`;
}

function wordsOf({ message, error_user_title, error_user_msg }: GraphError): string {
  return [message, error_user_title, error_user_msg].filter(Boolean).join(" ");
}

function otherText(response: HttpResponse): string {
  return isHtml(response) ? "" : response.text().slice(0, 2000);
}

const usageShape = z.record(
  z.string(),
  z.array(z.object({ estimated_time_to_regain_access: z.number().catch(0) })),
);

/** Of a throttled call: Meta says in a header of its own, in minutes, when it will answer again. */
function regainSeconds(response: HttpResponse, now: Date): number | null {
  const minutes = usageOf(response).map((usage) => usage.estimated_time_to_regain_access);
  const longest = Math.max(0, ...minutes);
  return longest > 0 ? longest * 60 : waitSeconds(response, ["retry-after"], now);
}

function usageOf(response: HttpResponse) {
  try {
    const header = response.headers["x-business-use-case-usage"] ?? "{}";
    return Object.values(usageShape.parse(JSON.parse(header))).flat();
  } catch {
    // Best effort: without it the ordinary delays apply.
    return [];
  }
}
