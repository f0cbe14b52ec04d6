import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countedText } from "../../src/shared/networks/mastodon/counted-text.ts";
import { hostEndings } from "../../src/shared/networks/mastodon/host-endings.ts";
import { countCharacters, measure } from "../../src/shared/networks/mastodon/rules.ts";
import { comparable } from "../../src/shared/networks/mastodon/own-posts.ts";
import { textOfHtml } from "../../src/shared/networks/contract/text.ts";

const URL = "x";

test("the endings of hosts are those of March 2020, whatever has begun and ended since", () => {
  const endings = [...hostEndings()].toSorted();
  expect(endings).toHaveLength(1_574);
  const digest = createHash("sha256").update(endings.join(" ")).digest("hex");
  expect(digest).toBe("0cced701515676c64ba89c4dfca7f0cd5ec9237b8f6322961b310e51ed5a1ecf");
});

describe("a Mastodon text's length", () => {
  test("counts links as reserved, mentions without their domain and families as one", () => {
    const text = "Read https://example.com/a/very/long/path?x=1 by @alice@mastodon.example 👩‍👩‍👧";
    expect(countCharacters(text, "", 23)).toBe(40);
  });

  test("includes the content warning", () => {
    expect(countCharacters("abc", "cw 👋", 23)).toBe(7);
  });

  test("takes the instance's own length of a link", () => {
    expect(countCharacters("https://a.com", "", 30)).toBe(30);
  });

  test("a Mastodon text's length is told about any text, whatever the server counts for a link", () => {
    const links = "https://a.com ".repeat(1000);
    expect(countCharacters(links, "", 2_000_000_000)).toBe(2_000_000_001_000);
    const measured = (charactersPerUrl: number) =>
      measure({ text: links, media: [], options: {} }, { charactersPerUrl }).usedCharacters;
    expect(measured(2_048)).toBe(2_049_000);
    expect(measured(2_000_000_000)).toBe(24_000);
  });

  test.each([
    ["https://example.com", URL],
    ["https://example.com.", `${URL}.`],
    ["(https://example.com/a)", `(${URL})`],
    ["https://example.com/a_(b)", URL],
    ["https://example.com/a?b=c&d=e!", `${URL}!`],
    ["http://example.com:8080/é/ü", URL],
    ["https://example.com/日本", URL],
    ["example.com/a", "example.com/a"],
    ["xhttps://example.com", "xhttps://example.com"],
    ["https://localhost/a", "https://localhost/a"],
    ["@alice@example.com", "@alice"],
    ["@alice@example.com.", "@alice."],
    ["@alice", "@alice"],
    ["me@example.com", "me@example.com"],
    ["https://example.com/@alice@other.example", URL],
    ["a@b@c.example", "a@b@c.example"],
  ])("counts %j as %j", (text, counted) => {
    expect(countedText(text).text).toBe(counted);
  });

  test("a Mastodon text's length is told in time for any text", () => {
    const nasty = fc.constantFrom("https://", "a.a", "(", "@", "a", "/", "?", "_", ".");
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 200 }), (pieces) => {
        const text = pieces.join("");
        expect(countCharacters(text, "", 23)).toBeLessThanOrEqual(text.length + 23 * 200);
      }),
    );
  });
});

/** Texts, and what a Mastodon server counts: `mastodon-counts.rb` has them counted by the server's own code. */
const COUNTED = readFileSync(join(import.meta.dirname, "mastodon-counts.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as [text: string, length: number, counted: string]);
const PLACEHOLDER = "x".repeat(23);

describe("a Mastodon server's own count", () => {
  test("a Mastodon server's own count is ours for every text, neither more nor less", () => {
    expect(COUNTED.length).toBeGreaterThan(1_000);
    const others = COUNTED.flatMap(([text, length, counted]) => {
      const ours = { counted: countedText(text).text, length: countCharacters(text, "", 23) };
      const theirs = { counted: counted.replaceAll(PLACEHOLDER, URL), length };
      return JSON.stringify(ours) === JSON.stringify(theirs) ? [] : [{ text, ours, theirs }];
    });
    expect(others).toEqual([]);
  });

  // What the server does with the path, the query and the host of an address of this length.
  test.each([
    ["an address of 4,096 characters is a link", "https://a.com/".padEnd(4_096, "a"), 23],
    ["a longer one is none", "https://a.com/".padEnd(4_097, "a"), 4_097],
    ["with a query, too", "https://a.com/?".padEnd(4_097, "a"), 4_097],
    ["a host counts as it is encoded", "https://é.com/".padEnd(4_091, "a"), 4_091],
    ["its path does not", "https://a.com/".padEnd(4_096, "é"), 23],
  ])("a Mastodon server's own count: %s", (_name, text, length) => {
    expect(countCharacters(text, "", 23)).toBe(length);
  });

  test.each([
    ["Arabic", "https://ar.wikipedia.org/wiki/مقالة_طويلة_جدا_عن_موضوع"],
    ["Korean", "https://ko.wikipedia.org/wiki/아주_긴_항목_이름에_대한_설명"],
    ["brackets in brackets", `https://example.com/a_(b_(c))_${"d".repeat(80)}`],
    ["an underscore in a host", `https://my_shop.example.com/${"d".repeat(80)}`],
  ])("lets a text of 470 characters have a link as well: %s", (_name, link) => {
    expect(countCharacters(`${"a".repeat(469)} ${link}`, "", 23)).toBe(493);
  });
});

describe("a status' content", () => {
  test.each([
    ["<p>Hello &amp; good&nbsp;day</p>", "Hello & good day"],
    ["<p>one<br />two</p><p>three</p>", "one\ntwo\n\nthree"],
    [
      '<p>Hi <span class="h-card"><a href="https://m.example/@alice">@<span>alice</span></a></span></p>',
      "Hi @alice@m.example",
    ],
    [
      '<p><a href="https://example.com/a"><span class="invisible">https://</span><span class="ellipsis">example.com</span><span class="invisible">/a</span></a> #tag</p>',
      "https://example.com/a #tag",
    ],
    ["<p>&lt;b&gt; &#39;x&#39; &#x1F44B;</p>", "<b> 'x' 👋"],
  ])("%s is the text %j", (content, text) => {
    expect(comparable(textOfHtml(content))).toBe(comparable(text));
  });

  test("a status' content is not the text of another post", () => {
    expect(comparable(textOfHtml("<p>Hello</p>"))).not.toBe(comparable("Hello!"));
  });
});
