import { describe, expect, test } from "vitest";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import { mastodon } from "../../src/shared/networks/mastodon/index.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import { draft, images, media, rules } from "./drafts.ts";

describe("Bluesky's rules", () => {
  test.each<[string, Partial<LegDraft>, readonly string[]]>([
    ["300 characters", { text: "é".repeat(270) }, []],
    ["above nine tenths", { text: "x".repeat(271) }, ["warning bluesky.text.nearLimit"]],
    [
      "exactly 300",
      { text: "👩‍👩‍👧".repeat(100) + "x".repeat(200) },
      ["warning bluesky.text.nearLimit"],
    ],
    ["301 characters", { text: "x".repeat(301) }, ["error bluesky.text.graphemes"]],
    ["few characters of many bytes", { text: "👩‍👩‍👧‍👦".repeat(121) }, ["error bluesky.text.bytes"]],
    ["nothing", { text: " \n" }, ["error bluesky.content.empty"]],
    [
      "a card alone",
      { text: "", options: { linkCard: { url: "https://a.example", title: "A" } } },
      [],
    ],
    ["a file alone", { text: "", media: images(1) }, []],
    ["ten images", { media: images(10) }, []],
    ["eleven images", { media: images(11) }, ["error bluesky.media.count"]],
    ["two videos", { media: media("a.mp4", "b.MP4") }, ["error bluesky.media.count"]],
    ["image and video", { media: media("a.jpg", "b.mp4?x=.jpg") }, ["error bluesky.media.mixed"]],
    ["names without an ending", { media: media("a", "b.php") }, []],
    ["another kind of video", { media: media("a.webm") }, []],
    [
      "a video that no server takes",
      { media: media("a.avi") },
      ["warning bluesky.media.typeUnknown"],
    ],
    ["audio", { media: media("a.mp3") }, ["error bluesky.media.type"]],
    [
      "a card beside media",
      { media: images(1), options: { linkCard: { url: "https://a.example", title: "A" } } },
      ["warning bluesky.linkCard.media"],
    ],
  ])("judge %s", (_what, overrides, expected) => {
    expect(rules(bluesky.check(draft(overrides)))).toEqual(expected);
  });

  test("measure graphemes", () => {
    const measured = bluesky.measure(draft({ text: "👩‍👩‍👧é" }));
    expect(measured).toEqual({ usedCharacters: 2, maxCharacters: 300 });
  });

  test("name the field that the text came from", () => {
    const text = "x".repeat(301);
    expect(bluesky.check(draft({ text }))[0]?.field).toBe("text");
    expect(bluesky.check(draft({ text, options: { text } }))[0]?.field).toBe(
      "platformOptions.bluesky.text",
    );
  });
});

describe("Mastodon's rules", () => {
  const small = { charactersMax: 10, mediaMax: 1, altTextMax: 3, charactersPerUrl: 5 };

  test.each<[string, Partial<LegDraft>, Record<string, unknown>, readonly string[]]>([
    ["450 characters", { text: "x".repeat(450) }, {}, []],
    ["500 characters", { text: "x".repeat(500) }, {}, ["warning mastodon.text.nearLimit"]],
    ["501 characters", { text: "x".repeat(501) }, {}, ["error mastodon.text.length"]],
    [
      "text and content warning together",
      { text: "x".repeat(300), options: { spoilerText: "y".repeat(201) } },
      {},
      ["error mastodon.text.length"],
    ],
    ["an instance's own limit", { text: "x".repeat(11) }, small, ["error mastodon.text.length"]],
    ["an instance's own link length", { text: "https://example.com/abc" }, small, []],
    ["nothing", { text: "" }, {}, ["error mastodon.content.empty"]],
    ["a content warning alone", { text: "", options: { spoilerText: "cw" } }, {}, []],
    ["four images", { media: images(4) }, {}, []],
    ["five images", { media: images(5) }, {}, ["error mastodon.media.count"]],
    [
      "an instance's own number",
      { text: "", media: images(2) },
      small,
      ["error mastodon.media.count"],
    ],
    ["image and video", { media: media("a.jpg", "b.mp4") }, {}, ["error mastodon.media.mixed"]],
    ["two audio files", { media: media("a.mp3", "b.ogg") }, {}, ["error mastodon.media.mixed"]],
    ["one video", { media: media("a.webm") }, {}, []],
    [
      "a long alternative text",
      { text: "", media: [{ url: "https://files.example/a.jpg", altText: "1234" }] },
      small,
      ["warning mastodon.altText.shortened"],
    ],
    [
      "limits that are none",
      { text: "x".repeat(450) },
      { charactersMax: "many", mediaTypes: 1 },
      [],
    ],
  ])("judge %s", (_what, overrides, limits, expected) => {
    expect(rules(mastodon.check(draft(overrides), limits))).toEqual(expected);
  });

  test("measure as the instance does", () => {
    const text = "https://example.com/a/long/path";
    expect(mastodon.measure(draft({ text }), {})).toEqual({
      usedCharacters: 23,
      maxCharacters: 500,
    });
    expect(mastodon.measure(draft({ text }), small)).toEqual({
      usedCharacters: 5,
      maxCharacters: 10,
    });
  });
});
