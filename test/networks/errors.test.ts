import { describe, expect, test } from "vitest";
import { noteOf, waitSeconds } from "../../src/shared/networks/contract/answers.ts";
import { unpublished } from "../../src/shared/networks/contract/outcome.ts";
import { classify as classifyBluesky } from "../../src/shared/networks/bluesky/errors.ts";
import { classify as classifyMastodon } from "../../src/shared/networks/mastodon/errors.ts";
import { NOW, answer, htmlPage } from "./scripted-tools.ts";

const UNIX_NOW = NOW.getTime() / 1000;
const soon = { "ratelimit-reset": String(UNIX_NOW + 30) };
const late = { "ratelimit-reset": String(UNIX_NOW + 6 * 3600) };

describe("Bluesky's answers", () => {
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

  test.each([400, 403, 502])("a proxy's answer for Bluesky (%s) proves nothing", (status) => {
    expect(classifyBluesky(htmlPage(status), NOW).effect).toBe("doubt");
  });
});

describe("Mastodon's answers", () => {
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
  ])("%s that is down is waited for as long as it says", (_name, classify, header) => {
    const reset = new Date(NOW.getTime() + 3_600_000).toISOString();
    const down = answer(503, "", { [header]: reset });
    expect(classify(down, NOW).retryAfterSeconds).toBeNull();
    const stated = answer(503, "", { [header]: reset, "retry-after": "20" });
    expect(classify(stated, NOW).retryAfterSeconds).toBe(20);
  });

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
  ])("Mastodon's answers in the form %j give the words %s", (body, note) => {
    expect(classifyMastodon(answer(422, body), NOW).note).toBe(note);
  });

  test.each([403, 404, 502])("a proxy's answer for Mastodon (%s) proves nothing", (status) => {
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

  test("a note has at most 500 characters", () => {
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
  ])("a time to wait is read from %j as %s", (value, seconds) => {
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
  ] as const)("a call that means %s leaves the leg unpublished", (effect, outcome) => {
    expect(unpublished({ ...base, effect })).toMatchObject(outcome);
  });
});
