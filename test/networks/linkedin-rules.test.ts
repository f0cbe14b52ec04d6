import { describe, expect, test } from "vitest";
import { classify, duplicateUrn } from "../../src/shared/networks/linkedin/errors.ts";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import { platformOptionsSchema } from "../../src/shared/networks/networks.ts";
import { NOW, answer, htmlPage } from "./scripted-tools.ts";
import { draft, images, media, rules } from "./drafts.ts";

const link = { url: "https://a.example", title: "A" };

describe("LinkedIn's rules", () => {
  test.each<[string, Partial<LegDraft>, readonly string[]]>([
    ["2700 characters", { text: "x".repeat(2700) }, []],
    ["above nine tenths", { text: "x".repeat(2701) }, ["warning linkedin.text.nearLimit"]],
    ["exactly 3000", { text: "_".repeat(3000) }, ["warning linkedin.text.nearLimit"]],
    ["3001 characters", { text: "x".repeat(3001) }, ["error linkedin.text.length"]],
    ["1501 emoji of two units", { text: "👋".repeat(1501) }, ["error linkedin.text.length"]],
    ["nothing", { text: " \n" }, ["error linkedin.content.empty"]],
    ["a link card alone", { text: "", options: { link } }, []],
    ["a file alone", { text: "", media: images(1) }, []],
    ["twenty images", { media: images(20) }, []],
    ["21 images", { media: images(21) }, ["error linkedin.media.count"]],
    ["two videos", { media: media("a.mp4", "b.MP4") }, ["error linkedin.media.count"]],
    ["image and video", { media: media("a.jpg", "b.mp4") }, ["error linkedin.media.mixed"]],
    [
      "image and document",
      { media: media("a.jpg", "b.pdf"), options: { documentTitle: "B" } },
      ["error linkedin.media.mixed"],
    ],
    ["names without an ending", { media: media("a", "b.php") }, []],
    ["another kind of video", { media: media("a.mov") }, ["warning linkedin.media.typeUnknown"]],
    ["an image that is converted", { media: media("a.webp") }, []],
    [
      "an image that cannot be converted",
      { media: media("a.svg") },
      ["warning linkedin.media.typeUnknown"],
    ],
    ["audio", { media: media("a.mp3") }, ["error linkedin.media.type"]],
    ["a document", { media: media("a.pdf"), options: { documentTitle: "A" } }, []],
    ["a document without a title", { media: media("a.pdf") }, ["warning linkedin.document.title"]],
    [
      "two documents",
      { media: media("a.pdf", "b.pdf"), options: { documentTitle: "A" } },
      ["error linkedin.media.count"],
    ],
    ["a document of another kind", { media: media("a.docx"), options: { documentTitle: "A" } }, []],
    [
      "a long alternative text",
      { media: [{ url: "https://files.example/a.jpg", altText: "x".repeat(4087) }] },
      ["warning linkedin.altText.shortened"],
    ],
    [
      "the longest alternative text",
      { media: [{ url: "https://files.example/a.jpg", altText: "x".repeat(4086) }] },
      [],
    ],
    [
      "a card beside media",
      { media: images(1), options: { link } },
      ["warning linkedin.link.media"],
    ],
    [
      "a title without a document",
      { media: media("a.jpg"), options: { documentTitle: "A" } },
      ["warning linkedin.documentTitle.unused"],
    ],
  ])("judge %s", (_what, overrides, expected) => {
    expect(rules(linkedin.check(draft(overrides), {}))).toEqual(expected);
  });

  test("know that a company page has no connections", () => {
    const toConnections = draft({ options: { visibility: "CONNECTIONS" } });
    expect(rules(linkedin.check(toConnections, { kind: "organization" }))).toEqual([
      "error linkedin.visibility.organization",
    ]);
    expect(linkedin.check(toConnections, { kind: "member" })).toEqual([]);
    expect(linkedin.check(toConnections, {})).toEqual([]);
  });

  test("measure what was written, not what is escaped", () => {
    const measured = linkedin.measure(draft({ text: "a_b 👋" }));
    expect(measured).toEqual({ usedCharacters: 6, maxCharacters: 3000 });
  });

  test("count every post", () => {
    expect(linkedin.quotaOf()).toBe("posts");
  });

  test("name the field that the text came from", () => {
    const text = "x".repeat(3001);
    const own = linkedin.check(draft({ text, options: { text } }), {});
    expect(own[0]?.field).toBe("platformOptions.linkedin.text");
  });
});

describe("LinkedIn's options", () => {
  test.each([
    [{ visibility: "PUBLIC", documentTitle: "A" }, true],
    [{ visibility: "CONNECTIONS" }, true],
    [{ visibility: "LOGGED_IN" }, false],
    [{ link }, true],
    [{ link: { ...link, description: "d", thumbnailUrl: "https://a.example/b.jpg" } }, true],
    [{ link: { url: "https://a.example" } }, false],
    [{ link: { ...link, url: "javascript:alert(1)" } }, false],
    [{ link: { ...link, thumbnailUrl: "http://a.example/b.jpg" } }, false],
    [{ link: { ...link, title: "x".repeat(401) } }, false],
    [{ link: { ...link, unknown: 1 } }, false],
    [{ documentTitle: " " }, false],
  ])("%j: %s", (options, expected) => {
    expect(platformOptionsSchema().safeParse({ linkedin: options }).success).toBe(expected);
  });
});

describe("LinkedIn's answers", () => {
  const wording = "Content is a duplicate of urn:li:share:6844785523593134080";

  const throttle = (level: string) => ({
    status: 429,
    serviceErrorCode: 101,
    message: `Resource level throttle ${level} limit for calls to this resource is reached.`,
  });

  test.each([
    ["MEMBER DAY", "quota_exceeded", "refuse"],
    ["APPLICATION DAY", "rate_limited", "refuse"],
    ["APPLICATION MINUTE", "rate_limited", "later"],
    ["MEMBER MINUTE", "rate_limited", "later"],
  ])("tell whose limit is reached: %s means %s", (level, code, effect) => {
    const reply = answer(429, throttle(level), { "retry-after": "40000" });
    expect(classify(reply, NOW)).toMatchObject({
      code,
      effect,
      networkCode: "101",
      retryAfterSeconds: 40_000,
    });
  });

  test("a limit of the app says that the account is not the cause, and until when", () => {
    expect(classify(answer(429, throttle("APPLICATION DAY")), NOW)).toMatchObject({
      isOfApp: true,
      rule: "linkedin.calls.appDay",
    });
  });

  test.each([400, 401, 403, 422, 502])(
    "a proxy's answer for LinkedIn (%s) proves nothing",
    (status) => {
      expect(classify(htmlPage(status), NOW)).toMatchObject({ effect: "doubt", note: "" });
    },
  );

  test("name the post that this one repeats", () => {
    const named = (message: string) => duplicateUrn(answer(422, { message }));
    expect(named(wording)).toBe("urn:li:share:6844785523593134080");
    expect(named("Content is a duplicate of urn:li:ugcPost:12")).toBe("urn:li:ugcPost:12");
    expect(named("Unknown urn:li:share:12")).toBeUndefined();
  });
});
