import { describe, expect, test } from "vitest";
import { readPageCard } from "../../src/shared/media/page-card.ts";
import type { HttpRequest } from "../../src/shared/runtime/http-call.ts";
import { fetchPageCard } from "../../src/shared/networks/bluesky/link-card.ts";
import { answer, scriptedTools } from "./scripted-tools.ts";

const PAGE = "https://example.com/blog/post";

const pageCard = (html: string | Uint8Array, url: string, contentType = "text/html") =>
  readPageCard({ url, contentType, body: Buffer.from(html) }).card;

const titleOf = (html: string | Uint8Array, contentType?: string) =>
  pageCard(html, PAGE, contentType)?.title;

describe("a page's card", () => {
  test("a page's card is what the page says for cards", () => {
    const html = `<!doctype html><html><head><title>Plain</title>
      <meta property="og:title" content="Tom &amp; Jerry&#39;s &quot;day&quot;">
      <META content='About it' name='description'/>
      <meta property=og:image content=/pictures/a.jpg>
      </head><body></body></html>`;
    expect(pageCard(html, PAGE)).toEqual({
      title: `Tom & Jerry's "day"`,
      description: "About it",
      imageUrls: ["https://example.com/pictures/a.jpg"],
    });
  });

  test.each([
    ["<title>Only\n a title</title>", { title: "Only a title", description: "", imageUrls: [] }],
    ['<meta name="twitter:title" content="T">', { title: "T", description: "", imageUrls: [] }],
    [
      '<title>T</title><meta property="og:image" content="javascript:alert(1)">',
      { title: "T", description: "", imageUrls: [] },
    ],
    [
      '<meta property="og:title" content="First"><meta property="og:title" content="Second">',
      { title: "First", description: "", imageUrls: [] },
    ],
    [
      '<meta property="og:title" content="a > b">',
      { title: "a > b", description: "", imageUrls: [] },
    ],
    ['<meta property="og:title" content="">', undefined],
    ["<p>no head at all</p>", undefined],
    ["", undefined],
  ])("a page's card of %j is %j", (html, card) => {
    expect(pageCard(html, PAGE)).toEqual(card);
  });

  test("a page's card has the pictures that the page names, in its order and without repeats", () => {
    const html = `<title>T</title>
      <meta property="og:image" content="/a.jpg"><meta property="og:image" content="/b.jpg">
      <meta name="twitter:image" content="/a.jpg"><link rel="image_src" href="/c.jpg">`;
    expect(pageCard(html, PAGE)?.imageUrls).toEqual([
      "https://example.com/a.jpg",
      "https://example.com/b.jpg",
      "https://example.com/c.jpg",
    ]);
  });

  test.each([
    [`<script>${"x".repeat(900_000)}</script><meta property="og:title" content="Far behind">`],
    [`<meta property="og:title" content="\u200b"><meta name="twitter:title" content="Far behind">`],
    [`<meta property="og:title" content=" \u3164"><meta property="og:title" content="Far behind">`],
  ])("a page's title is found behind what is none (%#)", (html) => {
    expect(titleOf(html)).toBe("Far behind");
  });

  test("a page's card is cut to what a card shows, without half characters", () => {
    const card = pageCard(`<title>${"👋".repeat(500)}</title>`, PAGE);
    expect(card?.title.length).toBeLessThanOrEqual(301);
    expect(card?.title.isWellFormed()).toBe(true);
  });
});

describe("a page's title", () => {
  test.each<[string, string]>([
    [
      '<!-- <meta property="og:title" content="Old"> --><meta property="og:title" content="New">',
      "New",
    ],
    ['<script>var x="<title>Wrong</title>"</script><title>Right</title>', "Right"],
    ["<style>/*<title>Wrong</title>*/</style><title>Right</title>", "Right"],
    ["<textarea><title>Wrong</title></textarea><title>Right</title>", "Right"],
    ["<iframe><title>Wrong</title></iframe><title>Right</title>", "Right"],
    ["<template><title>Wrong</title></template><title>Right</title>", "Right"],
    ["<svg><title>Logo</title></svg><title>Right</title>", "Right"],
    ["<svg/><title>Right</title>", "Right"],
    ["<svg><style><title>Logo</title></style></svg><title>Right</title>", "Right"],
    [
      "<svg><foreignObject><style><title>x</title></style></foreignObject></svg><title>Right</title>",
      "Right",
    ],
    ["<noscript><title>Right</title></noscript>", "Right"],
    ["<title></title><title>Right</title>", "Right"],
    ["<TITLE>Right</TITLE>", "Right"],
    ["<title>1 < 2 <b>x</b></title>", "1 < 2 <b>x</b>"],
    [
      "<title>Tom &amp; &#x4A;erry &copy; &nbsp;&rarr; &notit; &#0;&#x110000;</title>",
      "Tom & Jerry © → \u00acit; \ufffd\ufffd",
    ],
    ["<title>A\0B</title>", "A\ufffdB"],
    ['<meta property="og:title" content="A\0B">', "A\ufffdB"],
    ["<title>Not closed", "Not closed"],
    ["<title/>Self-closed</title>", "Self-closed"],
    ['<meta content="Right" name="og:title">', "Right"],
    ["<META PROPERTY=OG:TITLE CONTENT=Right>", "Right"],
    ["<meta property=og:title content=a/b>", "a/b"],
    ["<meta property='og:title' content='He said \"hi\"'>", 'He said "hi"'],
    ['<meta property="og:title twitter:title" content="Right">', "Right"],
    ['<meta property="og:title"content="Right">', "Right"],
    ['<meta property="og:title" content="a&lt;b&quot;&eacute;&amp;amp;">', 'a<b"é&amp;'],
    ['<meta property="og:title" content="x?a=1&copy=2">', "x?a=1&copy=2"],
    ['<meta property="og:title" content="First" content="Second">', "First"],
    ['<meta name="twitter:title" value="Right">', "Right"],
    ["<div><p><meta property='og:title' content='In the body'>", "In the body"],
    ["<!doctype html><!--><title>Right</title><!-- -->", "Right"],
    ["<!---><title>Right</title>-->", "Right"],
    ["<!-- a --!><title>Right</title>", "Right"],
    ["<title>\n Two\t lines\r\n</title>", "Two lines"],
    [
      "<xmp><title>Wrong</title></xmp><noframes><title>Wrong</title></noframes><title>Right</title>",
      "Right",
    ],
  ])("a page's title of %j is %j", (html, title) => {
    expect(titleOf(html)).toBe(title);
  });
});

describe("a page's other facts", () => {
  test("a page's other facts are those of Twitter where there are no others", () => {
    const html = `<meta name="twitter:title" content="T"><meta name="twitter:description" content="D">
      <meta name="twitter:image:src" content="//cdn.example.com/a.png">`;
    expect(pageCard(html, PAGE)).toEqual({
      title: "T",
      description: "D",
      imageUrls: ["https://cdn.example.com/a.png"],
    });
  });

  test.each<[string, string]>([
    ['<base href="/other/">', "https://example.com/other/a.png"],
    [
      '<base href="https://cdn.example.com/x/"><base href="/y/">',
      "https://cdn.example.com/x/a.png",
    ],
    ['<base target=_top><base href="../">', "https://example.com/a.png"],
    ['<base href="javascript:x">', "https://example.com/blog/a.png"],
    ["", "https://example.com/blog/a.png"],
  ])("a page's other facts have a picture relative to %j", (base, imageUrl) => {
    const html = `${base}<title>T</title><meta property="og:image" content=" a.png ">`;
    expect(pageCard(html, PAGE)?.imageUrls[0] ?? null).toBe(imageUrl);
  });

  const [good, other] = ["https://cdn.example.com/a.png", "https://cdn.example.com/b.png"];
  test.each([
    [`<meta itemprop="image" content="${good}">`, good],
    [`<meta itemprop="name image" content=" ${good} ">`, good],
    [`<link itemprop=image href="${good}">`, good],
    [`<link rel="image_src" href="${good}">`, good],
    [`<LINK REL="preload IMAGE_SRC" HREF="${good}">`, good],
    [`<link rel="image_src" href="${other}"><meta property=og:image content="${good}">`, good],
    [
      `<meta property=og:image content="data:image/png;base64,AA"><meta name=twitter:image content="${good}">`,
      good,
    ],
    [`<meta property=og:image content="blob:x"><link rel=image_src href="${good}">`, good],
    [
      `<link rel="preload" as="image" href="${other}"><link rel="apple-touch-icon" href="/i">`,
      null,
    ],
    [`<meta itemprop="image"><link rel="image_src">`, null],
  ])("a page's other facts have the picture of %j", (html, imageUrl) => {
    expect(pageCard(`<title>T</title>${html}`, PAGE)?.imageUrls[0] ?? null).toBe(imageUrl);
  });
});

describe("a page's encoding", () => {
  const bytes = (hex: string) => Buffer.from(hex, "hex");
  const around = (before: string, text: Uint8Array) =>
    Buffer.concat([Buffer.from(`${before}<title>`), text, Buffer.from("</title>")]);
  const cyrillic = bytes("cff0e8e2e5f2");
  const japanese = bytes("83658358836782cc8379815b8357");

  test.each<[string, Uint8Array, string, string]>([
    ["meta", around("<meta charset=windows-1251>", cyrillic), "text/html", "Привет"],
    ["meta in upper case", around("<META CHARSET='CP1251'>", cyrillic), "text/html", "Привет"],
    [
      "http-equiv",
      around(
        '<meta http-equiv="Content-Type" content="text/html; charset=EUC-JP">',
        bytes("a5c6a5b9a5c8a4cea5daa1bca5b8"),
      ),
      "text/html",
      "テストのページ",
    ],
    [
      "meta Shift_JIS",
      around('<meta charset="Shift_JIS">', japanese),
      "text/html",
      "テストのページ",
    ],
    [
      "header",
      around("<meta charset=utf-8>", cyrillic),
      "text/html;charset=windows-1251",
      "Привет",
    ],
    ["header in quotes", around("", cyrillic), "text/html; Charset='windows-1251' ; x=y", "Привет"],
    [
      "unknown header, then meta",
      around("<meta charset=windows-1251>", cyrillic),
      "text/html; charset=unheard-of",
      "Привет",
    ],
    [
      "unknown meta, then another",
      around("<meta charset=unheard-of><meta charset=windows-1251>", cyrillic),
      "text/html",
      "Привет",
    ],
    [
      "order mark",
      Buffer.concat([
        bytes("efbbbf"),
        around("<meta charset=windows-1251>", Buffer.from("Привет")),
      ]),
      "text/html; charset=windows-1251",
      "Привет",
    ],
    [
      "order mark of UTF-16",
      Buffer.concat([bytes("fffe"), Buffer.from("<title>Привет</title>", "utf16le")]),
      "text/html",
      "Привет",
    ],
    [
      "UTF-16 that it can't have",
      around("<meta charset=utf-16>", Buffer.from("Привет")),
      "text/html",
      "Привет",
    ],
    [
      "XML declaration",
      around('<?xml version="1.0" encoding="windows-1251"?>', cyrillic),
      "application/xhtml+xml",
      "Привет",
    ],
    [
      "in a comment",
      around("<!-- <meta charset=koi8-r> --><meta charset=windows-1251>", cyrillic),
      "text/html",
      "Привет",
    ],
    [
      "behind 1,024 bytes",
      around(`<!--${"x".repeat(2000)}--><meta charset=windows-1251>`, cyrillic),
      "text/html",
      "Привет",
    ],
    ["none", around("", Buffer.from("Привет")), "text/html", "Привет"],
    ["none, and is not UTF-8", around("", bytes("936361666594e9")), "text/html", "“cafe”é"],
    ["iso-8859-1", around("<meta charset=iso-8859-1>", bytes("938094")), "text/html", "“€”"],
    ["big5", around("<meta charset=big5>", bytes("a4a4a4e5")), "text/html", "中文"],
    ["gb2312", around("<meta charset=gb2312>", bytes("d6d0cec4")), "text/html", "中文"],
    ["euc-kr", around("<meta charset=ks_c_5601-1987>", bytes("c7d1b1db")), "text/html", "한글"],
    [
      "euc-kr beyond KS X 1001",
      around("<meta charset=euc-kr>", bytes("c2818cc8")),
      "text/html",
      "혖뚅",
    ],
    ["big5 of Hong Kong", around("<meta charset=big5>", bytes("fa40a4a4")), "text/html", "𠕇中"],
    [
      "iso-2022-jp",
      around("<meta charset=iso-2022-jp>", bytes("1b2442467c4b5c1b2842")),
      "text/html",
      "日本",
    ],
  ])("a page's encoding is found: %s", (_what, page, contentType, title) => {
    expect(titleOf(page, contentType)).toBe(title);
  });
});

describe("a page behind a link", () => {
  const html = { "content-type": "text/html" };
  const at = (path: string) => `GET https://example.com${path}`;

  test("a page behind a link is found behind five redirects, raw ones too, and says what pictures are relative to", async () => {
    const raw = Buffer.from("/bücher/").toString("latin1");
    const moved = (location: string) => answer(302, "", { location });
    const tools = scriptedTools({
      http: {
        [at("/0")]: moved("/1"),
        [at("/1")]: moved("/2"),
        [at("/2")]: moved("3"),
        [at("/3")]: moved("//example.com/4"),
        [at("/4")]: moved(raw),
        [at("/b%C3%BCcher/")]: answer(
          200,
          "<title>T</title><meta property=og:image content=a.png>",
          html,
        ),
      },
    });
    expect(await fetchPageCard("https://example.com/0", tools)).toMatchObject({
      title: "T",
      imageUrls: ["https://example.com/b%C3%BCcher/a.png"],
    });
  });

  test.each<[string, ReturnType<typeof answer>, boolean]>([
    ["no Content-Type", answer(200, "<title>T</title>"), true],
    ["XHTML", answer(200, "<title>T</title>", { "content-type": "application/xhtml+xml" }), true],
    ["status 203", answer(203, "<title>T</title>", html), true],
    ["plain text", answer(200, "<title>T</title>", { "content-type": "text/plain" }), false],
    ["status 404", answer(404, "<title>T</title>", html), false],
    ["a loop", answer(302, "", { location: "/0" }), false],
    ["a redirect to nowhere", answer(302, "<title>Moved</title>", html), false],
  ])("a page behind a link has a card: %s", async (_what, reply, isCard) => {
    const tools = scriptedTools({ http: { [at("/0")]: reply } });
    expect((await fetchPageCard("https://example.com/0", tools)) !== undefined).toBe(isCard);
  });

  const titled = (title: string) => answer(200, `<title>${title}</title>`, html);

  test("a page behind a link is asked for by https, wherever the link leads", async () => {
    const tools = scriptedTools({
      http: {
        [at("/old")]: answer(301, "", { location: "http://example.com/new" }),
        [at("/new")]: titled("New"),
      },
    });
    expect(await fetchPageCard("http://example.com/old", tools)).toMatchObject({ title: "New" });
  });

  test("a page behind a link may send readers on by a tag", async () => {
    const refresh = (to: string) =>
      answer(
        200,
        `<title>Redirecting…</title><meta http-equiv=refresh content="0; url=${to}">`,
        html,
      );
    const tools = scriptedTools({
      http: { [at("/0")]: refresh("/1"), [at("/1")]: titled("There"), [at("/2")]: refresh("/2") },
    });
    expect(await fetchPageCard("https://example.com/0", tools)).toMatchObject({ title: "There" });
    expect(await fetchPageCard("https://example.com/2", tools)).toMatchObject({
      title: "Redirecting…",
    });
  });

  test("a page behind a link gets the cookies that were set on the way to it", async () => {
    const gate = (shown: ReturnType<typeof answer>) => (request: HttpRequest) =>
      request.headers?.["cookie"] === "seen=1; geo=de"
        ? shown
        : answer(302, "", { location: "/0", "set-cookie": "seen=1; Path=/\ngeo=de; Path=/" });
    const onward = '<title>On the way</title><meta http-equiv=refresh content="0; url=/1">';
    const tools = scriptedTools({
      http: {
        [at("/0")]: gate(answer(200, onward, html)),
        [at("/1")]: gate(titled("Behind cookies")),
      },
    });
    const card = await fetchPageCard("https://example.com/0", tools);
    expect(card).toMatchObject({ title: "Behind cookies" });
    expect(tools.asked).toEqual([at("/0"), at("/0"), at("/1")]);
  });

  test.each([
    ["https://consent.example.com/m", false],
    ["https://id.example.net/start?continue=https%3A%2F%2Fexample.com%2F0%3Fa%3D1", false],
    ["https://example.com/user/login?x=1", false],
    ["https://example.com/hold?next=%2F0", false],
    ["https://www.example.com/0", true],
    ["https://example.com/new?from=%2F0", true],
    ["https://example.com/blog/login-made-easy", true],
  ])(
    "a page that stands before the one of a link has no card: %s (%s)",
    async (location, isCard) => {
      const tools = scriptedTools({
        http: {
          [at("/0")]: answer(302, "", { location }),
          [`GET ${location.split("?", 1)[0] ?? ""}`]: titled("Before you continue"),
        },
      });
      expect((await fetchPageCard("https://example.com/0", tools)) !== undefined).toBe(isCard);
    },
  );

  test("a film behind a page of consent is described by its site", async () => {
    const consent = "https://consent.youtube.com/m";
    const film = {
      title: "Baking bread",
      author_name: "A baker",
      thumbnail_url: "https://i.ytimg.com/vi/1/hq.jpg",
    };
    const tools = scriptedTools({
      http: {
        "GET https://www.youtube.com/watch": answer(302, "", { location: consent }),
        [`GET ${consent}`]: titled("Before you continue to YouTube"),
        "GET https://www.youtube.com/oembed": answer(200, film),
      },
    });
    expect(await fetchPageCard("https://www.youtube.com/watch?v=1", tools)).toEqual({
      title: "Baking bread",
      description: "A baker",
      imageUrls: ["https://i.ytimg.com/vi/1/hq.jpg"],
    });
  });
});
