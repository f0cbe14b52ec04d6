import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { classify, classifyStatus } from "../../src/shared/networks/facebook/errors.ts";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import { lookAtVideo } from "../../src/shared/networks/facebook/video-status.ts";
import { pageUrl } from "../../src/shared/networks/graph/request.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import { findAvailable, platformOptionsSchema } from "../../src/shared/networks/networks.ts";
import { LOOK, credentials, tools } from "./facebook-script.ts";
import { type Reply, NOW, answer, htmlPage, lost } from "./scripted-tools.ts";
import { draft, images, media, rules } from "./drafts.ts";

function graph(code: number, subcode?: number, more: Record<string, unknown> = {}) {
  return {
    error: {
      message: "words",
      type: "OAuthException",
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
      fbtrace_id: "X",
      ...more,
    },
  };
}

describe("Facebook's rules", () => {
  const described = { url: "https://files.example/a.mp4", altText: "A clip" };

  test.each<[string, Partial<LegDraft>, readonly string[]]>([
    ["nine tenths of the limit", { text: "x".repeat(56_885) }, []],
    ["above nine tenths", { text: "x".repeat(56_886) }, ["warning facebook.text.nearLimit"]],
    [
      "the limit in UTF-16 units",
      { text: "👋".repeat(31_603) },
      ["warning facebook.text.nearLimit"],
    ],
    ["beyond the limit", { text: "x".repeat(63_207) }, ["error facebook.text.length"]],
    ["nothing", { text: " \n" }, ["error facebook.content.empty"]],
    ["a first comment", { options: { firstComment: "First" } }, []],
    [
      "a first comment on a story",
      { text: "", media: images(1), options: { kind: "story", firstComment: "First" } },
      ["error facebook.firstComment.story"],
    ],
    ["a link alone", { text: "", options: { link: "https://a.example" } }, []],
    ["a file alone", { text: "", media: images(1) }, []],
    ["ten images", { media: images(10) }, []],
    ["eleven images", { media: images(11) }, ["error facebook.media.count"]],
    ["two videos", { media: media("a.mp4", "b.mov") }, ["error facebook.media.count"]],
    ["image and video", { media: media("a.jpg", "b.mp4") }, ["error facebook.media.mixed"]],
    ["audio", { media: media("a.mp3") }, ["error facebook.media.type"]],
    [
      "an image that cannot be converted",
      { media: media("a.svg") },
      ["warning facebook.media.typeUnknown"],
    ],
    ["a name without an ending", { media: media("a") }, []],
    ["a reel", { media: media("a.mp4"), options: { kind: "reel" } }, []],
    [
      "a reel of an image",
      { media: images(1), options: { kind: "reel" } },
      ["error facebook.reel.media"],
    ],
    ["a reel of nothing", { options: { kind: "reel" } }, ["error facebook.reel.media"]],
    [
      "a story of two images",
      { text: "", media: images(2), options: { kind: "story" } },
      ["error facebook.story.media"],
    ],
    [
      "a story with words",
      { media: images(1), options: { kind: "story" } },
      ["warning facebook.story.text"],
    ],
    ["a description of a video", { media: [described] }, ["warning facebook.altText.unused"]],
    [
      "a link beside media",
      { media: images(1), options: { link: "https://a.example" } },
      ["warning facebook.link.media"],
    ],
    [
      "a link to Facebook itself",
      { options: { link: "https://m.facebook.com/x" } },
      ["error facebook.link.own"],
    ],
    ...[
      "facebook.com/x",
      "FACEBOOK.com./x",
      "web.facebook.com/x",
      "fb.com/x",
      "fb.me/x",
      "fb.watch/x/",
    ].map((link): [string, Partial<LegDraft>, string[]] => [
      `a link to ${link}`,
      { options: { link: `https://${link}` } },
      ["error facebook.link.own"],
    ]),
    ...[
      "notfacebook.com/x",
      "about.fb.com/news/",
      "developers.facebook.com/docs/",
      "m.me/bakery",
    ].map((link): [string, Partial<LegDraft>, string[]] => [
      `a link to ${link}`,
      { options: { link: `https://${link}` } },
      [],
    ]),
  ])("judge %s", (_what, overrides, expected) => {
    expect(rules(facebook.check(draft(overrides)))).toEqual(expected);
  });

  test.each<[string, Partial<LegDraft>, string | undefined]>([
    ["text", {}, undefined],
    ["photos", { media: images(2) }, undefined],
    ["one video", { media: media("a.mp4") }, undefined],
    ["a video that is to be a reel", { media: media("a"), options: { kind: "reel" } }, "reels"],
    ["a feed video", { media: media("a.mp4"), options: { kind: "feed" } }, undefined],
    ["a story", { media: media("a.mp4"), options: { kind: "story" } }, undefined],
  ])("count %s towards the quota as %s", (_what, overrides, quota) => {
    expect(facebook.quotaOf(draft(overrides))).toBe(quota);
  });

  test.each([
    ["reel", "reels"],
    ["video", undefined],
  ])("count what became a %s towards the quota as %s", (form, quota) => {
    expect(facebook.quotaOf(draft({ media: media("a.mp4") }), { form })).toBe(quota);
  });

  test("leave open what names without an ending don't tell", () => {
    const options = { kind: "reel" };
    expect(rules(facebook.check(draft({ media: media("a"), options })))).toEqual([]);
    expect(rules(facebook.check(draft({ media: media("a.jpg"), options })))).toEqual([
      "error facebook.reel.media",
    ]);
  });

  test("measure UTF-16 units", () => {
    expect(facebook.measure(draft({ text: "a👋" }))).toEqual({
      usedCharacters: 3,
      maxCharacters: 63_206,
    });
  });

  test("name the field that the text came from, and the numbers", () => {
    const text = "x".repeat(63_207);
    const [problem] = facebook.check(draft({ text, options: { text } }));
    expect(problem).toMatchObject({
      field: "platformOptions.facebook.text",
      values: { used: 63_207, limit: 63_206 },
    });
  });

  test.each([
    [{ kind: "feed" }, true],
    [{ kind: "carousel" }, false],
    [{ link: "https://a.example/x", title: "A title" }, true],
    [{ link: "ftp://a.example" }, false],
    [{ link: "no address" }, false],
    [{ title: "" }, false],
    [{ title: "x".repeat(256) }, false],
    [{ shareToFeed: true }, false],
  ])("take the options %j: %s", (options, expected) => {
    expect(platformOptionsSchema().safeParse({ facebook: options }).success).toBe(expected);
  });
});

describe("Facebook's answers", () => {
  test("carry both numbers and Meta's words, without secrets", () => {
    const body = graph(368, 1346003, {
      message: "Bad access_token=abcdef123",
      error_user_title: "Not allowed",
      error_user_msg: "It goes against our standards.",
    });
    expect(classify(answer(400, body), NOW)).toMatchObject({
      networkCode: "368/1346003",
      note: "Bad access_token=[redacted] Not allowed It goes against our standards.",
    });
    expect(classify(answer(400, graph(506)), NOW).networkCode).toBe("506");
    expect(classify(answer(503, "down"), NOW)).toMatchObject({
      networkCode: "HTTP 503",
      note: "down",
    });
  });

  test("wait as long as Meta says of the limit that was hit, whatever the header says of others", () => {
    const usage = {
      "x-business-use-case-usage": JSON.stringify({
        "1234567890": [
          { type: "ads_insights", call_count: 100, estimated_time_to_regain_access: 300 },
          { type: "ads_management", call_count: 1, estimated_time_to_regain_access: 0 },
        ],
        "42": [{ type: "pages", call_count: 101, estimated_time_to_regain_access: 2 }],
      }),
    };
    expect(classify(answer(400, graph(80001), usage), NOW)).toMatchObject({
      code: "rate_limited",
      effect: "later",
      isProof: true,
      retryAfterSeconds: 120,
    });
    expect(classify(answer(400, graph(4), usage), NOW).retryAfterSeconds).toBeNull();
  });

  test("wait as long as Meta says, or end the leg when no attempt comes so late", () => {
    const usage = (minutes: number) => ({
      "x-business-use-case-usage": JSON.stringify({
        "1": [{ type: "pages", estimated_time_to_regain_access: minutes }],
      }),
    });
    expect(classify(answer(400, graph(80001), usage(3)), NOW)).toMatchObject({
      code: "rate_limited",
      retryAfterSeconds: 180,
    });
    expect(classify(answer(400, graph(80001), usage(600)), NOW)).toMatchObject({
      code: "quota_exceeded",
      effect: "refuse",
      isProof: true,
      rule: "facebook.calls.paused",
      values: { hours: 10 },
    });
    const broken = { "x-business-use-case-usage": "{", "retry-after": "7" };
    expect(classify(answer(400, graph(4), broken), NOW).retryAfterSeconds).toBe(7);
    expect(classify(answer(400, graph(506), usage(600)), NOW).code).toBe("duplicate_content");
  });

  test.each([400, 403, 502])("a proxy's answer for Facebook (%s) proves nothing", (status) => {
    expect(classify(htmlPage(status), NOW)).toMatchObject({ effect: "doubt", note: "" });
  });
});

describe("the app at Facebook or Instagram", () => {
  const at = (given: Readonly<Record<string, string>>) =>
    parseConfig({
      AZURE_FUNCTIONS_ENVIRONMENT: "Development",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
      ...given,
    }).networkApps;

  test("makes its network available, with the version of the API", () => {
    const both = { FACEBOOK_APP_ID: "1", FACEBOOK_APP_SECRET: "s" };
    const apps = at({ ...both, INSTAGRAM_APP_ID: "2", INSTAGRAM_APP_SECRET: "t" });
    expect(apps.facebook).toEqual({ id: "1", secret: "s", version: "v26.0" });
    expect(apps.instagram).toEqual({ id: "2", secret: "t", version: "v26.0" });
    expect(at({ ...both, GRAPH_VERSION: "v27.0" }).facebook?.version).toBe("v27.0");
    expect(findAvailable("facebook", apps)?.name).toBe("facebook");
    expect(findAvailable("facebook", at({}))).toBeUndefined();
    expect(findAvailable("instagram", at(both))).toBeUndefined();
    expect(findAvailable("bluesky", at({}))?.name).toBe("bluesky");
  });

  test.each([
    [
      { FACEBOOK_APP_ID: "1" },
      "FACEBOOK_APP_ID, FACEBOOK_APP_SECRET: must be given both or neither",
    ],
    [
      { INSTAGRAM_APP_SECRET: "s" },
      "INSTAGRAM_APP_ID, INSTAGRAM_APP_SECRET: must be given both or neither",
    ],
    [{ GRAPH_VERSION: "26" }, "GRAPH_VERSION: must be a version such as v26.0"],
  ])("the app at Facebook or Instagram that is half set is refused: %j", (given, message) => {
    expect(() => at(given)).toThrow(message);
  });
});

describe("a video's status", () => {
  const status = (fields: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    answer(200, { id: "1", status: fields, ...more });
  const phase = (name: string) => ({ status: name });
  const look = (reply: Reply) =>
    lookAtVideo("9", { credentials, tools: tools({ http: { [LOOK]: reply } }) });

  test.each<[string, Record<string, unknown>, unknown]>([
    [
      "nothing arrived",
      { video_status: "uploading", uploading_phase: phase("not_started") },
      { kind: "uploading", isTouched: false },
    ],
    [
      "some of it arrived",
      { uploading_phase: { status: "in_progress", bytes_transfered: 5 } },
      { kind: "uploading", isTouched: true },
    ],
    [
      "some of it arrived, as answers spell it",
      { uploading_phase: { status: "in_progress", bytes_transferred: 5 } },
      { kind: "uploading", isTouched: true },
    ],
    [
      "all of it arrived, and its copyright could not be checked",
      {
        video_status: "processing",
        uploading_phase: { status: "complete", bytes_transferred: 151_626 },
        processing_phase: phase("not_started"),
        publishing_phase: phase("not_started"),
        copyright_check_status: phase("error"),
      },
      { kind: "uploaded" },
    ],
    ["all of it arrived", { uploading_phase: phase("complete") }, { kind: "uploaded" }],
    ["the other spelling", { uploading_phase: phase("completed") }, { kind: "uploaded" }],
    ["no phases", { video_status: "upload_complete" }, { kind: "uploaded" }],
    [
      "in work",
      { uploading_phase: phase("complete"), processing_phase: phase("in_progress") },
      { kind: "processing" },
    ],
    ["in work, no phases", { video_status: "processing" }, { kind: "processing" }],
    [
      "processed, not published",
      {
        video_status: "ready",
        processing_phase: phase("complete"),
        publishing_phase: phase("not_started"),
      },
      { kind: "uploaded" },
    ],
    [
      "being published",
      { processing_phase: phase("complete"), publishing_phase: phase("in_progress") },
      { kind: "processing" },
    ],
    [
      "published",
      { video_status: "ready", publishing_phase: phase("complete") },
      { kind: "published" },
    ],
    [
      "kept as a draft",
      { publishing_phase: { status: "complete", publish_status: "draft" } },
      { kind: "uploading" },
    ],
    ["published, no phases", { video_status: "ready" }, { kind: "published" }],
    ["failed", { video_status: "error" }, { kind: "failed" }],
    ["expired", { video_status: "expired" }, { kind: "failed" }],
    [
      "failed in a phase",
      { video_status: "processing", processing_phase: phase("error") },
      { kind: "failed" },
    ],
    [
      "not published for a reason",
      { publishing_phase: { status: "in_progress", publish_status: "error" } },
      { kind: "failed" },
    ],
  ])("a video's status: %s", async (_what, fields, expected) => {
    expect(await look(status(fields))).toMatchObject(expected as object);
  });

  test("says why a video failed, by its number where there is one", async () => {
    const failed = status({
      video_status: "error",
      processing_phase: {
        status: "error",
        errors: [{ code: 1363128, message: "The video is too long." }],
      },
    });
    expect(await look(failed)).toMatchObject({
      kind: "failed",
      classified: {
        code: "media_rejected",
        rule: "facebook.video.duration",
        note: "error 1363128 The video is too long.",
      },
    });
    expect(classifyStatus("no number")).toMatchObject({ code: "media_processing_failed" });
  });

  test("tells a no from no answer", async () => {
    const no = await look(answer(400, graph(100, 33)));
    expect(no).toMatchObject({ kind: "unknown", outcome: { kind: "rejected" } });
    for (const reply of [lost, answer(503, ""), htmlPage(502), answer(200, { id: "1" })])
      expect(await look(reply)).toMatchObject({ kind: "unknown", outcome: { kind: "try_later" } });
  });

  test.each([
    ["/reel/1/", "https://www.facebook.com/reel/1/"],
    ["https://www.facebook.com/p/1", "https://www.facebook.com/p/1"],
    [undefined, null],
  ])("the address %s reads %s", (permalink, url) => {
    expect(pageUrl(permalink)).toBe(url);
  });
});
