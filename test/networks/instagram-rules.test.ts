import { describe, expect, test } from "vitest";
import { lookAtContainer } from "../../src/shared/networks/instagram/container.ts";
import { classify } from "../../src/shared/networks/instagram/errors.ts";
import { instagram } from "../../src/shared/networks/instagram/index.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import { platformOptionsSchema } from "../../src/shared/networks/networks.ts";
import { LOOK, credentials, tools } from "./instagram-script.ts";
import { type Reply, NOW, answer, htmlPage, lost } from "./scripted-tools.ts";
import { draft as anyDraft, images, media, rules } from "./drafts.ts";

const draft = (overrides: Partial<LegDraft> = {}) => anyDraft({ media: images(1), ...overrides });

function graph(code: number, subcode?: number, message = "words") {
  return {
    error: {
      message,
      type: "OAuthException",
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
      is_transient: false,
      fbtrace_id: "X",
    },
  };
}

describe("Instagram's rules", () => {
  const described = (name: string, length: number) => [
    { url: `https://files.example/${name}`, altText: "x".repeat(length) },
  ];
  const tags = (count: number, sign: string) =>
    Array.from({ length: count }, (_, index) => `${sign}tag${index}`).join(" ");

  test.each<[string, Partial<LegDraft>, readonly string[]]>([
    ["nine tenths of the limit", { text: "x".repeat(1980) }, []],
    ["above nine tenths", { text: "x".repeat(1981) }, ["warning instagram.text.nearLimit"]],
    [
      "the limit in UTF-16 units",
      { text: "👋".repeat(1100) },
      ["warning instagram.text.nearLimit"],
    ],
    ["beyond the limit", { text: "x".repeat(2201) }, ["error instagram.text.length"]],
    ["an image without words", { text: "" }, []],
    ["words alone", { media: [] }, ["error instagram.media.required"]],
    ["27 hashtags", { text: tags(27, "#") }, []],
    ["28 hashtags", { text: tags(28, "#") }, ["warning instagram.text.hashtagsNearLimit"]],
    ["30 hashtags", { text: tags(30, "#") }, ["warning instagram.text.hashtagsNearLimit"]],
    ["31 hashtags", { text: tags(31, "#") }, ["error instagram.text.hashtags"]],
    ["31 signs that are none", { text: "a#b & &#39; ".repeat(31) }, []],
    ["18 mentions", { text: tags(18, "@") }, []],
    ["20 mentions", { text: tags(20, "@") }, ["warning instagram.text.mentionsNearLimit"]],
    ["21 mentions", { text: tags(21, "@") }, ["error instagram.text.mentions"]],
    ["21 addresses", { text: "a@b.example ".repeat(21) }, []],
    ["ten files", { media: images(10) }, []],
    ["eleven files", { media: images(11) }, ["error instagram.media.count"]],
    ["images and videos", { media: media("a.jpg", "b.mp4", "c.mov") }, []],
    ["audio", { media: media("a.mp3") }, ["error instagram.media.type"]],
    ["an image that is converted", { media: media("a.png") }, []],
    [
      "an image that cannot be converted",
      { media: media("a.svg") },
      ["warning instagram.media.typeUnknown"],
    ],
    ["another kind of video", { media: media("a.webm") }, ["warning instagram.media.typeUnknown"]],
    ["a name without an ending", { media: media("a") }, []],
    ["a description", { media: described("a.jpg", 1000) }, []],
    ["a long one", { media: described("a.jpg", 1001) }, ["warning instagram.altText.shortened"]],
    ["one of a video", { media: described("a.mp4", 5) }, ["warning instagram.altText.unused"]],
    ["a reel", { media: media("a.mp4"), options: { kind: "reel", thumbOffsetMs: 5 } }, []],
    [
      "a reel of a file whose name tells nothing",
      { media: media("a"), options: { kind: "reel" } },
      [],
    ],
    ["a reel of an image", { options: { kind: "reel" } }, ["error instagram.reel.media"]],
    [
      "a story of two",
      { text: "", media: images(2), options: { kind: "story" } },
      ["error instagram.story.media"],
    ],
    [
      "a story with what stories do not have",
      { options: { kind: "story", collaborators: ["a"], shareToFeed: true } },
      [
        "warning instagram.story.text",
        "warning instagram.collaborators.unused",
        "warning instagram.shareToFeed.unused",
      ],
    ],
    [
      "a cover without a reel",
      { options: { coverUrl: "https://a.example/b.jpg" } },
      ["warning instagram.coverUrl.unused"],
    ],
    [
      "a cover given twice",
      {
        media: media("a.mp4"),
        options: { coverUrl: "https://a.example/b.jpg", thumbOffsetMs: 5 },
      },
      ["warning instagram.thumbOffsetMs.cover"],
    ],
  ])("judge %s", (_what, overrides, expected) => {
    expect(rules(instagram.check(draft(overrides)))).toEqual(expected);
  });

  test("call missing media a fault of the media, in the network's own field", () => {
    const [problem] = instagram.check(draft({ media: [], options: { mediaUrls: [] } }));
    expect(problem).toMatchObject({
      code: "media_rejected",
      field: "platformOptions.instagram.mediaUrls",
    });
  });

  test("count every post towards the quota, and measure UTF-16 units", () => {
    expect(instagram.quotaOf()).toBe("posts");
    expect(instagram.measure(draft({ text: "a👋" }))).toEqual({
      usedCharacters: 3,
      maxCharacters: 2200,
    });
  });

  test.each([
    [{ kind: "story", shareToFeed: false, collaborators: ["@a.b", "c_d", "e"] }, true],
    [{ collaborators: ["a", "b", "c", "d"] }, false],
    [{ collaborators: ["not a name"] }, false],
    [{ coverUrl: "https://a.example/b.jpg", thumbOffsetMs: 0 }, true],
    [{ coverUrl: "http://a.example/b.jpg" }, false],
    [{ thumbOffsetMs: -1 }, false],
    [{ thumbOffsetMs: 1.5 }, false],
    [{ kind: "live" }, false],
    [{ link: "https://a.example" }, false],
  ])("take the options %j: %s", (options, expected) => {
    expect(platformOptionsSchema().safeParse({ instagram: options }).success).toBe(expected);
  });
});

describe("Instagram's answers", () => {
  test.each([400, 502])("a proxy's answer for Instagram (%s) proves nothing", (status) => {
    expect(classify(htmlPage(status), NOW).effect).toBe("doubt");
  });
});

describe("a container's status", () => {
  const look = (reply: Reply) =>
    lookAtContainer({ credentials, tools: tools({ http: { [LOOK("1")]: reply } }) }, { id: "1" });

  test.each([
    ["IN_PROGRESS", { kind: "working" }],
    ["FINISHED", { kind: "finished" }],
    ["PUBLISHED", { kind: "published" }],
    ["EXPIRED", { kind: "failed", classified: { code: "media_processing_failed" } }],
    ["ERROR", { kind: "failed", classified: { code: "media_processing_failed" } }],
  ])("a container's status: %s", async (status_code, expected) => {
    expect(await look(answer(200, { id: "1", status_code }))).toMatchObject(expected);
  });

  test("says why a file failed by the number in its sentence", async () => {
    const failed = (subcode: number) =>
      look(
        answer(200, {
          status_code: "ERROR",
          status: `Error: Media upload has failed with error code ${subcode}`,
        }),
      );
    expect(await failed(2207026)).toMatchObject({
      kind: "failed",
      classified: { code: "media_rejected", networkCode: "2207026", effect: "refuse" },
    });
    expect(await failed(2207053)).toMatchObject({ classified: { code: "network_unavailable" } });
    expect(await failed(2209999)).toMatchObject({
      classified: { code: "media_processing_failed" },
    });
  });

  test("tells a refused read from one that was not answered, or that names the token", async () => {
    for (const refusal of [graph(100, 33), graph(10)])
      expect(await look(answer(400, refusal))).toMatchObject({ kind: "unreadable" });
    for (const reply of [lost, answer(503, ""), answer(200, {}), answer(400, graph(190))])
      expect(await look(reply)).toMatchObject({ kind: "unknown" });
  });
});
