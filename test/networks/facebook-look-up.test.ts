import { describe, expect, test } from "vitest";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import type { HttpRequest } from "../../src/shared/runtime/http-call.ts";
import type { LegDraft, NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { files } from "./legs.ts";
import { type Script, NOW, answer, htmlPage, lost } from "./scripted-tools.ts";
import {
  CLIP,
  FEED_LIST,
  LOOK,
  POSTS,
  STORIES,
  ago,
  asPhotos,
  asReel,
  asText,
  error,
  failed,
  leg,
  live,
  tools,
  uploaded,
  working,
} from "./facebook-script.ts";

describe("an unknown outcome at Facebook", () => {
  const lookUp = (
    http: NonNullable<Script["http"]>,
    remote: NetworkData,
    seconds: number,
    draft: Partial<LegDraft> = {},
  ) => facebook.calls.publish.find(leg(draft, { remote, sentAt: ago(seconds) }), tools({ http }));
  const list = (...posts: readonly Record<string, unknown>[]) => answer(200, { data: posts });
  const PAGE = { id: "42" };
  const empty = { [POSTS]: list(), [FEED_LIST]: list() };

  test("an unknown outcome at Facebook is nothing when nothing was sent", async () => {
    const used = tools();
    expect(await facebook.calls.publish.find(leg(), used)).toEqual({
      kind: "absent",
    });
    expect(used.calls).toEqual([]);
  });

  test("an unknown outcome at Facebook is looked for since two minutes before the call, in both lists", async () => {
    const used = tools({
      http: { [POSTS]: list(), [FEED_LIST]: list({ id: "42_5", from: PAGE, message: " Hello\n" }) },
    });
    const stored = leg({}, { remote: asText, sentAt: ago(5) });
    expect(await facebook.calls.publish.find(stored, used)).toMatchObject({
      kind: "done",
      externalId: "42_5",
    });
    const since = Math.floor(ago(125).getTime() / 1000);
    for (const { url } of used.calls)
      expect(new URL(url).searchParams.get("since")).toBe(String(since));
  });

  test.each([
    ["a visitor's", POSTS, { id: "7" }, false],
    ["a visitor's", FEED_LIST, { id: "7" }, false],
    ["nobody's", FEED_LIST, undefined, false],
    ["nobody's", POSTS, undefined, true],
    ["the page's", FEED_LIST, PAGE, true],
  ])("a post with the leg's words that is %s in %s", async (...[, edge, from, isOurs]) => {
    const posts = list({ id: "42_5", message: "Hello", ...(from && { from }) });
    const outcome = await lookUp({ ...empty, [edge]: posts }, asText, 5);
    expect(outcome.kind).toBe(isOurs ? "done" : "not_yet");
  });

  test.each<[string, Partial<LegDraft>, NetworkData, Record<string, unknown>, boolean]>([
    ["the same words", { text: "a\r\nb" }, asText, { message: "a\nb" }, true],
    ["other words", {}, asText, { message: "Hello!" }, false],
    [
      "the same link without words",
      { text: "", options: { link: "https://a.example/x?y=1" } },
      asText,
      {
        attachments: {
          data: [
            {
              target: { url: "https://l.facebook.com/l.php?u=https%3A%2F%2Fa.example%2Fx%3Fy%3D1" },
            },
          ],
        },
      },
      true,
    ],
    [
      "another link without words",
      { text: "", options: { link: "https://a.example/x" } },
      asText,
      { attachments: { data: [{ target: { url: "https://b.example" } }] } },
      false,
    ],
    [
      "one of the photos in an album",
      { text: "Other" },
      asPhotos,
      {
        attachments: {
          data: [{ media_type: "album", subattachments: { data: [{ target: { id: "2" } }] } }],
        },
      },
      true,
    ],
    ["the same words with other photos", {}, asPhotos, { message: "Hello" }, false],
    [
      "a video with the same words",
      { media: files(CLIP) },
      { form: "video", photos: [] },
      { message: "Hello", attachments: { data: [{ media_type: "video" }] } },
      true,
    ],
    [
      "a text with a video's words",
      { media: files(CLIP) },
      { form: "video", photos: [] },
      { message: "Hello" },
      false,
    ],
  ])("knows the leg's post by %s", async (...[, draft, remote, post, isOurs]) => {
    const posts = list({ id: "42_1", message: "older" }, { id: "42_5", ...post });
    const http = { [POSTS]: posts, [FEED_LIST]: posts };
    const outcome = await lookUp(http, remote, 5, draft);
    expect(outcome.kind).toBe(isOurs ? "done" : "not_yet");
  });

  test.each([
    ["2026-01-01T00:00:00+0000", false],
    [`${ago(7).toISOString().slice(0, 19)}+0000`, false],
    [`${ago(5).toISOString().slice(0, 19)}+0000`, true],
  ])("a post of %s with the words of a call 5 seconds ago is the leg's: %s", async (at, isOurs) => {
    const link = "https://a.example/x";
    const wrapped = { data: [{ target: { url: link } }] };
    for (const [draft, content] of [
      [{}, { message: "Hello" }],
      [{ text: "", options: { link } }, { attachments: wrapped }],
    ] as const) {
      const found = list({ id: "42_5", created_time: at, ...content });
      const outcome = await lookUp({ ...empty, [POSTS]: found }, asText, 5, draft);
      expect(outcome.kind).toBe(isOurs ? "done" : "not_yet");
    }
  });

  test.each<[string, NetworkData, number, unknown]>([
    ["text, early", asText, 40, { kind: "not_yet", pollAfterSeconds: 20 }],
    ["text, after a minute", asText, 60, { kind: "unknowable" }],
    ["photos, after a minute", asPhotos, 60, { kind: "repeatable" }],
    [
      "photos that have to be made again",
      { ...asPhotos, photosSince: ago(21 * 3600).toISOString() },
      3600,
      { kind: "unknowable" },
    ],
    ["a video, after a minute", { form: "video", photos: [] }, 60, { kind: "not_yet" }],
    ["a video, after half an hour", { form: "video", photos: [] }, 1800, { kind: "unknowable" }],
  ])("an unknown outcome at Facebook in no list: %s", async (_what, remote, seconds, expected) => {
    expect(await lookUp(empty, remote, seconds)).toMatchObject(expected as object);
  });

  test.each([lost, htmlPage(502), error(2, undefined, 500), error(190), answer(200, "ok")])(
    "the outcome is asked again without Facebook's list (%#)",
    async (reply) => {
      expect(await lookUp({ [POSTS]: reply }, asText, 3600)).toMatchObject({
        kind: "not_yet",
        failure: { code: "outcome_unknown" },
      });
    },
  );

  test.each<[string, ReturnType<typeof answer>, number, NetworkData, unknown]>([
    ["live", live, 5, asReel, { kind: "done", url: "https://www.facebook.com/reel/9/" }],
    ["in work", working, 5, asReel, { kind: "not_yet" }],
    ["not asked for, early", uploaded, 5, asReel, { kind: "repeatable" }],
    ["not asked for, late", uploaded, 60, asReel, { kind: "absent" }],
    [
      "taken, but not begun with",
      uploaded,
      60,
      { ...asReel, postedVideoId: "9" },
      { kind: "not_yet" },
    ],
    [
      "taken, and not begun with for long",
      uploaded,
      301,
      { ...asReel, postedVideoId: "9" },
      { kind: "absent" },
    ],
    [
      "a feed video that was taken",
      uploaded,
      3600,
      { form: "video", postedVideoId: "9" },
      { kind: "not_yet" },
    ],
    ["failed", failed, 5, asReel, { kind: "absent" }],
    [
      "failed again",
      failed,
      5,
      { ...asReel, restartedAt: ago(60).toISOString() },
      { kind: "refused", failure: { code: "media_processing_failed", mediaIndex: 0 } },
    ],
    ["a failed feed video", failed, 5, { form: "video", postedVideoId: "9" }, { kind: "refused" }],
    ["not to be read", error(100, 33), 5, asReel, { kind: "not_yet" }],
    ["not told", answer(503, ""), 5, asReel, { kind: "not_yet" }],
  ])("an unknown outcome of a video: %s", async (...[, look, seconds, remote, expected]) => {
    const outcome = await lookUp({ [LOOK]: look }, remote, seconds, { media: files(CLIP) });
    expect(outcome).toMatchObject(expected as object);
  });

  test.each<[string, ReturnType<typeof answer>, number, unknown]>([
    [
      "listed",
      answer(200, { data: [{ post_id: "6", media_id: "1", url: "/stories/6/" }] }),
      5,
      { kind: "done", externalId: "6", url: "https://www.facebook.com/stories/6/" },
    ],
    [
      "only others listed",
      answer(200, { data: [{ post_id: "6", media_id: "8" }] }),
      5,
      { kind: "not_yet", pollAfterSeconds: 55 },
    ],
    ["absent", answer(200, { data: [] }), 60, { kind: "absent" }],
    ["not told", answer(500, ""), 60, { kind: "not_yet" }],
  ])("an unknown outcome at Facebook of a story: %s", async (_what, stories, seconds, expected) => {
    const story = { form: "photo_story", photos: ["1"], photosSince: ago(100).toISOString() };
    const outcome = await lookUp({ [STORIES]: stories }, story, seconds);
    expect(outcome).toMatchObject(expected as object);
  });

  test("an unknown outcome at Facebook never sends anything", async () => {
    const seen: HttpRequest[] = [];
    for (const remote of [asText, asPhotos, asReel, { form: "photo_story", photos: ["1"] }]) {
      const used = tools({ http: { ...empty, [LOOK]: live, [STORIES]: list() } });
      await facebook.calls.publish.find(leg({ media: files(CLIP) }, { remote, sentAt: NOW }), used);
      seen.push(...used.calls);
    }
    expect(seen.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});
