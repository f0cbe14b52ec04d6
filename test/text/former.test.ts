import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainName } from "../../src/shared/connections/hosted-page/markup.ts";
import { addressGroup } from "../../src/shared/http/access/caller-address.ts";
import { redact } from "../../src/shared/runtime/log.ts";
import { findStretches } from "../../src/shared/networks/bluesky/facets.ts";
import { readIdentifier } from "../../src/shared/networks/bluesky/identity.ts";
import { pageCard } from "../../src/shared/networks/bluesky/link-card.ts";
import {
  graphemesOf,
  textOfHtml,
  unescapeHtml,
  composed,
} from "../../src/shared/networks/contract/text.ts";
import { countedText } from "../../src/shared/networks/mastodon/rules.ts";

/** Texts of a few of the pieces that mean something to what is tested. */
const textOf = (...pieces: readonly string[]) =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((parts) => parts.join(""));

// Each as it was written before it was made linear: it is right, but slow.
const former = {
  mentions: (text: string) =>
    text.replaceAll(
      /(?<![=/\p{L}\p{N}_])@([a-z0-9_]+(?:[a-z0-9_.-]*[a-z0-9_])?)@[\p{L}\p{N}_.-]*[\p{L}\p{N}_]/giu,
      "@$1",
    ),
  html: (html: string) =>
    unescapeHtml(html.replaceAll(/<br\s*\/?>|<\/p>/gi, "\n").replaceAll(/<[^>]{0,10000}>/g, "")),
  link: (link: string) => {
    const count = (text: string, character: string) => text.split(character).length;
    let shown = link;
    for (;;) {
      const isUnbalanced = shown.endsWith(")") && count(shown, ")") > count(shown, "(");
      if (!isUnbalanced && !/[.,;:!?]$/.test(shown)) return shown;
      shown = shown.slice(0, -1);
    }
  },
  tag: (tag: string) => tag.replace(/\p{P}+$/u, ""),
  isEmail: (text: string) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
  title: (page: string) => /<title\b[^>]{0,200}>([^<]{1,2000})/i.exec(page)?.[1]?.trim() ?? "",
  name: (text: string) => {
    const parts = [...graphemesOf(text)].map(({ segment }) => segment);
    return parts.length <= 80 ? text : `${parts.slice(0, 80).join("")}…`;
  },
  withoutQueries: (text: string) =>
    text.replaceAll(/(https?:\/\/[^\s"'?#]+)[?#][^\s"']*/g, "$1?[redacted]"),
};

describe("what was made linear answers as before", () => {
  test("counts mentions", () => {
    const texts = textOf("@", "a", "ä", "K", "ſ", "_", ".", "-", " ", "=", "/", "1", "b.example");
    fc.assert(
      fc.property(texts, (text) => {
        expect(countedText(text).text).toBe(former.mentions(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test("takes the tags off a status", () => {
    const texts = textOf(
      "<",
      ">",
      "<p>",
      "</p>",
      "<br",
      "<br />",
      "a",
      " ",
      "&lt;",
      '<a href="b">',
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(textOfHtml(text)).toBe(former.html(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([9_999, 10_000, 10_001, 10_002])("takes a tag of %i characters as before", (length) => {
    const html = `a<${"b".repeat(length)}>c<d>`;
    expect(textOfHtml(html)).toBe(former.html(html));
  });

  test("ends links where they ended", () => {
    const tails = textOf("(", ")", ".", "!", "?", "a", "_", ",").filter((tail) => tail !== "");
    fc.assert(
      fc.property(tails, (tail) => {
        const link = `https://a.example/${tail}`;
        const [found] = findStretches(link);
        expect(link.slice(found?.start, found?.end)).toBe(former.link(link));
      }),
      { numRuns: 2_000 },
    );
  });

  test("ends hashtags where they ended", () => {
    const tails = textOf("!", "a", "_", "ä", "。", "𐄀", "'");
    fc.assert(
      fc.property(tails, (tail) => {
        const text = `#a${tail}`;
        const found = findStretches(text).find(({ kind }) => kind === "tag");
        expect(text.slice((found?.start ?? 0) + 1, found?.end)).toBe(former.tag(`a${tail}`));
      }),
      { numRuns: 2_000 },
    );
  });

  test("tells e-mail addresses from handles", () => {
    const texts = textOf("a", ".", "@", "-", " ", "example").filter(
      (text) => !/^(?:@|at:)/.test(text),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(readIdentifier(text, true)?.kind === "email").toBe(former.isEmail(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test("reads a page's title", () => {
    const pages = textOf("<title>", "<title a=b>", "</title>", "a", " ", "<p>", "<titles>");
    fc.assert(
      fc.property(pages, (page) => {
        expect(pageCard(page, "https://a.example/")?.title ?? "").toBe(
          former.title(page).replaceAll(/\s+/g, " "),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test("cuts names", () => {
    const names = fc.array(fc.constantFrom("a", "é", "👩‍👩‍👧", "\u0301", "🇩🇪"), { maxLength: 120 });
    fc.assert(
      fc.property(names, (parts) => {
        expect(plainName(parts.join(""))).toBe(former.name(parts.join("")));
      }),
    );
  });

  test("leaves queries out of the log", () => {
    const texts = textOf("http://", "https://", "a", "?", "#", " ", '"', "=");
    fc.assert(
      fc.property(texts, (text) => {
        expect(redact(text)).toBe(former.withoutQueries(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test("composes every text whose letters carry up to thirty marks", () => {
    const letters = fc.tuple(
      fc.constantFrom("a", "e", "ᄀ", "ག", "각", "𝅘"),
      fc.array(fc.constantFrom("\u0301", "\u0316", "\u0345", "\u0591", "\u1161"), {
        maxLength: 30,
      }),
    );
    const texts = fc
      .array(letters)
      .map((all) => all.map(([letter, marks]) => letter + marks.join("")));
    fc.assert(
      fc.property(texts, (parts) => {
        expect(composed(parts.join(""))).toBe(parts.join("").normalize("NFC"));
      }),
    );
  });
});

test("loses no mark of a letter that carries more", () => {
  const marks = fc.array(fc.constantFrom("\u0301", "\u0316"), { minLength: 31, maxLength: 200 });
  const sorted = (text: string) => Array.from(text).toSorted().join("");
  fc.assert(
    fc.property(marks, (all) => {
      const text = `a${all.join("")}b`;
      const marksAndLetters = composed(text).replaceAll("\u034f", "").normalize("NFD");
      expect(sorted(marksAndLetters)).toBe(sorted(text));
    }),
  );
});

test.each([
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:3:4:203.0.113.9", "2001:db8:1:2::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
])("groups the address %s as before", (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
