import { describe, expect, test } from "vitest";
import { findRow } from "../../src/shared/networks/contract/answers.ts";
import * as bluesky from "../../src/shared/networks/bluesky/errors.ts";
import * as facebook from "../../src/shared/networks/facebook/errors.ts";
import * as instagram from "../../src/shared/networks/instagram/errors.ts";
import * as linkedin from "../../src/shared/networks/linkedin/errors.ts";
import * as mastodon from "../../src/shared/networks/mastodon/errors.ts";

const TABLES = {
  facebook: facebook.ERRORS,
  instagram: instagram.ERRORS,
  linkedin: linkedin.ERRORS,
  bluesky: bluesky.ERRORS,
};

/** What a network publishes of the errors of some calls. Mastodon publishes sentences: see `error-cases.ts`. */
interface Published {
  readonly network: keyof typeof TABLES;
  /** Where it does. */
  readonly source: string;
  /** Codes, subcodes (with seven digits) and names that the error table gives a meaning. */
  readonly known: readonly (number | string)[];
  /** Those that it gives none, and why: an unknown refusal ends the leg and is marked for somebody to look at. */
  readonly never?: Readonly<Record<string, string>>;
}

const META = "https://developers.facebook.com/docs";
const PHOTOS = `${META}/graph-api/reference/page/photos`;
const LEXICONS = "https://github.com/bluesky-social/atproto/blob/main/lexicons/com/atproto";
const MICROSOFT = "https://learn.microsoft.com/linkedin";
const TAGS = "products are never tagged";

const names = (text: string) => text.trim().split(/\s+/);

const PUBLISHED: readonly Published[] = [
  {
    network: "facebook",
    source: `${META}/graph-api/guides/error-handling`,
    known: [
      1, 2, 3, 4, 10, 17, 102, 190, 200, 299, 341, 368, 506, 1609005, 458, 459, 460, 463, 464,
    ],
  },
  {
    network: "facebook",
    source: `${META}/graph-api/reference/page/feed, "Error codes"`,
    known: [
      190, 194, 197, 200, 210, 240, 283, 341, 368, 506, 1500, 80001, 1349125, 1366051, 1609008,
    ],
    never: { 100: "a bare 100 names no parameter; its sentences and subcodes are rows" },
  },
  { network: "facebook", source: PHOTOS, known: [190, 200, 324, 368, 1366046] },
  {
    network: "facebook",
    source: `${META}/graph-api/reference/page/videos, "Error codes"`,
    known: [190, 194, 200, 222, 351, 352, 368, 381, 382, 389, 390, 613, 6000, 6001],
  },
  {
    network: "facebook",
    source: `${META}/video-api/guides/reels-publishing`,
    known: [1363040, 1363127, 1363128, 1363129],
  },
  {
    network: "instagram",
    source: `${META}/instagram-platform/instagram-graph-api/reference/error-codes`,
    known: [
      -1, -2, 1, 4, 24, 25, 352, 9004, 9007, 36000, 36001, 36003, 36004, 2207001, 2207003, 2207004,
      2207005, 2207006, 2207008, 2207009, 2207010, 2207020, 2207023, 2207026, 2207027, 2207028,
      2207032, 2207040, 2207042, 2207050, 2207051, 2207052, 2207053, 2207057,
    ],
    never: { 9: "comes with 2207042 alone", 2207035: TAGS, 2207036: TAGS, 2207037: TAGS },
  },
  {
    network: "linkedin",
    source: `${MICROSOFT}/marketing/community-management/shares/posts-api`,
    known: names(`
      FIELD_LENGTH_TOO_LONG INVALID_VALUE_BLANK_FIELD INVALID_URN_TYPE INVALID_URN_ID MISSING_FIELD
      MEDIA_ASSET_WAITING_UPLOAD MEDIA_ASSET_PROCESSING_FAILED`),
  },
  {
    network: "linkedin",
    source: `${MICROSOFT}/shared/api-guide/concepts/error-handling, by status`,
    known: ["401", "403 ACCESS_DENIED", "405", "411", "429"],
    never: { 404: "a member, page or asset that is gone: somebody has to look at it" },
  },
  {
    network: "bluesky",
    source: `${LEXICONS}/repo/putRecord.json, uploadBlob.json; packages/pds/src/auth-verifier.ts`,
    known: names(`
      InvalidSwap BlobNotFound InvalidMimeType InvalidSize PayloadTooLarge ExpiredToken InvalidToken
      AuthMissing AccountNotFound AccountTakedown AccountDeactivated RepoNotFound RepoTakendown
      RepoDeactivated RateLimitExceeded ScopeMissingError`),
    never: {
      RecordNotFound: "the look-up reads it itself: the record is not there",
      XRPCNotSupported: "no account's server lacks com.atproto.repo",
    },
  },
  {
    network: "bluesky",
    source: `${LEXICONS}/server/{createSession,refreshSession,getServiceAuth}.json`,
    known: ["AccountTakedown", "AuthFactorTokenRequired", "InvalidToken", "ExpiredToken"],
    never: {
      BadExpiration: "a token is asked for 30 minutes, where an hour is allowed for a method",
    },
  },
  {
    network: "bluesky",
    source: "lexicons/app/bsky/video/uploadVideo.json in the same repository",
    known: names(`
      UnsupportedContentType VideoTooLarge VideoTooLong BadAspectRatio DailyLimitExceeded
      UploadForbidden ServiceOverloaded`),
  },
];

/** Meta's subcodes come with several codes, and those of tokens have three digits. */
const TOKEN_SUBCODES = [458, 459, 460, 463, 464];

function signalOf(network: string, code: number | string) {
  const [status, name] = /^\d{3}\b/.test(`${code}`) ? `${code}`.split(" ") : [];
  if (network === "linkedin" && status !== undefined)
    return { status: Number(status), code: name, message: "" };
  const isSubcode = typeof code === "number" && (code > 999_999 || TOKEN_SUBCODES.includes(code));
  return { status: 400, message: "", ...(isSubcode ? { subcode: code } : { code }) };
}

describe.each(PUBLISHED)("what $network publishes in $source", ({ network, known, never = {} }) => {
  test.each(known)("%s has a meaning", (code) => {
    expect(findRow(TABLES[network], signalOf(network, code))).toBeDefined();
  });

  test.each(Object.entries(never))("%s has none, as %s", (code) => {
    const named = Number.isNaN(Number(code)) ? code : Number(code);
    expect(findRow(TABLES[network], signalOf(network, named))).toBeUndefined();
  });
});

/** The refusals that end a leg without a look: each has its source in its network's table. */
const META_PROOFS =
  "102 190 OAuthException 458 459 460 463 464 467 490 190+words 2500+words 3 101 104 191 1+words 10+words 100+words 200-+words";
const PROOFS: readonly (readonly [keyof typeof TABLES | "mastodon", string])[] = [
  [
    "facebook",
    `${META_PROOFS} 492 401 413 2069032 1363022 1363023 1363042 1363040 1363127 1363128 1363129 4 17 32 341 613 80000- 429`,
  ],
  ["instagram", `${META_PROOFS} 401 413 2207027 9007`],
  [
    "linkedin",
    `100 ACCESS_DENIED 100+words ACCESS_DENIED+words MEDIA_ASSET_WAITING_UPLOAD MISSING_FIELD PARAM_INVALID QUERY_PARAM_NOT_ALLOWED
    ILLEGAL_ARGUMENT NONEXISTENT_VERSION VERSION_MISSING 400+words 403+words 404+words 422+words
    401 405 411 413 415 426`,
  ],
  [
    "bluesky",
    `InvalidRequest+words ExpiredToken InvalidToken InvalidToken+words invalid_token use_dpop_nonce invalid_dpop_proof
    AuthMissing AuthenticationRequired AccountNotFound AuthFactorTokenRequired AccountTakedown
    AccountDeactivated ScopeMissingError RateLimitExceeded BlobNotFound BlobTooLarge InvalidMimeType
    InvalidSize PayloadTooLarge 401 413 429`,
  ],
  [
    "mastodon",
    `403+words 422+words 400+words 401 413 429 CREDENTIAL_REQUIRED AUTHENTICATION_FAILED PERMISSION_DENIED
    YOUR_ACCOUNT_SUSPENDED RATE_LIMIT_EXCEEDED CONTENT_REQUIRED INVALID_PARAM`,
  ],
];

test.each(PROOFS)("%s: these refusals alone prove that nothing was published", (network, list) => {
  const rows = network === "mastodon" ? mastodon.ERRORS : TABLES[network];
  const proofs = rows.flatMap(({ isProof, signal }) => {
    const { codes: [from] = [], code, subcode, status, message, field } = signal;
    const words = message === undefined && field === undefined ? "" : "+words";
    return isProof ? [`${subcode ?? code ?? (from && `${from}-`) ?? status}${words}`] : [];
  });
  expect([...new Set(proofs)].toSorted()).toEqual(names(list).toSorted());
});
