import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { ClassifiedAnswer, ErrorRow, ErrorTable, TableRow } from "../contract/answers.ts";
import { isProxyPage, noteOf, otherText, waitSeconds, withPause } from "../contract/answers.ts";
import { codes, errorTable, findRow, numberShape } from "../contract/answers.ts";
import { refusal, rowOf, rows, subcodes, provenRefusal } from "../contract/answers.ts";
import type { LegFailure } from "../contract/outcome.ts";
import { type HttpResponse, parseAnswer } from "../../runtime/http-call.ts";

// A call whose token or app is not accepted is made for nobody: "the access token has expired, been revoked, or is
// otherwise invalid. Get a new access token" (https://developers.facebook.com/docs/graph-api/guides/error-handling).
// Together with the token, Meta checks that the app may make a call at all: its state, its secret's proof, its
// capabilities. No document says that of other refusals, and some calls created posts although they were refused: with
// code 4 on Instagram, and on Facebook with "Unsupported post request.", with 100 about a field of the answer and with 200
// about the author (https://github.com/facebookarchive/php-graph-sdk/issues/216,
// https://github.com/sns-sdks/python-facebook/issues/224, https://github.com/hybridauth/hybridauth/issues/219). So a
// refusal of a post is no proof by its number: the page is read first, a minute later.
const REAUTH = provenRefusal("connection_needs_reauth");
const PERMISSION = refusal("permission_missing");
const OUR_FAULT = refusal("app_misconfigured");
const APP_REFUSED = provenRefusal("app_misconfigured");
const OUR_MISTAKE = refusal("invalid_request");
/** What Meta calls an unknown or temporary error may still have had its effect. */
export const OUTAGE: ErrorRow = { code: "network_unavailable", effect: "doubt" };

/** Not there yet, no longer there, or not for this account: Graph gives the same error for all. */
export const NOT_FOUND = "100/33";

/**
 * Codes that Graph also gives for what isn't there, with a sentence that says so: 33 and 803 for an id of nothing
 * (https://github.com/criso/fbgraph/issues/141, https://github.com/SammyK/LaravelFacebookSdk/issues/187), 1705 for a
 * post to delete (https://github.com/nov/fb_graph/issues/369), 10 and 100 for what was just deleted.
 */
const ABSENT_CODE = /^(?:10|33|100|803|1705)(?:\/|$)/;
const ABSENT_WORDS = /\bdo(?:es)? not exist\b/i;

/** Reports whether Graph does not find the object, or does not show it. */
export function isMissing({ networkCode, note = "" }: Pick<LegFailure, "networkCode" | "note">) {
  if (networkCode === null) return false;
  return networkCode === NOT_FOUND || (ABSENT_CODE.test(networkCode) && ABSENT_WORDS.test(note));
}

/** Reports whether Graph can't load the object, which is gone, or is there and not for this token. */
export function isUnloaded({ note = "" }: Pick<LegFailure, "note">): boolean {
  // https://github.com/nov/fb_graph/issues/380
  return /\bcould not be loaded\b/i.test(note);
}

/** Replaces the missing code of the error by which Graph says that the token is invalid. */
const UNNUMBERED = "OAuthException";

/**
 * Messages about the app, as clients have seen them: https://github.com/exileum/meta-mcp/issues/199,
 * https://github.com/facebookarchive/php-graph-sdk/issues/770,
 * https://github.com/brightbeanxyz/brightbean-studio/pull/146, https://github.com/chatwoot/chatwoot/issues/14932,
 * https://github.com/jgorset/facepy/issues/83, https://github.com/heartcombo/devise/issues/3095. Those on proofs, reviews
 * and access levels have no such source.
 */
const APP =
  /validating (?:application|client secret)|application info|application has been deleted|API access (?:blocked|deactivated)|appsecret_proof|app (?:is not|must be) (?:active|approved|live)|reviewed and approved by facebook|advanced access|disabled for this application|\bredirect_uri\b|unsupported request - method type/i;

/** What errors mean on both networks. https://developers.facebook.com/docs/graph-api/guides/error-handling */
const SHARED: readonly TableRow[] = [
  // Also returned for a post that the network has accepted but doesn't show yet.
  ...rows(PERMISSION, { code: 100, subcode: 33 }),
  // Refusals of the app have the same numbers as those of the account. Only the message tells them apart.
  ...[1, 10, 100, 190].flatMap((code) => rows(APP_REFUSED, { code, message: APP })),
  ...rows(APP_REFUSED, { codes: [200, 299], message: APP }),
  // App removed, password changed, expired, invalid.
  ...subcodes(REAUTH, 458, 460, 463, 467),
  ...codes(REAUTH, 102, 190, UNNUMBERED),
  // Parameters that we left out or got wrong.
  ...rows(OUR_MISTAKE, {
    code: 100,
    message: /\b(?:missing|required|must be|nonexisting)\b/i,
  }),
  ...codes(OUR_MISTAKE, 194),
  // "An active access token must be used". The same number also means "Unknown path components".
  ...rows(REAUTH, { code: 2500, message: /active access token/i }),
  ...codes(OUR_MISTAKE, 2500),
  ...codes(PERMISSION, 10),
  ...rows(PERMISSION, { codes: [200, 299] }),
  ...codes(OUTAGE, 1, 2),
  ...rows(OUTAGE, { isTransient: true }),
  // The app's capabilities, the addresses it may call from, its id or secret; a call or API version that has ended.
  ...codes(OUR_FAULT, 5, 11, 12, 2635),
  // The last: an address that the app may not lead back to (https://github.com/inaturalist/inaturalist/issues/306).
  ...codes(APP_REFUSED, 3, 101, 104, 191),
  ...rows(REAUTH, { status: 401 }),
  ...rows(OUTAGE, { status: 408 }),
];

const CHECKPOINT = /\blog in to (?:www\.)?(?:facebook|instagram)\.com\b|session key is malformed/i;

/** What only the account's owner can do, whatever the numbers: Meta adds new ones, and says it in words. */
const OWNERS_TURN =
  /\btwo.?factor authentication\b|\bsecurity check\b|\b(?:confirm|verify) your (?:identity|account)\b/i;

/**
 * Makes an error table of a network's own rows and the shared ones. Its own rows win. `throttled` is the
 * meaning of a limit on calls.
 */
export function graphTable(
  network: "facebook" | "instagram",
  own: readonly TableRow[],
  throttled: Pick<ErrorRow, "isProof"> = {},
): ErrorTable {
  // A checkpoint, or an account that was not confirmed. A new authorization alone would end there again.
  const checkpoint: ErrorRow = { ...REAUTH, rule: `${network}.account.checkpoint` };
  const restricted = refusal("account_restricted", { rule: `${network}.account.confirmation` });
  const checkpoints = [
    ...subcodes(checkpoint, 459, 464, 490),
    // The same without a subcode: https://github.com/gitroomhq/postiz-app/pull/2054.
    ...rows(checkpoint, { code: 190, message: CHECKPOINT }),
    // For a page of a business portfolio that wants it: https://github.com/facebook/facebook-java-business-sdk/issues/437.
    ...subcodes(restricted, 2859009),
    ...codes(restricted, 415),
    ...rows(restricted, { message: OWNERS_TURN }),
  ];
  const limit: ErrorRow = { code: "rate_limited", effect: "later", ...throttled };
  const limits = [
    ...codes(limit, 4, 17, 32, 341, 613),
    // Per page, Instagram account and the like.
    ...rows(limit, { codes: [80_000, 80_099] }, { status: 429 }),
  ];
  return errorTable(own, checkpoints, SHARED, limits);
}

const errorBody = objectShape(() => ({
  error: z.object({
    message: lenient(z.string(), ""),
    type: lenient(z.string()),
    code: lenient(numberShape()),
    error_subcode: lenient(numberShape()),
    is_transient: lenient(z.boolean()),
    error_user_title: lenient(z.string()),
    error_user_msg: lenient(z.string()),
  }),
}));
type GraphError = ShapeOf<typeof errorBody>["error"];

/** Returns the meaning of an unexpected answer. Structured fields decide first, the status last. */
export function classifyGraph(
  response: HttpResponse,
  network: "facebook" | "instagram",
  table: ErrorTable,
  now: Date,
): ClassifiedAnswer {
  const { status } = response;
  const { error } = errorBody().safeParse(response.json()).data ?? {};
  const { code, error_subcode: subcode, type, is_transient: isTransient } = error ?? {};
  const named = code ?? (type === UNNUMBERED ? UNNUMBERED : undefined);
  const words = error === undefined ? "" : wordsOf(error);
  const found =
    error === undefined && isProxyPage(response)
      ? OUTAGE
      : rowOf(table, { status, code: named, subcode, isTransient, message: words }, OUTAGE);
  const seconds = found.code === "rate_limited" ? regainSeconds(response, code, now) : null;
  return {
    ...withPause(network, found, seconds),
    networkCode: numbersOf(code, subcode) || `HTTP ${status}`,
    note: noteOf(error === undefined ? otherText(response) : words),
    retryAfterSeconds: seconds,
  };
}

function wordsOf({ message, error_user_title, error_user_msg }: GraphError): string {
  return [message, error_user_title, error_user_msg].filter(Boolean).join(" ");
}

function numbersOf(code: number | undefined, ...more: readonly (number | undefined)[]): string {
  const given = code === undefined ? [] : [code, ...more];
  return given.filter((number) => number !== undefined).join("/");
}

const usageShape = shape(() =>
  z.record(
    z.string(),
    lenientList(
      z.object({
        type: lenient(z.string(), ""),
        estimated_time_to_regain_access: lenient(z.number(), 0),
      }),
    ),
  ),
);

/** Kinds of limits in the header, by the code of the refusal. A code without one is a limit of the app or the person. */
const LIMIT_KINDS: Readonly<Record<number, string>> = {
  32: "pages",
  80_001: "pages",
  80_002: "instagram",
};

/**
 * Returns the seconds to wait after a throttled call. Meta states minutes, in a header that has the usage of all kinds
 * of limits for all objects of the app (https://developers.facebook.com/docs/graph-api/overview/rate-limiting). Only
 * those of the kind that was hit count, and of these the shortest wait: the header doesn't say which object was hit.
 */
function regainSeconds(response: HttpResponse, code: number | undefined, now: Date): number | null {
  const usages = usageShape().safeParse(
    parseAnswer(response.headers["x-business-use-case-usage"] ?? ""),
  );
  const kind = LIMIT_KINDS[code ?? 0];
  const minutes = Object.values(usages.data ?? {})
    .flat()
    .filter(({ type }) => kind !== undefined && type === kind)
    .map((usage) => usage.estimated_time_to_regain_access)
    .filter((wait) => wait > 0);
  return minutes.length > 0
    ? Math.min(...minutes) * 60
    : waitSeconds(response, ["retry-after"], now);
}

/** Returns why a file failed, by the text of its status: by the network's code if the text has one, else by its words. */
export function classifyFileStatus(
  text: string,
  table: ErrorTable,
  effect: "refuse" | "later",
): ClassifiedAnswer {
  const known = { note: noteOf(text), retryAfterSeconds: null };
  for (const [networkCode] of text.matchAll(/\b\d{7}\b/g)) {
    const row = findRow(table, { status: 0, subcode: Number(networkCode), message: "" });
    if (row !== undefined) return { ...row, networkCode, ...known };
  }
  const said = findRow(table, { status: 0, message: text });
  const row = said ?? { code: "media_processing_failed" as const, effect };
  return { ...row, networkCode: null, ...known };
}
