import * as fc from "fast-check";
import { networkOf } from "../../src/shared/networks/networks.ts";
import { shownText } from "../../src/shared/networks/bluesky/short-links.ts";
import { draft } from "./drafts.ts";
import { describe, expect, test } from "vitest";
import { facetsOf, findStretches } from "../../src/shared/networks/bluesky/facets.ts";
import { timestampId, begin } from "../../src/shared/networks/bluesky/state.ts";
import { countGraphemes } from "../../src/shared/networks/contract/text.ts";

const VECTOR = "Héllo 👋 see https://example.com/a?b=1. #café @alice.test";

function found(text: string): readonly string[] {
  return findStretches(text).map((stretch) => {
    const value =
      stretch.kind === "link" ? stretch.uri : stretch.kind === "tag" ? stretch.tag : stretch.handle;
    return `${stretch.kind} ${text.slice(stretch.start, stretch.end)} → ${value}`;
  });
}

describe("facets", () => {
  test("count bytes, not characters", () => {
    expect(countGraphemes(VECTOR)).toBe(56);
    expect(Buffer.byteLength(VECTOR)).toBe(61);
    const facets = facetsOf(VECTOR, findStretches(VECTOR), new Map([["alice.test", "did:plc:a"]]));
    expect(facets).toEqual([
      {
        index: { byteStart: 16, byteEnd: 41 },
        features: [{ $type: "app.bsky.richtext.facet#link", uri: "https://example.com/a?b=1" }],
      },
      {
        index: { byteStart: 43, byteEnd: 49 },
        features: [{ $type: "app.bsky.richtext.facet#tag", tag: "café" }],
      },
      {
        index: { byteStart: 50, byteEnd: 61 },
        features: [{ $type: "app.bsky.richtext.facet#mention", did: "did:plc:a" }],
      },
    ]);
  });

  test("leave a handle that nobody has as plain text", () => {
    expect(facetsOf("hi @alice.test", findStretches("hi @alice.test"), new Map())).toEqual([]);
  });

  test.each([
    ["https://example.com.", ["link https://example.com → https://example.com"]],
    ["wow https://example.com/a?!...", ["link https://example.com/a → https://example.com/a"]],
    ["(https://example.com/a)", ["link https://example.com/a → https://example.com/a"]],
    ["(see https://example.com/a).", ["link https://example.com/a → https://example.com/a"]],
    [
      "https://en.example.org/wiki/A_(b)",
      ["link https://en.example.org/wiki/A_(b) → https://en.example.org/wiki/A_(b)"],
    ],
    ["example.com", ["link example.com → https://example.com"]],
    ["my-site.co.uk/x?y=1,", ["link my-site.co.uk/x?y=1 → https://my-site.co.uk/x?y=1"]],
    ["Example.COM", ["link Example.COM → https://Example.COM"]],
    ["readme.nosuchtld and 1.5 and e.g. this", []],
    ["mail me@example.com", []],
    ["bsky.appé", []],
    ["https://", []],
    ["https://)", []],
    ["xhttps://example.com", []],
    ["pages.example.com's new look", ["link pages.example.com → https://pages.example.com"]],
    [
      "https://pages.example.com’s new look",
      ["link https://pages.example.com → https://pages.example.com"],
    ],
    [
      "https://example.com/it's?q=a'b here",
      ["link https://example.com/it's?q=a'b → https://example.com/it's?q=a'b"],
    ],
    ["example.com:8443/a", ["link example.com:8443/a → https://example.com:8443/a"]],
    ["example.com:great", ["link example.com → https://example.com"]],
    ["https://bücher.example/ä", ["link https://bücher.example/ä → https://bücher.example/ä"]],
    ["https://example.com、次", ["link https://example.com → https://example.com"]],
    ["at https://🌈🌈🌈.st/about now", ["link https://🌈🌈🌈.st/about → https://🌈🌈🌈.st/about"]],
    ["https://i❤️.ws", ["link https://i❤️.ws → https://i❤️.ws"]],
    ["https://example.com🎉 see", ["link https://example.com → https://example.com"]],
    ["https://example.com🎉. So", ["link https://example.com → https://example.com"]],
    ["l'https://example.com/a", ["link https://example.com/a → https://example.com/a"]],
    ["d’example.com", ["link example.com → https://example.com"]],
    ["see <https://example.com/a>'s page", ["link https://example.com/a → https://example.com/a"]],
    ["[https://example.com/a]b", ["link https://example.com/a → https://example.com/a"]],
    ['"https://example.com/a", she said', ["link https://example.com/a → https://example.com/a"]],
    ["'https://example.com/it's'.", ["link https://example.com/it's → https://example.com/it's"]],
    ["„https://example.com/a“", ["link https://example.com/a → https://example.com/a"]],
    ["»https://example.com/a«", ["link https://example.com/a → https://example.com/a"]],
    ["「https://example.com/a」です", ["link https://example.com/a → https://example.com/a"]],
    [
      "(https://en.example.org/wiki/A_(b))c",
      ["link https://en.example.org/wiki/A_(b) → https://en.example.org/wiki/A_(b)"],
    ],
    ["“example.com”", ["link example.com → https://example.com"]],
    ["List<int.max> {foo.bar} [foo.bar]", []],
    [
      "\u200Fhttps://example.com/a\u200F \u2067https://example.org\u2069",
      [
        "link https://example.com/a → https://example.com/a",
        "link https://example.org → https://example.org",
      ],
    ],
  ])("link what is a link in %j", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test.each([
    ["@alice.bsky.social.", ["mention @alice.bsky.social → alice.bsky.social"]],
    ["(@Alice.BSKY.social)", ["mention @Alice.BSKY.social → alice.bsky.social"]],
    ["l'@alice.test", ["mention @alice.test → alice.test"]],
    ["(dell’@alice.bsky.social)", ["mention @alice.bsky.social → alice.bsky.social"]],
    ["a.b'@alice.test", []],
    ["''@alice.test", []],
    ["@alice", []],
    ["@alice.nosuchtld", []],
    ["@..com", []],
    ["mail@alice.com", []],
    ["@-.test", ["mention @-.test → -.test"]],
    ["thanks @notiz.blog@notiz.blog!", []],
    ["(@alice.test@alice.test)", []],
    ["@alice.test@ home", ["mention @alice.test → alice.test"]],
    ["\u200F@alice.test\u200F, «@alice.test»", Array(2).fill("mention @alice.test → alice.test")],
  ])("mention whom %j names", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test.each([
    ["#one #two!", ["tag #one → one", "tag #two → two"]],
    ["#2026 #1st", ["tag #1st → 1st"]],
    ["＃日本語", ["tag ＃日本語 → 日本語"]],
    ["#", []],
    ["#️⃣ keycap", []],
    ["#\u20E3 keycap, ＃\u20E3", []],
    ["#\u0338struck", []],
    ["a#b", []],
    ["l'#Andorra", ["tag #Andorra → Andorra"]],
    ["#...", []],
    ['(#FLL), "#one". [#two]b', ["tag #FLL → FLL", "tag #one → one", "tag #two → two"]],
    ["「#日本」です", ["tag #日本 → 日本"]],
    ["#one/#two #a#b", ["tag #one → one", "tag #two → two", "tag #a → a"]],
    ["and/#or x.#y", []],
    ["\u200F#وسم\u200F مرحبا", ["tag #وسم → وسم"]],
    [`#${"a".repeat(64)}`, [`tag #${"a".repeat(64)} → ${"a".repeat(64)}`]],
    [`#${"a".repeat(65)}`, []],
    ["$AAPL, ($tsla)", ["tag $AAPL → $AAPL", "tag $tsla → $TSLA"]],
    ["$100 $TOOLONG a$B $A_B", []],
  ])("tag what %j tags", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test("always cut whole characters and never overlap", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "https://example.com/é(",
        "#tag👩‍👩‍👧",
        "@alice.test",
        "$ABC",
        "example.com",
        " ",
        "(",
        ")",
        ".",
        "＃",
        "日",
      ),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, (input) => {
        const bytes = Buffer.from(input);
        const facets = facetsOf(
          input,
          findStretches(input),
          new Map([["alice.test", "did:plc:a"]]),
        );
        const decoder = new TextDecoder("utf-8", { fatal: true });
        let end = 0;
        for (const { index } of facets) {
          expect(index.byteStart).toBeGreaterThanOrEqual(end);
          expect(index.byteEnd).toBeGreaterThan(index.byteStart);
          expect(index.byteEnd).toBeLessThanOrEqual(bytes.length);
          const cut = bytes.subarray(index.byteStart, index.byteEnd);
          expect(input.toWellFormed()).toContain(decoder.decode(cut));
          end = index.byteEnd;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("a record key", () => {
  const newYear = BigInt(Date.UTC(2026, 0, 1)) * 1000n;

  test.each([
    [newYear, 0, "3mbd3542k2222"],
    [newYear, 1023, "3mbd3542k22zz"],
    [newYear + 1n, 0, "3mbd3542k2322"],
    [0n, 0, "2222222222222"],
  ])("a record key of %s µs and clock %s is %s", (microseconds, clockId, expected) => {
    expect(timestampId(microseconds, clockId)).toBe(expected);
  });

  test("sorts as time does", () => {
    const micros = fc.bigInt({ min: 0n, max: 2n ** 53n - 1n });
    fc.assert(
      fc.property(micros, micros, fc.nat(1023), (left, right, clock) => {
        const order = timestampId(left, clock) < timestampId(right, clock);
        expect(order).toBe(left < right);
      }),
    );
  });

  test("a record key is the same for the same leg and another for another leg of the same moment", () => {
    const now = new Date("2026-11-20T09:00:00.123Z");
    const first = begin({ key: "leg-1", now });
    expect(begin({ key: "leg-1", now })).toEqual(first);
    expect(first.createdAt).toBe("2026-11-20T09:00:00.123Z");
    expect(first.rkey).toMatch(/^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/);
    const keys = Array.from({ length: 50 }, (_, index) => begin({ key: `leg-${index}`, now }).rkey);
    expect(new Set(keys).size).toBe(50);
  });
});

describe("a text that is too long with its links", () => {
  const link = `https://pages.example.com/plain?${"utm_campaign=autumn&".repeat(9)}`;
  const text = `Ä ${"word ".repeat(40)}${link} #end`;
  const bluesky = networkOf("bluesky");

  test("shows them as the network's app does, and they lead to the whole address", () => {
    const shown = shownText(text);
    expect(shown.text).toBe(`Ä ${"word ".repeat(40)}pages.example.com/plain?utm_ca… #end`);
    const facets = facetsOf(shown.text, shown.stretches, new Map());
    const covered = facets.map(({ index, features }) => [
      Buffer.from(shown.text).subarray(index.byteStart, index.byteEnd).toString(),
      features[0]["uri"] ?? features[0]["tag"],
    ]);
    expect(covered).toEqual([
      ["pages.example.com/plain?utm_ca…", link],
      ["#end", "end"],
    ]);
  });

  test("is counted as it is shown, with a warning", () => {
    const { usedCharacters } = bluesky.measure(draft({ text }), {});
    expect(usedCharacters).toBe(countGraphemes(shownText(text).text));
    expect(usedCharacters).toBeLessThan(300);
    expect(bluesky.check(draft({ text }), {})).toMatchObject([
      { severity: "warning", code: "text_shortened", rule: "bluesky.text.links", field: "text" },
    ]);
  });

  test("is refused if it is too long all the same, and one that fits stays as it is", () => {
    const rulesOf = (long: string) =>
      bluesky.check(draft({ text: long }), {}).map(({ rule }) => rule);
    expect(rulesOf(`${"x".repeat(300)} ${link}`)).toEqual(["bluesky.text.graphemes"]);
    const short = `See ${link}`;
    expect(shownText(short)).toMatchObject({ text: short, isShortened: false });
  });
});
