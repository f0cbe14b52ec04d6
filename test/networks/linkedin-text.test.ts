import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { littleText, plainText } from "../../src/shared/networks/linkedin/publish.ts";

const RESERVED = "\\|{}@[]()<>#*_~";

interface Read {
  readonly text: string;
  /** What the network would have cut off. */
  readonly rest: string;
  readonly tags: readonly string[];
}

/** A reader of the format of its own: character by character, ending where a reserved one stands unescaped. */
function read(source: string): Read {
  let text = "";
  const tags: string[] = [];
  let at = 0;
  while (at < source.length) {
    const character = source.charAt(at);
    if (character === "\\" && RESERVED.includes(source.charAt(at + 1) || " ")) {
      text += source.charAt(at + 1);
      at += 2;
    } else if (/^\{hashtag\|\\[#＃]\|/.test(source.slice(at, at + 12))) {
      const end = source.indexOf("}", at);
      const inner = end < 0 ? undefined : read(source.slice(at + 12, end));
      if (inner === undefined || inner.text === "" || inner.rest !== "") break;
      tags.push(inner.text);
      text += `${source.charAt(at + 10)}${inner.text}`;
      at = end + 1;
    } else if (RESERVED.includes(character)) {
      break;
    } else {
      text += character;
      at += 1;
    }
  }
  return { text, rest: source.slice(at), tags };
}

describe("LinkedIn's little text", () => {
  test.each([
    ["Launch (beta) #AI a_b @x", String.raw`Launch \(beta\) {hashtag|\#|AI} a\_b \@x`],
    ["plain, with: punctuation; and 'quotes'!", "plain, with: punctuation; and 'quotes'!"],
    [String.raw`a\b`, String.raw`a\\b`],
    [String.raw`\(`, String.raw`\\\(`],
    ["{hashtag|#|x}", String.raw`\{hashtag\|\#\|x\}`],
    ["@[Name](urn:li:share:1)", String.raw`\@\[Name\]\(urn:li:share:1\)`],
    ["@[Name](URN:LI:ORGANIZATION:1)", String.raw`\@\[Name\]\(URN:LI:ORGANIZATION:1\)`],
    ["#one#two", String.raw`{hashtag|\#|one}\#two`],
    ["##two", String.raw`\#\#two`],
    ["a#b", String.raw`a\#b`],
    ["C# and #1 and #2026", String.raw`C\# and \#1 and \#2026`],
    ["#1st (#last)", String.raw`{hashtag|\#|1st} \({hashtag|\#|last}\)`],
    ["#snake_case.", String.raw`{hashtag|\#|snake\_case}.`],
    ["#Über #日本語 #हिन्दी", String.raw`{hashtag|\#|Über} {hashtag|\#|日本語} {hashtag|\#|हिन्दी}`],
    ["#نرم\u200Cافزار آزاد", "{hashtag|\\#|نرم\u200Cافزار} آزاد"],
    ["#ශ්\u200Dරී.", "{hashtag|\\#|ශ්\u200Dරී}."],
    ["#one\u200C two", "{hashtag|\\#|one}\u200C two"],
    ["#\uFE0F\u20E3one #\u20E3two", "\\#\uFE0F\u20E3one \\#\u20E3two"],
    ["＃スター・ウォーズ ＃1 C＃a", "{hashtag|\\＃|スター・ウォーズ} ＃1 C＃a"],
    ["#col·laboració #one· two", "{hashtag|\\#|col·laboració} {hashtag|\\#|one}· two"],
    ["#___", String.raw`\#\_\_\_`],
    ["#👋", String.raw`\#👋`],
    ["https://example.com/#top", String.raw`https://example.com/\#top`],
    [
      "https://en.example.org/wiki/A_(b)~c?x=[1] #tag",
      String.raw`https://en.example.org/wiki/A\_\(b\)\~c?x=\[1\] {hashtag|\#|tag}`,
    ],
    ["**bold** <b>", String.raw`\*\*bold\*\* \<b\>`],
    ["", ""],
  ])("writes %j as %j", (text, expected) => {
    expect(littleText(text)).toBe(expected);
    expect(read(expected)).toMatchObject({ text, rest: "" });
  });

  test.each([
    ["@[Name](urn:li:person:1)", "@[Name](urn:li:person:1)"],
    [
      "by @[A_B](urn:li:organizationBrand:12)!",
      String.raw`by @[A\_B](urn:li:organizationBrand:12)!`,
    ],
    ["#a @[B](urn:li:organization:1)#", String.raw`{hashtag|\#|a} @[B](urn:li:organization:1)\#`],
  ])("writes the mention in %j as one: %j", (text, expected) => {
    expect(littleText(text)).toBe(expected);
    expect(plainText(expected)).toBe(text);
  });

  test("LinkedIn's little text is read back as the original text, cut off nowhere", () => {
    const piece = fc.oneof(
      fc.constantFrom(...RESERVED.split("")),
      fc.constantFrom(
        "#tag",
        "# ",
        "#a_b",
        "https://a.example/_",
        "HTTP://x/#(",
        "\\\\",
        "{hashtag|",
      ),
      fc.constantFrom(" ", "\n", "a", "9", "é", "日本", "👩‍👩‍👧", "&", "＃"),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, (input) => {
        const written = littleText(input);
        expect(read(written)).toMatchObject({ text: input, rest: "" });
        expect(plainText(written)).toBe(input);
      }),
      { numRuns: 500 },
    );
  });

  test("makes hashtags of words after a #, and of nothing else", () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        const text = words.map((each) => `no${each} #${each}`).join(" ");
        expect(read(littleText(text)).tags).toEqual(words);
      }),
    );
  });

  test.each([
    ["{hashtag|#|Tech} and more", "#Tech and more"],
    ["{hashtag|＃|技術}", "＃技術"],
    [String.raw`a\_b {hashtag|\#|c\_d}`, "a_b #c_d"],
  ])("little text is read from %j as %j", (commentary, text) => {
    expect(plainText(commentary)).toBe(text);
  });
});
