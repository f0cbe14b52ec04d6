import { describe, expect, test } from "vitest";
import { noteOf, waitSeconds } from "../../../src/shared/networks/contract/answers.ts";
import { unpublished } from "../../../src/shared/networks/contract/outcome.ts";
import { classify as classifyBluesky } from "../../../src/shared/networks/bluesky/errors.ts";
import { classify as classifyMastodon } from "../../../src/shared/networks/mastodon/errors.ts";
import { NOW, answer, htmlPage } from "../../networks/scripted-tools.ts";

const UNIX_NOW = NOW.getTime() / 1000;
const soon = { "ratelimit-reset": String(UNIX_NOW + 30) };
const late = { "ratelimit-reset": String(UNIX_NOW + 6 * 3600) };
const record = "Invalid app.bsky.feed.post record:";

describe("Bluesky's answers", () => {
  test.each<[number, unknown, string, string]>([
    [
      400,
      { error: "ExpiredToken", message: "Token has expired" },
      "network_unavailable",
      "at_once",
    ],
    [400, { error: "InvalidToken", message: "Bad token" }, "network_unavailable", "at_once"],
    [401, { error: "AuthenticationRequired" }, "connection_needs_reauth", "refuse"],
    [401, { error: "AuthMissing" }, "connection_needs_reauth", "refuse"],
    [401, { error: "AuthFactorTokenRequired" }, "connection_needs_reauth", "refuse"],
    [401, { error: "SomethingNew" }, "connection_needs_reauth", "refuse"],
    [401, { error: "AccountTakedown" }, "account_restricted", "refuse"],
    [401, { error: "AccountDeactivated" }, "account_restricted", "refuse"],
    [400, { error: "RepoDeactivated" }, "account_restricted", "refuse"],
    [403, { error: "ScopeMissingError" }, "permission_missing", "refuse"],
    [
      400,
      {
        error: "InvalidRequest",
        message: `${record} Record/text must not be longer than 300 graphemes`,
      },
      "text_too_long",
      "refuse",
    ],
    [
      400,
      {
        error: "InvalidRequest",
        message: `${record} grapheme too big (maximum 300, got 301) at $.text`,
      },
      "text_too_long",
      "refuse",
    ],
    [
      400,
      {
        error: "InvalidRequest",
        message: `${record} string too big (maximum 3000, got 3001) at $.text`,
      },
      "text_too_long",
      "refuse",
    ],
    [
      400,
      {
        error: "InvalidRequest",
        message: `${record} integer too small at $.facets[0].index.byteStart`,
      },
      "text_invalid",
      "refuse",
    ],
    [
      400,
      { error: "InvalidRequest", message: `${record} blob too big at $.embed.images[0].image` },
      "media_rejected",
      "refuse",
    ],
    [400, { error: "InvalidRequest", message: "whatever" }, "invalid_request", "refuse"],
    [400, { error: "SomethingNew" }, "invalid_request", "refuse"],
    [400, { error: "BlobNotFound" }, "media_processing_failed", "prepare_again"],
    [
      400,
      { error: "InvalidRequest", message: "Could not find blob: bafk" },
      "media_processing_failed",
      "prepare_again",
    ],
    [400, { error: "InvalidMimeType" }, "media_rejected", "prepare_again"],
    [400, { error: "InvalidSize" }, "media_rejected", "prepare_again"],
    [413, { error: "PayloadTooLarge" }, "media_rejected", "refuse"],
    [400, { error: "VideoTooLong" }, "media_rejected", "refuse"],
    [400, { error: "DailyLimitExceeded" }, "quota_exceeded", "refuse"],
    [400, { error: "UploadForbidden" }, "account_restricted", "refuse"],
    [400, { error: "InvalidSwap" }, "outcome_unknown", "doubt"],
    [500, { error: "InternalServerError" }, "outcome_unknown", "doubt"],
    [502, { error: "UpstreamFailure" }, "outcome_unknown", "doubt"],
    [503, "", "outcome_unknown", "doubt"],
    [408, "", "outcome_unknown", "doubt"],
    [200, "", "outcome_unknown", "doubt"],
    [404, "", "invalid_request", "refuse"],
    [413, "", "media_rejected", "refuse"],
  ])("%s %j means %s, %s", (status, body, code, effect) => {
    expect(classifyBluesky(answer(status, body), NOW)).toMatchObject({ code, effect });
  });

  test("wait until the limit is reset, or end the leg when that is the day's allowance", () => {
    const body = { error: "RateLimitExceeded", message: "Rate Limit Exceeded" };
    expect(classifyBluesky(answer(429, body, soon), NOW)).toMatchObject({
      code: "rate_limited",
      effect: "later",
      retryAfterSeconds: 30,
    });
    expect(classifyBluesky(answer(429, body, late), NOW)).toMatchObject({
      code: "quota_exceeded",
      effect: "refuse",
    });
  });

  test.each([400, 403, 502])("from a proxy (%s, HTML) prove nothing", (status) => {
    expect(classifyBluesky(htmlPage(status), NOW).effect).toBe("doubt");
  });
});

describe("Mastodon's answers", () => {
  test.each<[number, unknown, string, string]>([
    [401, { error: "The access token is invalid" }, "connection_needs_reauth", "refuse"],
    [401, "", "connection_needs_reauth", "refuse"],
    [
      403,
      { error: "This action is outside the authorized scopes" },
      "permission_missing",
      "refuse",
    ],
    [403, { error: "Your login is currently disabled" }, "account_restricted", "refuse"],
    [
      403,
      { error: "Your login is missing a confirmed e-mail address" },
      "account_restricted",
      "refuse",
    ],
    [403, { error: "Your login is currently pending approval" }, "account_restricted", "refuse"],
    [403, { error: "This action is not allowed" }, "content_rejected", "refuse"],
    [
      422,
      { error: "Cannot attach files that have not finished processing. Try again in a moment!" },
      "media_not_ready",
      "prepare_again",
    ],
    [
      422,
      { error: "Media 1, 2 not found or already attached to another post" },
      "outcome_unknown",
      "doubt",
    ],
    [
      422,
      { error: "Cannot attach a video to a post that already contains images" },
      "media_rejected",
      "refuse",
    ],
    [422, { error: "Cannot attach more than 4 files" }, "media_rejected", "refuse"],
    [422, { error: "Validation failed: File content type is invalid" }, "media_rejected", "refuse"],
    [
      422,
      { error: "File type of uploaded media could not be verified" },
      "media_rejected",
      "refuse",
    ],
    [
      422,
      { error: "Validation failed: Text character limit of 500 exceeded" },
      "text_too_long",
      "refuse",
    ],
    [422, { error: "Validation failed: Text can't be blank" }, "text_invalid", "refuse"],
    [422, { error: "Validation failed: something else" }, "invalid_request", "refuse"],
    [422, "", "invalid_request", "refuse"],
    [413, "", "media_rejected", "refuse"],
    [
      500,
      { error: "Error processing thumbnail for uploaded media" },
      "media_processing_failed",
      "later",
    ],
    [500, { error: "oops" }, "outcome_unknown", "doubt"],
    [503, { error: "Remote SSL certificate could not be verified" }, "outcome_unknown", "doubt"],
    [429, { error: "Too many requests" }, "rate_limited", "later"],
    [404, { error: "Record not found" }, "invalid_request", "refuse"],
    [400, { error: { code: 400, message: "Bad" } }, "invalid_request", "refuse"],
    [200, "ok", "outcome_unknown", "doubt"],
  ])("%s %j means %s, %s", (status, body, code, effect) => {
    expect(classifyMastodon(answer(status, body), NOW)).toMatchObject({ code, effect });
  });

  test("wait until the limit is reset", () => {
    const reset = new Date(NOW.getTime() + 90_000).toISOString();
    const classified = classifyMastodon(
      answer(429, { error: "Too many requests" }, { "x-ratelimit-reset": reset }),
      NOW,
    );
    expect(classified).toMatchObject({ code: "rate_limited", retryAfterSeconds: 90 });
  });

  test.each([
    ["Mastodon", classifyMastodon, "x-ratelimit-reset"],
    ["Bluesky", classifyBluesky, "ratelimit-reset"],
  ])(
    "of %s that is down are waited for as long as it says, not until a limit's reset",
    (_name, classify, header) => {
      const reset = new Date(NOW.getTime() + 3_600_000).toISOString();
      const down = answer(503, "", { [header]: reset });
      expect(classify(down, NOW).retryAfterSeconds).toBeNull();
      const stated = answer(503, "", { [header]: reset, "retry-after": "20" });
      expect(classify(stated, NOW).retryAfterSeconds).toBe(20);
    },
  );

  test("wait for no reset where nothing was limited", () => {
    const reset = new Date(NOW.getTime() + 90_000).toISOString();
    const classified = classifyMastodon(answer(404, "", { "x-ratelimit-reset": reset }), NOW);
    expect(classified.retryAfterSeconds).toBeNull();
  });

  test.each([
    ["plain", "plain"],
    ['"a string"', "a string"],
    [{ error: "words" }, "words"],
    [{ error: { message: "deep" } }, "deep"],
    [{ message: "other" }, "other"],
  ])("in the form %j give the words %s", (body, note) => {
    expect(classifyMastodon(answer(422, body), NOW).note).toBe(note);
  });

  test.each([403, 404, 502])("from a proxy (%s, HTML) prove nothing", (status) => {
    expect(classifyMastodon(htmlPage(status), NOW)).toMatchObject({ effect: "doubt", note: "" });
  });

  test("refuse a large file even from the web server in front", () => {
    expect(classifyMastodon(htmlPage(413), NOW).code).toBe("media_rejected");
  });
});

describe("a note", () => {
  test.each([
    ["Bearer abcdefghijklmnop is bad", "Bearer [redacted] is bad"],
    ["token eyJhbGciOiJI.eyJzdWIi.sig gone", "token [redacted] gone"],
    ['{"access_token":"abc123","x":1}', '{"access_token":"[redacted]","x":1}'],
    ["client_secret=abc&y=1", "client_secret=[redacted]&y=1"],
    [
      "https://a.example/cb?code=abc&state=def",
      "https://a.example/cb?code=[redacted]&state=[redacted]",
    ],
    ["password abcd-efgh-ijkl-mnop refused", "password [redacted] refused"],
    ["error_code: 190", "error_code: 190"],
    ["a\n  b", "a b"],
  ])("%j reads %j", (text, expected) => {
    expect(noteOf(text)).toBe(expected);
  });

  test("has at most 500 characters", () => {
    expect(noteOf("x".repeat(5000))).toHaveLength(500);
  });
});

describe("a time to wait", () => {
  test.each([
    ["30", 30],
    ["0", 1],
    ["-5", 1],
    [String(UNIX_NOW + 10), 10],
    [new Date(NOW.getTime() + 60_000).toISOString(), 60],
    [new Date(NOW.getTime() + 60_000).toUTCString(), 60],
    ["999999", 86_400],
    ["soon", null],
    ["", null],
  ])("is read from %j as %s", (value, seconds) => {
    expect(waitSeconds(answer(429, "", { "retry-after": value }), ["retry-after"], NOW)).toBe(
      seconds,
    );
  });
});

describe("a call that shows nothing", () => {
  const base = { code: "rate_limited", networkCode: null, note: "", retryAfterSeconds: 7 } as const;

  test.each([
    ["refuse", { kind: "rejected", failure: { code: "rate_limited" } }],
    ["later", { kind: "try_later", failure: { code: "rate_limited" }, retryAfterSeconds: 7 }],
    ["at_once", { kind: "try_later", retryAfterSeconds: 0 }],
    ["doubt", { kind: "try_later", failure: { code: "network_unavailable" } }],
    ["prepare_again", { kind: "try_later", failure: { code: "rate_limited" } }],
  ] as const)("and means %s leaves the leg unpublished", (effect, outcome) => {
    expect(unpublished({ ...base, effect })).toMatchObject(outcome);
  });
});
