import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseLittleText } from "../../sandbox/linkedin/little-text.ts";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import { littleText, plainText } from "../../src/shared/networks/linkedin/publish.ts";
import { type NetworkName, networkOf } from "../../src/shared/networks/networks.ts";
import type { LegDraft } from "../../src/shared/networks/contract/draft.ts";
import { publishedBy, walkLeg } from "./sandbox-leg.ts";
import { type SandboxLink, linkDemoAccount } from "./sandbox-links.ts";

const NETWORKS = ["facebook", "instagram", "linkedin", "bluesky", "mastodon"] as const;
const FAMILY = "👩‍👩‍👧";
const LARGE_FAMILY = "👩‍👩‍👧‍👦";

/** Instagram takes nothing without a file. */
function draftOf(network: NetworkName, text: string): LegDraft {
  const file = { url: "https://media.sandbox.test/portrait.jpg", altText: null };
  return { text, media: network === "instagram" ? [file] : [], options: {} };
}

describe("a text's length", () => {
  // Meta and LinkedIn count UTF-16 units, Bluesky graphemes, Mastodon graphemes with short links and mentions.
  test.each<[string, string, readonly [units: number, graphemes: number, shortened: number]]>([
    ["plain words", "plain", [5, 5, 5]],
    ["a family of three", FAMILY, [8, 1, 1]],
    ["a flag", "🇩🇪", [4, 1, 1]],
    ["a skin tone", "👍🏽", [4, 1, 1]],
    ["a keycap", "1️⃣", [3, 1, 1]],
    ["a letter with a combining mark", "e\u0301", [2, 1, 1]],
    ["a letter under a stack of marks", "a\u0300\u0301\u0302\u0303", [5, 1, 1]],
    ["Devanagari", "नमस्ते", [6, 3, 3]],
    ["right to left", "مرحبا", [5, 5, 5]],
    ["right to left with a mark of direction", "\u200fשלום\u200e", [6, 6, 6]],
    ["both ends of a line", "a\r\nb", [4, 3, 3]],
    ["an address with brackets", "https://example.com/a_(b)?x=[1]&y=2", [35, 35, 23]],
    ["an address that ends in a bracket", "https://example.com/a?x=[1]", [27, 27, 24]],
    ["an address and a full stop", "https://example.com/a.", [22, 22, 24]],
    ["a bare domain", "example.com/a", [13, 13, 13]],
    ["someone elsewhere", "@alice@mastodon.example", [23, 23, 6]],
    ["someone here", "@alice", [6, 6, 6]],
  ])("%s counts as each network counts it", (_what, text, [units, graphemes, shortened]) => {
    const used = NETWORKS.map(
      (name) => networkOf(name).measure(draftOf(name, text), {}).usedCharacters,
    );
    expect(used).toEqual([units, units, units, graphemes, shortened]);
  });

  test.each<[NetworkName, number, string]>([
    ["facebook", 63_206, "facebook.text.length"],
    ["instagram", 2200, "instagram.text.length"],
    ["linkedin", 3000, "linkedin.text.length"],
    ["bluesky", 300, "bluesky.text.graphemes"],
    ["mastodon", 500, "mastodon.text.length"],
  ])("%s warns above nine tenths of %s and refuses what is longer", (name, max, rule) => {
    const network = networkOf(name);
    const found = (length: number) =>
      network
        .check(draftOf(name, "x".repeat(length)), {})
        .map((problem) => `${problem.severity} ${problem.rule}`);
    expect(found(Math.floor(max * 0.9))).toEqual([]);
    expect(found(Math.floor(max * 0.9) + 1)).toEqual([`warning ${name}.text.nearLimit`]);
    expect(found(max)).toEqual([`warning ${name}.text.nearLimit`]);
    expect(found(max + 1)).toEqual([`error ${rule}`]);
  });

  test("a text's length is 3,000 bytes at most on Bluesky, however few characters they are", () => {
    const check = (text: string) =>
      networkOf("bluesky")
        .check(draftOf("bluesky", text), {})
        .map(({ rule }) => rule);
    expect(Buffer.byteLength(LARGE_FAMILY)).toBe(25);
    expect(check(LARGE_FAMILY.repeat(120))).toEqual([]);
    expect(check(`${LARGE_FAMILY.repeat(120)}x`)).toEqual(["bluesky.text.bytes"]);
  });
});

const RESERVED = String.raw`( ) _ * @ # [ ] { } < > | \ ~`;

const TEXTS: readonly (readonly [string, string])[] = [
  ["what LinkedIn reserves", `Start ${RESERVED} end`],
  ["the same without spaces", `Start${RESERVED.replaceAll(" ", "")}end`],
  ["backslashes before them", String.raw`\\( \_ \\\* C:\dir\(x86\) end`],
  ["LinkedIn's own templates", String.raw`{hashtag|\#|tag} @[Name](urn:li:share:1) end`],
  ["hashtags of all kinds", "#Tag #tag_two #été #日本語 #1 # a#b #x-y end"],
  ["an address with brackets", "See https://example.com/a_(b)/[c]?d={e}&f=~g*h#i|j, end"],
  ["an address in brackets", "(see https://example.com/a) <https://example.com/b> end"],
  ["emoji of several parts", `${FAMILY} 🇩🇪 👍🏽 1️⃣ ❤️‍🔥 end`],
  ["combining marks", "e\u0301 a\u0300\u0301\u0302 क्षि end"],
  ["right to left", "مرحبا بالعالم (قوس) שלום #وسم end"],
  ["what is markup elsewhere", `a < b && c > d &amp; &lt;b&gt; "q" 'r' <b>x</b> end`],
  ["people", "@alice @bob.example.com x@example.com end"],
  ["lines", "one\n\ntwo\nthree end"],
  ["currency and signs", "$AAPL 5€ 100% 1/2 end"],
];

describe.each(NETWORKS)("what a reader of %s sees", (name) => {
  let sandbox: Sandbox;
  let link: SandboxLink;

  beforeAll(async () => {
    sandbox = await startSandbox();
    link = await linkDemoAccount(sandbox, name);
  });
  afterAll(() => sandbox.stop());

  test.each(TEXTS)("what a reader sees of %s is every character", async (_what, text) => {
    const walk = await walkLeg(networkOf(name), link.linked, draftOf(name, text), link.tools);
    const { externalId } = publishedBy(walk);
    const post = sandbox.posts(name).find(({ id }) => id === externalId);
    expect(post?.text).toBe(text);
    expect(post?.segments.map((segment) => segment.text).join("")).toBe(text);
    expect(post?.truncated ?? false).toBe(false);
  });
});

describe("LinkedIn's format", () => {
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.stop());

  test("takes a text of 3,000 reserved characters", async () => {
    const { linked, tools } = await linkDemoAccount(sandbox, "linkedin");
    const text = RESERVED.replaceAll(" ", "").repeat(200);
    expect(text).toHaveLength(3000);
    const draft = draftOf("linkedin", text);
    publishedBy(await walkLeg(networkOf("linkedin"), linked, draft, tools));
    expect(sandbox.posts("linkedin").at(-1)).toMatchObject({ text, truncated: false });
  });

  test("gives back whatever was written", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...RESERVED.split(" "),
        "a",
        "é",
        "日",
        "1",
        " ",
        "\n",
        ".",
        ",",
        ":",
        "/",
        "?",
        "=",
        "&",
        "%",
      ),
      fc.constantFrom("#tag", "https://a.example/(b)", String.raw`{hashtag|\#|x}`, "@[A](urn:x)"),
      fc.string({ unit: "grapheme", maxLength: 3 }),
    );
    const property = fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join("");
      const read = parseLittleText(littleText(text), () => undefined);
      expect(read.text).toBe(text);
      expect(read.isTruncated).toBe(false);
      expect(plainText(littleText(text))).toBe(text);
    });
    fc.assert(property, { numRuns: 500 });
  });
});
