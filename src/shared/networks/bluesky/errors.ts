import { objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import {
  type ClassifiedAnswer,
  type ErrorRow,
  lostFile,
  frontRow,
  isChallenge,
  isElsewhere,
  isProxyPage,
  noteOf,
} from "../contract/answers.ts";
import { rowWithWait, type TableRow, codes } from "../contract/answers.ts";
import {
  errorTable,
  refusal,
  rowOf as tableRow,
  rows,
  provenRefusal,
} from "../contract/answers.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";

const IN_DOUBT: ErrorRow = { code: "outcome_unknown", effect: "doubt" };
// What proves that no record was written, by https://github.com/bluesky-social/atproto: session, account and scope are
// checked before the record is read (`packages/pds/src/auth-verifier.ts`, `packages/oauth/oauth-scopes`), rates and
// sizes before that (`packages/xrpc-server`), the record in `packages/pds/src/repo/prepare.ts`, and its blobs in the
// transaction that writes it (`packages/pds/src/actor-store/blob/transactor.ts`). Other errors are no proof.
const REAUTH = provenRefusal("connection_needs_reauth");
const RESTRICTED = provenRefusal("account_restricted");
const PERMISSION = provenRefusal("permission_missing");
const GONE = refusal("account_restricted");
const FRESH: ErrorRow = { code: "network_unavailable", effect: "at_once", isProof: true };
const LATER: ErrorRow = { code: "network_unavailable", effect: "later", isProof: true };
const THROTTLED: ErrorRow = { code: "rate_limited", effect: "later", isProof: true };
/** Uploads that no record refers to are deleted after a while. */
const LOST_BLOB: ErrorRow = {
  code: "media_processing_failed",
  effect: "prepare_again",
  isProof: true,
};
const SIZE = "bluesky.media.size";
const TYPE = "bluesky.media.type";
const TOO_LARGE = provenRefusal("media_rejected", { rule: SIZE });
const FILE = refusal("media_rejected");
const DEACTIVATED = "bluesky.account.deactivated";

/** Returns the reference server uses this error for most refusals. */
function invalid(message: RegExp, meaning: ErrorRow): TableRow {
  return { signal: { code: "InvalidRequest", message }, ...meaning };
}

/** https://atproto.com/specs/xrpc#error-responses and the errors of the reference server. */
export const ERRORS = errorTable([
  invalid(/could not find blob|blob.*not found/i, LOST_BLOB),
  invalid(/grapheme/i, provenRefusal("text_too_long", { rule: "bluesky.text.graphemes" })),
  invalid(
    /too (?:big|long).*\btext$|\btext\b.*(?:longer than|too (?:big|long))/i,
    provenRefusal("text_too_long", { rule: "bluesky.text.bytes" }),
  ),
  // The address or the words of a link card. What is wrong with its picture is about a file.
  invalid(/record:.*\bthumb\b/i, provenRefusal("media_rejected")),
  invalid(/record:.*\bexternal\b/i, provenRefusal("link_rejected")),
  invalid(/record:.*\b(?:embed|images?|video|items|blob)\b/i, provenRefusal("media_rejected")),
  invalid(/record:.*\b(?:text|facets?)\b/i, provenRefusal("text_invalid")),
  // Any other part of the record.
  invalid(/^invalid app\.bsky\.feed\.post record:/i, provenRefusal("invalid_request")),
  // The server's library says so of a file (https://github.com/snarfed/bridgy/issues/1670).
  invalid(/body is expected but none was provided/i, lostFile("bluesky")),
  // The reference server says this about a repository, without an error name.
  invalid(/account is deactivated/i, { ...RESTRICTED, rule: DEACTIVATED }),
  invalid(/could not find repo\b/i, REAUTH),
  // What the token may do, which a new one may not either: https://github.com/bluesky-social/atproto/issues/3212.
  ...rows(PERMISSION, { code: "InvalidToken", message: /\bscope\b/i }),
  // These concern an access token, with status 400. Renewing shows whether the session has ended.
  ...codes(FRESH, "ExpiredToken", "InvalidToken"),
  // This concerns an OAuth token. A proof that came too late or to the wrong server is made again too.
  ...codes(FRESH, "invalid_token"),
  ...codes(LATER, "use_dpop_nonce", "invalid_dpop_proof"),
  ...codes(REAUTH, "AuthMissing", "AuthenticationRequired", "AccountNotFound"),
  ...codes(refusal("connection_needs_reauth"), "RepoNotFound"),
  ...codes({ ...REAUTH, rule: "bluesky.account.appPassword" }, "AuthFactorTokenRequired"),
  ...codes(RESTRICTED, "AccountTakedown"),
  ...codes(GONE, "AccountSuspended", "RepoTakendown", "RepoSuspended"),
  ...codes({ ...RESTRICTED, rule: DEACTIVATED }, "AccountDeactivated"),
  ...codes({ ...GONE, rule: DEACTIVATED }, "RepoDeactivated"),
  ...codes({ ...GONE, rule: "bluesky.account.unconfirmed" }, "UploadForbidden"),
  ...codes(PERMISSION, "ScopeMissingError"),
  ...codes(refusal("permission_missing"), "insufficient_scope", "InsufficientScope"),
  ...codes(THROTTLED, "RateLimitExceeded"),
  ...codes(LOST_BLOB, "BlobNotFound"),
  ...codes({ ...LOST_BLOB, code: "media_rejected", rule: TYPE }, "InvalidMimeType"),
  ...codes({ ...LOST_BLOB, code: "media_rejected" }, "InvalidSize"),
  // A server with older lexicons accepts smaller files: https://github.com/cjrasmussen/BlueskyApi/issues/14.
  ...codes({ ...LOST_BLOB, code: "media_rejected", rule: SIZE }, "BlobTooLarge"),
  ...codes(TOO_LARGE, "PayloadTooLarge"),
  ...codes({ ...FILE, rule: SIZE }, "VideoTooLarge"),
  ...codes({ ...FILE, rule: "bluesky.media.duration" }, "VideoTooLong"),
  ...codes({ ...FILE, rule: TYPE }, "UnsupportedContentType"),
  ...codes(FILE, "BadAspectRatio"),
  ...codes(refusal("quota_exceeded"), "DailyLimitExceeded"),
  ...codes({ code: "network_unavailable", effect: "later" }, "ServiceOverloaded"),
  // Another client wrote under our key. Only the record itself tells which.
  ...codes(IN_DOUBT, "InvalidSwap"),
  ...rows(REAUTH, { status: 401 }),
  ...rows(IN_DOUBT, { status: 408 }),
  ...rows(TOO_LARGE, { status: 413 }),
  ...rows(THROTTLED, { status: 429 }),
]);

const errorBody = objectShape(() => ({ error: z.string(), message: lenient(z.string()) }));

export function xrpcError(response: HttpResponse): ShapeOf<typeof errorBody> | undefined {
  return errorBody().safeParse(response.json()).data;
}

/** Returns the meaning of an unexpected answer. Structured fields decide first, the status last. */
export function classify(response: HttpResponse, now: Date): ClassifiedAnswer {
  const body = xrpcError(response);
  const text = body === undefined ? response.text().slice(0, 2000) : (body.message ?? "");
  return {
    ...rowWithWait(rowOf(response, body), response, "ratelimit-reset", now),
    networkCode: body?.error ?? `HTTP ${response.status}`,
    note: noteOf(text),
  };
}

function rowOf(response: HttpResponse, body: ReturnType<typeof xrpcError>): ErrorRow {
  const { status } = response;
  // A server that failed may give a reason, but the call's outcome is still unknown.
  if (isChallenge(response) || isElsewhere(response))
    return frontRow("bluesky", response, IN_DOUBT);
  if (status >= 500) return IN_DOUBT;
  if (body === undefined && isProxyPage(response)) return frontRow("bluesky", response, IN_DOUBT);
  return tableRow(ERRORS, { status, code: body?.error, message: body?.message ?? "" }, IN_DOUBT);
}
