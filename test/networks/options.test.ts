import { describe, expect, test } from "vitest";
import * as z from "zod";
import { networkOf, platformOptionsSchema } from "../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { NETWORKS } from "../../src/shared/networks/registry.ts";

const accepts = (value: unknown) => platformOptionsSchema().safeParse(value).success;

describe("platformOptions", () => {
  test.each(NETWORK_NAMES)("options of %s take the shared fields and nothing unknown", (name) => {
    const shared = { text: "x", mediaUrls: ["https://a.example/b.jpg"], altTexts: [null] };
    expect(accepts({ [name]: shared })).toBe(true);
    expect(accepts({ [name]: {} })).toBe(true);
    expect(accepts({ [name]: { unknown: 1 } })).toBe(false);
  });

  test.each([
    ["facebook", 8_000],
    ["instagram", 2_200],
    ["linkedin", 1_250],
  ])("platformOptions of %s take a first comment of 1 to %s characters", (name, max) => {
    const comment = (length: number) => accepts({ [name]: { firstComment: "x".repeat(length) } });
    expect([0, 1, max, max + 1].map(comment)).toEqual([false, true, true, false]);
    expect(accepts({ bluesky: { firstComment: "x" } })).toBe(false);
  });

  test("refuse a network that there is not", () => {
    expect(accepts({ myspace: {} })).toBe(false);
  });

  test.each([
    ["http", { mediaUrls: ["http://a.example/b.jpg"] }],
    ["credentials", { mediaUrls: ["https://user:pass@a.example/b.jpg"] }],
    ["no URL", { mediaUrls: ["b.jpg"] }],
    ["a long URL", { mediaUrls: [`https://a.example/${"x".repeat(8_192)}`] }],
    ["21 files", { mediaUrls: Array.from({ length: 21 }, () => "https://a.example/b.jpg") }],
    ["a long alt text", { altTexts: ["x".repeat(10_001)] }],
    ["alt texts of another number", { mediaUrls: ["https://a.example/b.jpg"], altTexts: [] }],
    ["a text that is no string", { text: 1 }],
  ])("refuse %s", (_what, options) => {
    expect(accepts({ bluesky: options })).toBe(false);
    expect(accepts({ mastodon: options })).toBe(false);
    expect(accepts({ facebook: options })).toBe(false);
  });

  test.each([
    [{ langs: ["en", "pt-BR", "de"] }, true],
    [{ langs: ["en", "pt", "de", "fr"] }, false],
    [{ langs: ["not a language"] }, false],
    [{ linkCard: false }, true],
    [{ linkCard: true }, false],
    [{ linkCard: { url: "https://a.example", title: "A" } }, true],
    [{ linkCard: { url: "https://a.example" } }, false],
    [
      { linkCard: { url: "https://a.example", title: "A", thumbnailUrl: "http://a.example" } },
      false,
    ],
    [{ labels: ["nudity", "!no-unauthenticated"] }, true],
    [{ labels: ["spam"] }, false],
  ])("platformOptions of bluesky: %j is %s", (options, expected) => {
    expect(accepts({ bluesky: options })).toBe(expected);
  });

  test.each([
    [{ visibility: "unlisted", spoilerText: "cw", sensitive: true, language: "en" }, true],
    [{ visibility: "everyone" }, false],
    [{ language: "english!" }, false],
    [{ sensitive: "yes" }, false],
  ])("platformOptions of mastodon: %j is %s", (options, expected) => {
    expect(accepts({ mastodon: options })).toBe(expected);
  });

  test("platformOptions can be written as a JSON schema", () => {
    const schema = z.toJSONSchema(platformOptionsSchema());
    expect(Object.keys(schema.properties ?? {})).toEqual([...NETWORK_NAMES]);
  });
});

test.each(Object.entries(NETWORKS))("%s is found by its name", (name, network) => {
  expect(network.name).toBe(name);
  expect(networkOf(network.name).options).toBe(network.options);
});
