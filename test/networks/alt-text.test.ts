import { describe, expect, test } from "vitest";
import { toLegWarnings } from "../../src/shared/publishing/problems.ts";
import { readableAltText, withShortAltTexts } from "../../src/shared/networks/contract/alt-text.ts";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { draft } from "./drafts.ts";

const LIMITS = { facebook: 1000, instagram: 1000, linkedin: 4086, bluesky: 2000, mastodon: 1500 };

const described = (...altTexts: readonly (string | null)[]) =>
  draft({ media: altTexts.map((altText) => ({ url: "https://files.example/a.jpg", altText })) });

const words = (length: number) => "word ".repeat(length / 5 + 1).slice(0, length);

describe.each(NETWORK_NAMES)("alternative texts at %s", (name) => {
  const network = networkOf(name);
  const max = LIMITS[name];

  test("alternative texts may be as long as the network takes them", () => {
    expect(network.altTextMax?.({})).toBe(max);
    const whole = described("x".repeat(max), null);
    expect(network.check(whole, {})).toEqual([]);
    expect(withShortAltTexts(whole, max)).toEqual(whole);
  });

  test("alternative texts are cut after a word beyond that, which is told and is no error", () => {
    const long = described(null, words(max + 1));
    const found = network.check(long, {});
    expect(found).toMatchObject([
      { severity: "warning", code: "alt_text_shortened", field: "altTexts", mediaIndex: 1 },
    ]);
    expect(found[0]?.values).toEqual({ limit: max });
    const [none, cut] = withShortAltTexts(long, max).media;
    expect(none?.altText).toBeNull();
    expect(cut?.altText).toMatch(/(?:word )+word…$/);
    expect(cut?.altText?.length).toBeGreaterThan(max - 6);
    expect(cut?.altText?.length).toBeLessThanOrEqual(max);
  });
});

test.each([
  ["Japanese", `店の写真： ${"今日は朝から雨が降っていて、".repeat(160)}`],
  ["Thai", `ภาพหน้าร้าน ${"วันนี้ฝนตกตั้งแต่เช้าและลูกค้าเข้ามาดื่มกาแฟ".repeat(60)}`],
  ["families of emoji", `A crowd: ${"👩‍👩‍👧".repeat(300)}`],
  ["one long word", `See ${"x".repeat(3_000)}`],
])("a text in %s is cut near the limit, and never within a letter", (_script, altText) => {
  const cut = withShortAltTexts(described(altText), 1_000).media[0]?.altText ?? "";
  expect(cut.length).toBeLessThanOrEqual(1_000);
  expect(cut.length).toBeGreaterThan(950);
  expect(cut.endsWith("…")).toBe(true);
  const letters = (text: string) =>
    Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  const kept = letters(cut.slice(0, -1));
  expect(letters(altText).slice(0, kept.length)).toEqual(kept);
});

test.each<[string, string | null]>([
  ["   ", null],
  ["\n", null],
  ["\u200b", null],
  ["\u3164\u2800", null],
  ["", null],
  [" A loaf of bread \n", "A loaf of bread"],
  ["\u200bA loaf\r\nof bread\ufeff", "A loaf\nof bread"],
  ["👩‍👩‍👧", "👩‍👩‍👧"],
])("the alternative text %j is published as %j", (given, published) => {
  expect(readableAltText(given)).toBe(published);
});

test("a server's own limit holds instead of Mastodon's", () => {
  const mastodon = networkOf("mastodon");
  const limits = { altTextMax: 420 };
  expect(mastodon.altTextMax?.(limits)).toBe(420);
  expect(mastodon.check(described("x".repeat(420)), limits)).toEqual([]);
  const [found] = mastodon.check(described("x".repeat(421)), limits);
  expect(found).toMatchObject({ code: "alt_text_shortened" });
});

test.each([
  ["facebook", {}],
  ["instagram", { kind: "story" }],
  ["instagram", {}],
  ["linkedin", {}],
] as const)("a text that %s leaves out altogether (%#) is not told to be cut", (name, options) => {
  const url = `https://files.example/a.${"kind" in options ? "jpg" : "mp4"}`;
  const media = [{ url, altText: "x".repeat(9_000) }];
  const codes = networkOf(name).check(draft({ text: "", media, options }), {});
  expect(codes.map(({ code }) => code)).toEqual(["option_unused"]);
});

test("a leg has the findings of a check, each rule once", () => {
  const long = "x".repeat(9_000);
  const found = networkOf("bluesky").check(described(long, long), {});
  expect(toLegWarnings(found)).toMatchObject([
    { code: "alt_text_shortened", rule: "bluesky.altText.shortened", values: { limit: 2000 } },
  ]);
});

test.each([
  ["a video by its name", "clip.mp4", null],
  ["a video by its bytes", "clip", { contentType: "video/mp4" }],
  ["a moving GIF", "moving.gif", { contentType: "image/gif", isMoving: true }],
])("of %s alone on Bluesky half as much is left", (_what, name, seen) => {
  const bluesky = networkOf("bluesky");
  const media = [{ url: `https://files.example/${name}`, altText: words(1_001) }];
  const facts = { size: 1, width: 1, height: 1, durationSeconds: 1 };
  const files = [seen === null ? null : { ...facts, ...seen }];
  const found = [
    ...bluesky.check(draft({ media }), {}),
    ...(bluesky.checkFiles?.(draft({ media }), {}, files) ?? []),
  ];
  expect(found.map(({ rule }) => rule)).toEqual(["bluesky.altText.videoShortened"]);
});
