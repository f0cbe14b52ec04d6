import { describe, expect, test } from "vitest";
import { pageCard } from "../../../src/shared/networks/bluesky/link-card.ts";

const PAGE = "https://example.com/blog/post";

describe("a page's card", () => {
  test("is what the page says for cards", () => {
    const html = `<!doctype html><html><head><title>Plain</title>
      <meta property="og:title" content="Tom &amp; Jerry&#39;s &quot;day&quot;">
      <META content='About it' name='description'/>
      <meta property=og:image content=/pictures/a.jpg>
      </head><body></body></html>`;
    expect(pageCard(html, PAGE)).toEqual({
      title: `Tom & Jerry's "day"`,
      description: "About it",
      imageUrl: "https://example.com/pictures/a.jpg",
    });
  });

  test.each([
    ["<title>Only\n a title</title>", { title: "Only a title", description: "", imageUrl: null }],
    ['<meta name="twitter:title" content="T">', { title: "T", description: "", imageUrl: null }],
    [
      '<title>T</title><meta property="og:image" content="javascript:alert(1)">',
      { title: "T", description: "", imageUrl: null },
    ],
    [
      '<meta property="og:title" content="First"><meta property="og:title" content="Second">',
      { title: "First", description: "", imageUrl: null },
    ],
    [
      '<meta property="og:title" content="a > b">',
      { title: "a > b", description: "", imageUrl: null },
    ],
    ['<meta property="og:title" content="">', undefined],
    ["<p>no head at all</p>", undefined],
    ["", undefined],
  ])("of %j is %j", (html, card) => {
    expect(pageCard(html, PAGE)).toEqual(card);
  });

  test("is cut to what a card shows, without half characters", () => {
    const card = pageCard(`<title>${"👋".repeat(500)}</title>`, PAGE);
    expect(card?.title.length).toBeLessThanOrEqual(301);
    expect(card?.title.isWellFormed()).toBe(true);
  });

  test("is read in a moment from a page made to be slow", () => {
    const started = performance.now();
    for (const piece of [
      '<meta "',
      "<meta a",
      "<meta a= ",
      '<meta a="',
      "&#",
      "<title>",
      "<meta   ",
    ]) {
      pageCard(piece.repeat(100_000), PAGE);
    }
    pageCard(`<meta ${" ".repeat(300_000)}`, PAGE);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
