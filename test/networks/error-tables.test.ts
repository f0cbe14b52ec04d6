import { describe, expect, test } from "vitest";
import type { ClassifiedAnswer, ErrorTable } from "../../src/shared/networks/contract/answers.ts";
import { legFailure } from "../../src/shared/networks/contract/outcome.ts";
import { LEG_ERRORS } from "../../src/shared/networks/contract/errors.ts";
import * as bluesky from "../../src/shared/networks/bluesky/errors.ts";
import * as facebook from "../../src/shared/networks/facebook/errors.ts";
import * as instagram from "../../src/shared/networks/instagram/errors.ts";
import * as linkedin from "../../src/shared/networks/linkedin/errors.ts";
import * as mastodon from "../../src/shared/networks/mastodon/errors.ts";
import type { HttpResponse } from "../../src/shared/runtime/http-call.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { inWords, wordsOfCode } from "../../src/shared/networks/wording.ts";
import { problemOf } from "../../src/shared/publishing/problems.ts";
import { describeRules } from "../../tools/describe-rules.ts";
import { UnmappedSignals } from "../../src/shared/publishing/publish/unmapped-signals.ts";
import { createLog } from "../../src/shared/runtime/log.ts";
import { Metrics } from "../../src/shared/runtime/telemetry/metrics.ts";
import { NOW, answer, htmlPage } from "./scripted-tools.ts";
import { CASES, graph } from "./error-cases.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";

type Classify = (response: HttpResponse, now: Date) => ClassifiedAnswer;
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

describe("a signal of the contract's mapping", () => {
  test.each(CASES)("%s: %s %j means %s, %s", (...[network, status, body, code, effect]) => {
    const classified = classifiers[network](answer(status, body), NOW);
    expect(classified).toMatchObject({ code, effect });
    expect(classified.unmappedStatus).toBeUndefined();
  });
});

describe("a signal that means a rule", () => {
  const record = (message: string) => ({ error: "InvalidRequest", message });
  test.each<[Known, number, unknown, string]>([
    ["bluesky", 400, { error: "VideoTooLong" }, "bluesky.media.duration"],
    ["bluesky", 400, { error: "VideoTooLarge" }, "bluesky.media.size"],
    ["bluesky", 400, { error: "UnsupportedContentType" }, "bluesky.media.type"],
    ["bluesky", 400, record("grapheme too big (maximum 300) at $.text"), "bluesky.text.graphemes"],
    ["bluesky", 400, record("Record/text must not be longer than 3000"), "bluesky.text.bytes"],
    ["facebook", 400, graph(6000, 1363024), "facebook.media.type"],
    ["facebook", 400, graph(6000, 1363026), "facebook.media.duration"],
    ["facebook", 400, graph(6000, 1363023), "facebook.media.size"],
    ["facebook", 400, graph(352), "facebook.media.type"],
    ["facebook", 400, graph(389), "facebook.media.unreachable"],
    ["facebook", 413, "", "facebook.media.size"],
    ["instagram", 413, "", "instagram.media.size"],
    ["instagram", 400, graph(9004, 2207052), "instagram.media.unreachable"],
    ["linkedin", 422, { code: "FIELD_LENGTH_TOO_LONG" }, "linkedin.text.length"],
    ["mastodon", 422, { error: "Text character limit of 500 exceeded" }, "mastodon.text.length"],
    ["mastodon", 422, { error: "Cannot attach more than 4 files" }, "mastodon.media.count"],
    [
      "mastodon",
      422,
      { error: "Cannot attach a video to a post that already contains images" },
      "mastodon.media.mixed",
    ],
    ["mastodon", 422, { error: "9999x9999 images are not supported" }, "mastodon.media.pixels"],
    ["mastodon", 422, { error: "144fps videos are not supported" }, "mastodon.media.frameRate"],
    ["mastodon", 422, { error: "File content type is invalid" }, "mastodon.media.type"],
    ["mastodon", 400, { error: "no text, media or poll" }, "mastodon.content.empty"],
  ])("%s: %s %j names the rule", (network, status, body, rule) => {
    expect(classifiers[network](answer(status, body), NOW).rule).toBe(rule);
  });

  test("the rules of all signals are described, under the code of the signal", () => {
    const codes = new Map(
      describeRules(NETWORK_NAMES.map(networkOf)).map((one) => [one.rule, one.code]),
    );
    for (const { rule, code } of Object.values(tables).flat())
      if (rule !== undefined) expect([rule, codes.get(rule)]).toEqual([rule, code]);
  });
});

describe("a pair tells more than its halves", () => {
  test.each<[Known, readonly [number, number], ClassifiedAnswer["code"], ClassifiedAnswer["code"]]>(
    [
      ["instagram", [4, 2207051], "content_rejected", "rate_limited"],
      ["instagram", [1, 2207057], "media_rejected", "network_unavailable"],
      ["facebook", [190, 492], "permission_missing", "connection_needs_reauth"],
      ["facebook", [368, 1390008], "rate_limited", "content_rejected"],
      ["facebook", [324, 2069019], "media_unreachable", "media_rejected"],
    ],
  )("%s %j means %s, the code alone %s", (network, [code, subcode], both, alone) => {
    const classify = classifiers[network];
    expect(classify(answer(400, graph(code, subcode)), NOW).code).toBe(both);
    expect(classify(answer(400, graph(code)), NOW).code).toBe(alone);
  });

  test.each([
    ["facebook", 506, 1609005, "link_rejected"],
    ["instagram", 2, 2207004, "media_rejected"],
  ] as const)("%s: a known subcode wins over its code %s", (network, code, subcode, means) => {
    expect(classifiers[network](answer(400, graph(code, subcode)), NOW).code).toBe(means);
  });
});

describe("a refusal that no row knows", () => {
  test.each<[Known, number, unknown]>([
    ["facebook", 400, graph(987_654)],
    ["facebook", 403, graph(987_654)],
    ["facebook", 400, graph(100, 987_654)],
    ["facebook", 404, ""],
    ["facebook", 400, graph(100)],
    ["facebook", 400, { error: "text" }],
    ["instagram", 400, graph(100)],
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
    ["mastodon", 400, { error: { message: "words", code: "NO_SUCH_CHANNEL" } }],
    ["mastodon", 422, { error: "new words" }],
    ["mastodon", 422, ""],
    ["mastodon", 400, { error: { code: 400, message: "Bad" } }],
    ["mastodon", 404, { error: "Record not found" }],
    ["bluesky", 404, ""],
    ["linkedin", 404, ""],
  ])("%s: %s %j is permanent, blames no connection and is marked", (network, status, body) => {
    const classified = classifiers[network](answer(status, body), NOW);
    expect(classified).toMatchObject({
      code: "invalid_request",
      effect: "refuse",
      unmappedStatus: status,
    });
    expect(legFailure(classified)).toMatchObject({ unmappedStatus: status });
    expect(LEG_ERRORS[classified.code].retryable).toBe(false);
  });

  test.each<[Known, number]>(
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
  test.each<[Known, number, unknown, string]>([
    ["facebook", 400, graph(190, 459), "Log in to Facebook"],
    ["instagram", 400, graph(190, 459), "Log in to Instagram"],
    [
      "instagram",
      400,
      graph(190, undefined, {
        message:
          "Error validating access token: You cannot access the app till you log in to www.instagram.com and follow the instructions given.",
      }),
      "Log in to Instagram",
    ],
    ["mastodon", 403, { error: "Account size limit reached." }, "Delete older posts there"],
    ["instagram", 400, graph(190, 464), "Log in to Instagram"],
    ["facebook", 400, graph(415, 2859009), "Log in to Facebook"],
    ["facebook", 400, graph(100, 1404006), "security check"],
    ["mastodon", 403, { error: "This action is not allowed" }, "administrators"],
    ["mastodon", 308, "", "link the account again"],
    ["bluesky", 308, "", "link the account again"],
    ["instagram", 400, graph(100, 2207018), "collaborators"],
    [
      "facebook",
      400,
      graph(100, undefined, { message: "No permission to publish the video" }),
      "owner of the page",
    ],
    ["facebook", 400, graph(190, 492), "owner of the page"],
    ["facebook", 400, graph(200, 1404078), "Page Publishing Authorization"],
    ["facebook", 400, graph(368, 4854002), "identity"],
    ["facebook", 400, graph(368, 1404112), "a few days"],
    ["facebook", 400, graph(368, 1390008), "one to three days"],
    ["instagram", 400, graph(4, 2207051), "spam"],
    ["bluesky", 401, { error: "AuthFactorTokenRequired" }, "app password"],
    ["bluesky", 401, { error: "AccountDeactivated" }, "Reactivate"],
    ["bluesky", 403, { error: "UploadForbidden" }, "email"],
    [
      "mastodon",
      403,
      { error: "Your login is missing a confirmed e-mail address" },
      "email address",
    ],
    ["mastodon", 403, { error: "Your login is currently pending approval" }, "moderators"],
  ])("a signal of %s (%i %j) names its own way out", (network, status, body, words) => {
    const found = problemOf(legFailure(classifiers[network](answer(status, body), NOW)));
    const { message, remediation } = inWords(found, { network, locale: "en" });
    expect(`${message} ${remediation}`).toContain(words);
    expect(remediation).not.toBe(wordsOfCode(found.code).remediation);
  });

  test.each([2207082, 2207085])(
    "a signal of a video that Instagram could not process is the file's",
    (of) => {
      const status = instagram.classifyStatus(
        `Error: Media upload has failed with error code ${of}`,
      );
      expect(legFailure(status)).toMatchObject({ code: "media_processing_failed" });
    },
  );

  test("a file that Instagram could not download is told so by its words, too", () => {
    const said = "Error: Media download has failed. The media URI doesn't meet our requirements.";
    expect(legFailure(instagram.classifyStatus(said))).toMatchObject({ code: "media_unreachable" });
  });

  test.each(["/login", "https://pixelfed.example/login?next=%2F", "/users/sign_in", "/log-in/"])(
    "a server that leads to its login page (%s) accepts no token",
    (location) => {
      const page = "<!DOCTYPE html><title>Redirecting</title>";
      for (const status of [302, 303, 307]) {
        const classified = mastodon.classify(
          answer(status, page, { location, "content-type": "text/html" }),
          NOW,
        );
        expect(classified).toMatchObject({ code: "connection_needs_reauth", isProof: true });
      }
    },
  );

  test("a signal with a way out of its own is told about a file's status as well, and any other has the code's", () => {
    const { rule } = problemOf(legFailure(facebook.classify(answer(400, graph(190)), NOW)));
    expect(rule).toBeNull();
    const status = facebook.classifyStatus("failed with 1404078");
    expect(problemOf(legFailure(status)).rule).toBe("facebook.account.publishingAuthorization");
  });
});

describe.each(Object.entries(tables))("the table of %s", (network, table) => {
  test("names only codes and rules of the contract", () => {
    const known = describeRules([networkOf(network as Known)]);
    for (const { code, rule } of table) {
      expect(Object.keys(LEG_ERRORS)).toContain(code);
      if (rule !== undefined) expect(known.map((described) => described.rule)).toContain(rule);
    }
  });

  test("calls for a new link only where a token, a permission or the account is named", () => {
    const broken = table.filter(({ code }) => code === "connection_needs_reauth");
    expect(broken.length).toBeGreaterThan(0);
    for (const { signal } of broken) {
      // Servers like Mastodon say in words of their own that a request has no valid token.
      const isTokenError = signal.status === 401 || signal.status === undefined;
      const isSaid = network === "mastodon" && signal.message !== undefined;
      expect(isTokenError || isSaid).toBe(true);
    }
  });

  test("a table of errors has no row that an earlier one hides", () => {
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
  test("unmapped signals are one line each, with what names them and nothing that the network said", () => {
    const lines: unknown[] = [];
    const log = createLog({ level: "info", sink: (_level, line) => lines.push(JSON.parse(line)) });
    const signals = new UnmappedSignals(log, new Metrics(log));
    const secret = { message: "access_token=abc is odd" };
    const failure = legFailure(facebook.classify(answer(400, graph(987_654, 12, secret)), NOW));
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
