import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  contrast,
  filledWith,
  fillOn,
  GROUNDS,
  readableOn,
  stylesheet,
} from "../../src/shared/connections/hosted-page/stylesheet.ts";

const AA = 4.5;
const color = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, "0")}`);

describe("contrast", () => {
  test.each([
    ["#000000", "#ffffff", 21],
    ["#ffffff", "#ffffff", 1],
    ["#777777", "#ffffff", 4.48],
    ["#0000ff", "#ffffff", 8.59],
  ])("the contrast of %s and %s is %d, either way round", (one, other, expected) => {
    expect(contrast(one, other)).toBeCloseTo(expected, 2);
    expect(contrast(other, one)).toBeCloseTo(expected, 2);
  });
});

describe("any accent color at all", () => {
  test("bears text on it, white wherever a slightly darker one does", () => {
    fc.assert(
      fc.property(color, (accent) => {
        const { fill, ink } = filledWith(accent);
        return contrast(fill, ink) >= AA && (ink === "#ffffff" || fill === accent);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ["#1a73e8", "#1a73e8", "#ffffff"],
    ["#0b1f5c", "#0b1f5c", "#ffffff"],
    ["#3b82f6", "#3472d7", "#ffffff"],
    ["#ffe600", "#ffe600", "#000000"],
    ["#39ff14", "#39ff14", "#000000"],
  ])("a button of %s is %s with text in %s", (accent, fill, ink) => {
    expect(filledWith(accent)).toEqual({ fill, ink });
  });

  test.each(["light", "dark"] as const)("any accent color can be read as text in %s", (scheme) => {
    fc.assert(
      fc.property(color, (accent) => {
        const ink = readableOn(accent, GROUNDS[scheme]);
        return GROUNDS[scheme].every((ground) => contrast(ink, ground) >= AA);
      }),
      { numRuns: 2_000 },
    );
  });

  test("stays as it is where it can be read already", () => {
    expect(readableOn("#2457d6", GROUNDS.light)).toBe("#2457d6");
    expect(readableOn("#8fb2ff", GROUNDS.dark)).toBe("#8fb2ff");
  });
});

test.each([
  ["#000000", "#000000", "#eef0f4"],
  ["#0b1020", "#0b1020", "#eef0f4"],
  ["#ffffff", "#16181d", "#ffffff"],
  ["#ffe600", "#ffe600", "#ffe600"],
  ["#b4531a", "#b4531a", "#b4531a"],
])("buttons of %s are %s in light and %s in dark", (accent, light, dark) => {
  expect([fillOn(accent, "light"), fillOn(accent, "dark")]).toEqual([light, dark]);
});

test("a dark color becomes a lighter one of its hue in dark", () => {
  const fill = fillOn("#000080", "dark");
  expect(fill).toMatch(/^#(..)\1/);
  expect(contrast(fill, GROUNDS.dark[0])).toBeGreaterThanOrEqual(AA);
});

test.each([
  ["light", 0],
  ["dark", 1],
] as const)("the page's own colors can be read in %s", (scheme, index) => {
  const blocks = stylesheet(undefined).text.split("prefers-color-scheme: dark");
  const found = [...(blocks[index] ?? "").matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)];
  const named = new Map(found.map(([, name = "", value = ""]) => [name, value]));
  const of = (name: string) => named.get(name) ?? "#808080";
  const pairs = ["ink", "soft", "bad", "good", "warn", "accent-ink"].flatMap((text) =>
    GROUNDS[scheme].map((ground) => [text, contrast(of(text), ground)] as const),
  );
  expect(pairs.filter(([, ratio]) => ratio < AA)).toEqual([]);
  expect(contrast(of("bad"), of("bad-ground"))).toBeGreaterThanOrEqual(AA);
  expect(contrast(of("good"), of("good-ground"))).toBeGreaterThanOrEqual(AA);
  // What is no text but has to be seen: WCAG 2.2, 1.4.11.
  for (const ground of GROUNDS[scheme]) expect(contrast(of("edge"), ground)).toBeGreaterThan(3);
});
