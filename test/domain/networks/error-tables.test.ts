import { describe, expect, it } from "vitest";
import type { Classified } from "../../../src/shared/networks/classified.ts";
import { failureOf } from "../../../src/shared/networks/classified.ts";
import type { ErrorTable } from "../../../src/shared/networks/error-table.ts";
import { LEG_ERRORS } from "../../../src/shared/networks/errors.ts";
import * as bluesky from "../../../src/shared/networks/bluesky/errors.ts";
import * as facebook from "../../../src/shared/networks/facebook/errors.ts";
import * as instagram from "../../../src/shared/networks/instagram/errors.ts";
import * as linkedin from "../../../src/shared/networks/linkedin/errors.ts";
import * as mastodon from "../../../src/shared/networks/mastodon/errors.ts";
import type { HttpResponse } from "../../../src/shared/networks/network.ts";
import { problemOf } from "../../../src/shared/posts/leg-steps.ts";
import { UnmappedSignals } from "../../../src/shared/posts/unmapped-signals.ts";
import { createLog } from "../../../src/shared/log.ts";
import { Metrics } from "../../../src/shared/telemetry/metrics.ts";
import { NOW, answer, htmlPage } from "../../networks/scripted-tools.ts";

type Classify = (response: HttpResponse, now: Date) => Classified;
const classifiers = {
  facebook: facebook.classify,
  instagram: instagram.classify,
  linkedin: linkedin.classify,
  bluesky: bluesky.classify,
  mastodon: mastodon.classify,
} as const satisfies Record<string, Classify>;
type Known = keyof typeof classifiers;
const tables: Readonly<Record<Known, ErrorTable>> = {
  facebook: facebook.ERRORS,
  instagram: instagram.ERRORS,
  linkedin: linkedin.ERRORS,
  bluesky: bluesky.ERRORS,
  mastodon: mastodon.ERRORS,
};

function graph(code: number | undefined, subcode?: number, more: object = {}): object {
  const error = { message: "words", type: "OAuthException", code, error_subcode: subcode, ...more };
  return { error };
}

type Case = readonly [Known, number, unknown, Classified["code"]];

/** Every row of the contract's mapping, as the network would send it. */
const CASES: readonly Case[] = [
  ...[190, 102].flatMap((code): Case[] => [
    ["facebook", 400, graph(code), "connection_needs_reauth"],
    ["instagram", 401, graph(code), "connection_needs_reauth"],
  ]),
  ["facebook", 400, graph(undefined), "connection_needs_reauth"],
  ...[458, 459, 460, 463, 464, 467].flatMap((subcode): Case[] => [
    ["facebook", 400, graph(190, subcode), "connection_needs_reauth"],
    ["instagram", 400, graph(190, subcode), "connection_needs_reauth"],
  ]),
  ["facebook", 401, graph(190, 492), "permission_missing"],
  ...[10, 200, 210, 299].flatMap((code): Case[] => [
    ["facebook", 403, graph(code), "permission_missing"],
    ["instagram", 403, graph(code), "permission_missing"],
  ]),
  ["facebook", 400, graph(100, 33), "permission_missing"],
  ["facebook", 400, graph(200, 1404078), "account_restricted"],
  ["facebook", 400, graph(368, 4854002), "account_restricted"],
  ["facebook", 400, graph(368, 1404112), "account_restricted"],
  ["facebook", 400, graph(368, 1404082), "duplicate_content"],
  ["facebook", 400, graph(506), "duplicate_content"],
  ["facebook", 400, graph(100, 1366051), "duplicate_content"],
  ["facebook", 400, graph(368), "content_rejected"],
  ["facebook", 400, graph(368, 1390008), "rate_limited"],
  ["facebook", 400, graph(1, 1346003), "content_rejected"],
  ["facebook", 400, graph(1, 1404102), "content_rejected"],
  ...[4, 17, 32, 341, 613, 80001, 80002, 80014].flatMap((code): Case[] => [
    ["facebook", 400, graph(code), "rate_limited"],
    ["instagram", 403, graph(code), "rate_limited"],
  ]),
  ...[1, 2].flatMap((code): Case[] => [
    ["facebook", 400, graph(code), "network_unavailable"],
    ["instagram", 500, graph(code), "network_unavailable"],
  ]),
  ["facebook", 400, graph(77_777, undefined, { is_transient: true }), "network_unavailable"],
  ["facebook", 400, graph(100, 1363047), "network_unavailable"],
  ["facebook", 400, graph(100, 1609010), "network_unavailable"],
  ...[1609005, 1609008, 2061006].map((subcode): Case => [
    "facebook",
    400,
    graph(100, subcode),
    "link_rejected",
  ]),
  ...[1363040, 1363127, 1363128, 1363129, 1366046, 2069019].map((subcode): Case => [
    "facebook",
    400,
    graph(100, subcode),
    "media_rejected",
  ]),
  ["facebook", 400, graph(324, 2069019), "media_unreachable"],
  ["facebook", 400, graph(389), "media_unreachable"],
  [
    "facebook",
    400,
    graph(100, undefined, { message: "(#100) Missing parameter: url" }),
    "invalid_request",
  ],
  [
    "facebook",
    400,
    graph(100, undefined, { message: "(#100) Name parameter too long" }),
    "text_invalid",
  ],
  ["instagram", 403, graph(9, 2207042), "quota_exceeded"],
  ["instagram", 403, graph(4, 2207051), "content_rejected"],
  ["instagram", 403, graph(25, 2207050), "account_restricted"],
  [
    "instagram",
    400,
    graph(10, undefined, { message: "The user is not an Instagram Business" }),
    "account_restricted",
  ],
  ["instagram", 400, graph(9007, 2207027), "media_not_ready"],
  ["instagram", 400, graph(-2, 2207003), "media_unreachable"],
  ["instagram", 400, graph(9004, 2207052), "media_unreachable"],
  ["instagram", 400, graph(100, 2207077), "media_unreachable"],
  ["instagram", 400, graph(100, 2207082), "media_unreachable"],
  ["instagram", 400, graph(-2, 2207020), "media_processing_failed"],
  ["instagram", 400, graph(24, 2207006), "media_processing_failed"],
  ["instagram", 400, graph(24, 2207008), "media_processing_failed"],
  ["instagram", 400, graph(-1, 2207001), "network_unavailable"],
  ["instagram", 400, graph(-1, 2207032), "network_unavailable"],
  ["instagram", 400, graph(-1, 2207053), "network_unavailable"],
  ...(
    [
      [36000, 2207004],
      [36001, 2207005],
      [36003, 2207009],
      [352, 2207026],
      [100, 2207028],
      [100, 2207023],
      [1, 2207057],
    ] as const
  ).map(([code, subcode]): Case => ["instagram", 400, graph(code, subcode), "media_rejected"]),
  ["instagram", 400, graph(36004, 2207010), "text_invalid"],
  ["instagram", 400, graph(100, 2207040), "text_invalid"],
  ["instagram", 400, graph(100, 2207081), "invalid_request"],
  ...[
    "REVOKED_ACCESS_TOKEN",
    "INVALID_ACCESS_TOKEN",
    "EXPIRED_ACCESS_TOKEN",
    "EMPTY_ACCESS_TOKEN",
  ].map((code): Case => ["linkedin", 401, { status: 401, code }, "connection_needs_reauth"]),
  ["linkedin", 401, { serviceErrorCode: 65601 }, "connection_needs_reauth"],
  ["linkedin", 403, { code: "ACCESS_DENIED" }, "permission_missing"],
  ["linkedin", 403, { serviceErrorCode: 100 }, "permission_missing"],
  ["linkedin", 403, { message: "Not enough permissions to access" }, "permission_missing"],
  [
    "linkedin",
    422,
    { message: "Content is a duplicate of urn:li:share:6844785523593134080" },
    "duplicate_content",
  ],
  ["linkedin", 400, { code: "FIELD_LENGTH_TOO_LONG" }, "text_too_long"],
  ["linkedin", 400, { code: "INVALID_VALUE_BLANK_FIELD" }, "text_invalid"],
  ["linkedin", 400, { code: "MEDIA_ASSET_WAITING_UPLOAD" }, "media_not_ready"],
  ["linkedin", 400, { message: "The video is still processing" }, "media_not_ready"],
  ["linkedin", 400, { code: "MEDIA_ASSET_PROCESSING_FAILED" }, "media_processing_failed"],
  ["linkedin", 400, { code: "EXPIRED_UPLOAD_URL" }, "media_processing_failed"],
  ["linkedin", 413, "", "media_rejected"],
  ["linkedin", 415, "", "media_rejected"],
  ...["INVALID_URN_TYPE", "INVALID_URN_ID", "MISSING_FIELD"].map((code): Case => [
    "linkedin",
    400,
    { code },
    "invalid_request",
  ]),
  ["linkedin", 426, { code: "NONEXISTENT_VERSION" }, "app_misconfigured"],
  [
    "linkedin",
    429,
    {
      serviceErrorCode: 101,
      message: "Resource level throttle MEMBER DAY limit for calls to this resource is reached.",
    },
    "quota_exceeded",
  ],
  [
    "linkedin",
    429,
    {
      serviceErrorCode: 101,
      message:
        "Resource level throttle APPLICATION DAY limit for calls to this resource is reached.",
    },
    "rate_limited",
  ],
  ["linkedin", 409, { message: "Conflict" }, "network_unavailable"],
  ["linkedin", 503, { message: "Service Unavailable" }, "network_unavailable"],
  ["linkedin", 400, { message: "Unable to obtain activity" }, "network_unavailable"],
  ["bluesky", 401, { error: "AuthenticationRequired" }, "connection_needs_reauth"],
  ["bluesky", 401, { error: "AuthFactorTokenRequired" }, "connection_needs_reauth"],
  // Of an access token: a fresh one is got first, and that tells whether the session has ended.
  ["bluesky", 400, { error: "ExpiredToken" }, "network_unavailable"],
  ["bluesky", 401, { error: "AccountTakedown" }, "account_restricted"],
  ["bluesky", 401, { error: "AccountDeactivated" }, "account_restricted"],
  ["bluesky", 400, { error: "RepoDeactivated" }, "account_restricted"],
  ["bluesky", 403, { error: "ScopeMissingError" }, "permission_missing"],
  ["bluesky", 429, { error: "RateLimitExceeded" }, "rate_limited"],
  ["bluesky", 400, { error: "BlobNotFound" }, "media_processing_failed"],
  ["bluesky", 400, { error: "InvalidMimeType" }, "media_rejected"],
  ["bluesky", 400, { error: "InvalidSize" }, "media_rejected"],
  ["bluesky", 413, { error: "PayloadTooLarge" }, "media_rejected"],
  ...["UnsupportedContentType", "VideoTooLarge", "VideoTooLong", "BadAspectRatio"].map(
    (error): Case => ["bluesky", 400, { error }, "media_rejected"],
  ),
  ["bluesky", 400, { error: "DailyLimitExceeded" }, "quota_exceeded"],
  ["bluesky", 400, { error: "UploadForbidden" }, "account_restricted"],
  ["bluesky", 400, { error: "ServiceOverloaded" }, "network_unavailable"],
  ["mastodon", 401, { error: "The access token is invalid" }, "connection_needs_reauth"],
  ["mastodon", 401, { error: "The access token was revoked" }, "connection_needs_reauth"],
  [
    "mastodon",
    403,
    { error: "This action is outside the authorized scopes" },
    "permission_missing",
  ],
  ["mastodon", 403, { error: "Your login is currently disabled" }, "account_restricted"],
  [
    "mastodon",
    403,
    { error: "Your login is missing a confirmed e-mail address" },
    "account_restricted",
  ],
  ["mastodon", 403, { error: "Your login is currently pending approval" }, "account_restricted"],
  [
    "mastodon",
    422,
    { error: "Cannot attach files that have not finished processing. Try again in a moment!" },
    "media_not_ready",
  ],
  ["mastodon", 422, { error: "Media 1 not found or already attached" }, "outcome_unknown"],
  ["mastodon", 422, { error: "Cannot attach more than 4 files" }, "media_rejected"],
  ["mastodon", 422, { error: "File content type is invalid" }, "media_rejected"],
  [
    "mastodon",
    422,
    { error: "File type of uploaded media could not be verified" },
    "media_rejected",
  ],
  ["mastodon", 413, "", "media_rejected"],
  [
    "mastodon",
    422,
    { error: "Validation failed: Text character limit of 500 exceeded" },
    "text_too_long",
  ],
  ["mastodon", 422, { error: "Validation failed: Text can't be blank" }, "text_invalid"],
  [
    "mastodon",
    500,
    { error: "Error processing thumbnail for uploaded media" },
    "media_processing_failed",
  ],
  ["mastodon", 429, { error: "Too many requests" }, "rate_limited"],
];

describe("a signal of the contract's mapping", () => {
  it.each(CASES)("%s: %s %j means %s", (network, status, body, code) => {
    const classified = classifiers[network](answer(status, body), NOW);
    expect(classified.code).toBe(code);
    expect(classified.unmappedStatus).toBeUndefined();
  });
});

describe("a pair tells more than its halves", () => {
  it.each<[Known, readonly [number, number], Classified["code"], Classified["code"]]>([
    ["instagram", [4, 2207051], "content_rejected", "rate_limited"],
    ["instagram", [1, 2207057], "media_rejected", "network_unavailable"],
    ["facebook", [190, 492], "permission_missing", "connection_needs_reauth"],
    ["facebook", [368, 1390008], "rate_limited", "content_rejected"],
    ["facebook", [324, 2069019], "media_unreachable", "media_rejected"],
  ])("%s %j means %s, the code alone %s", (network, [code, subcode], both, alone) => {
    const classify = classifiers[network];
    expect(classify(answer(400, graph(code, subcode)), NOW).code).toBe(both);
    expect(classify(answer(400, graph(code)), NOW).code).toBe(alone);
  });

  it.each([
    ["facebook", 506, 1609005, "link_rejected"],
    ["instagram", 2, 2207004, "media_rejected"],
  ] as const)("%s: a known subcode wins over its code %s", (network, code, subcode, means) => {
    expect(classifiers[network](answer(400, graph(code, subcode)), NOW).code).toBe(means);
  });
});

describe("a refusal that no row knows", () => {
  it.each<[Known, number, unknown]>([
    ["facebook", 400, graph(987_654)],
    ["facebook", 403, graph(987_654)],
    ["facebook", 400, graph(100, 987_654)],
    ["facebook", 404, ""],
    ["instagram", 400, graph(987_654, 7)],
    ["linkedin", 400, { code: "SOMETHING_NEW" }],
    ["linkedin", 403, { code: "SOMETHING_NEW" }],
    ["linkedin", 422, { message: "new words" }],
    ["linkedin", 451, ""],
    ["mastodon", 403, { error: "Zugriff verweigert" }],
    ["bluesky", 400, { error: "SomethingNew" }],
    ["bluesky", 403, { error: "SomethingNew" }],
    ["bluesky", 400, { error: "InvalidRequest", message: "whatever" }],
    ["mastodon", 410, { error: "Gone" }],
    ["mastodon", 422, { error: "new words" }],
  ])("%s: %s %j is permanent, blames no connection and is marked", (network, status, body) => {
    const classified = classifiers[network](answer(status, body), NOW);
    expect(classified).toMatchObject({
      code: "invalid_request",
      effect: "refuse",
      unmappedStatus: status,
    });
    expect(failureOf(classified)).toMatchObject({ unmappedStatus: status });
    expect(LEG_ERRORS[classified.code].retryable).toBe(false);
  });

  it.each<[Known, number]>(
    (["facebook", "instagram", "linkedin", "bluesky", "mastodon"] as const).flatMap((network) =>
      [500, 502, 503, 504].map((status): [Known, number] => [network, status]),
    ),
  )("%s: a %s is none, and proves nothing", (network, status) => {
    for (const response of [answer(status, ""), answer(status, { any: 1 }), htmlPage(status)]) {
      const classified = classifiers[network](response, NOW);
      expect(classified).toMatchObject({ effect: "doubt" });
      expect(classified.unmappedStatus).toBeUndefined();
    }
  });
});

describe("a signal with a way out of its own", () => {
  it.each<[Known, number, unknown, string]>([
    ["facebook", 400, graph(190, 459), "facebook.com"],
    ["instagram", 400, graph(190, 464), "facebook.com"],
    ["facebook", 400, graph(190, 492), "owner of the page"],
    ["facebook", 400, graph(200, 1404078), "Page Publishing Authorization"],
    ["facebook", 400, graph(368, 4854002), "identity"],
    ["facebook", 400, graph(368, 1404112), "some days"],
    ["facebook", 400, graph(368, 1390008), "one to three days"],
    ["instagram", 400, graph(4, 2207051), "spam"],
    ["bluesky", 401, { error: "AuthFactorTokenRequired" }, "app password"],
    ["bluesky", 401, { error: "AccountDeactivated" }, "Reactivate"],
    ["bluesky", 403, { error: "UploadForbidden" }, "e-mail"],
    [
      "mastodon",
      403,
      { error: "Your login is missing a confirmed e-mail address" },
      "e-mail address",
    ],
    ["mastodon", 403, { error: "Your login is currently pending approval" }, "moderators"],
  ])("of %s (%i %j) names it on the leg", (network, status, body, words) => {
    const { remediation, code } = problemOf(
      failureOf(classifiers[network](answer(status, body), NOW)),
    );
    expect(remediation).toContain(words);
    expect(remediation).toMatch(/^[A-Z].+[.]$/);
    expect(remediation).not.toBe(LEG_ERRORS[code].remediation);
  });

  it("is told of a file's status as well, and any other has the code's", () => {
    const { remediation } = problemOf(failureOf(facebook.classify(answer(400, graph(190)), NOW)));
    expect(remediation).toBe(LEG_ERRORS.connection_needs_reauth.remediation);
    const status = facebook.classifyStatus("failed with 1404078");
    expect(problemOf(failureOf(status)).remediation).toContain("Page Publishing Authorization");
  });
});

describe.each(Object.entries(tables))("the table of %s", (network, table) => {
  it("says only what the contract has words for", () => {
    for (const { code, rule } of table) {
      expect(LEG_ERRORS[code].message).not.toBe("");
      expect(LEG_ERRORS[code].remediation).not.toBe("");
      if (rule !== undefined) expect(rule).toMatch(new RegExp(`^${network}\\.`));
    }
  });

  it("calls for a new link only where a token, a permission or the account is named", () => {
    const broken = table.filter(({ code }) => code === "connection_needs_reauth");
    expect(broken.length).toBeGreaterThan(0);
    for (const { signal } of broken) {
      const isTokenError = signal.status === 401 || signal.status === undefined;
      expect(isTokenError).toBe(true);
    }
  });

  it("has no row that an earlier one hides", () => {
    const seen = new Set<string>();
    for (const { signal } of table) {
      const shown = JSON.stringify(
        Object.entries(signal).map(([name, value]) => [name, `${value}`]),
      );
      expect(seen.has(shown)).toBe(false);
      seen.add(shown);
    }
  });
});

describe("unmapped signals", () => {
  it("are one line each, with what names them and nothing that the network said", () => {
    const lines: unknown[] = [];
    const log = createLog({ level: "info", sink: (_level, line) => lines.push(JSON.parse(line)) });
    const signals = new UnmappedSignals(log, new Metrics(log));
    const secret = { message: "access_token=abc is odd" };
    const failure = failureOf(facebook.classify(answer(400, graph(987_654, 12, secret)), NOW));
    signals.record("facebook", failure);
    signals.record("facebook", failure);
    signals.record("facebook", { code: "invalid_request", networkCode: "100" });
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({
      level: "warn",
      message: "network.signal_unmapped",
      network: "facebook",
      networkCode: "987654",
      subcode: "12",
      status: 400,
      seen: 2,
    });
    expect(JSON.stringify(lines)).not.toContain("odd");
  });
});
