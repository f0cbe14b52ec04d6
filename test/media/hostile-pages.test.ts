import { expect, test } from "vitest";
import { mediaReader } from "../../src/shared/media/media-reader.ts";
import { fetchPageCard } from "../../src/shared/networks/bluesky/link-card.ts";
import { answer, scriptedTools } from "../networks/scripted-tools.ts";
import { watchThread } from "../setup/blocked.ts";
import { tolerated } from "../setup/bounds.ts";

const PAGE_BYTES = 2_097_152;

const filled = (part: string) => part.repeat(Math.ceil(PAGE_BYTES / part.length));

/** Each kept the process from everything else for seconds where it was read among other work. */
const PAGES: Readonly<Record<string, string>> = {
  "encodings that don't exist": filled("<meta charset=unknown>"),
  "ends of elements that are not open": `${"<b>".repeat(510)}${filled("</i>")}`,
  "an element of very many attributes": `<meta ${Array.from({ length: 300_000 }, (_, index) => `a${index}`).join(" ")}>`,
};

/** Tools that read pages as the service does. */
const toolsFor = (pages: Readonly<Record<string, string>>) => ({
  ...scriptedTools({
    http: Object.fromEntries(
      Object.entries(pages).map(([url, html]) => [
        `GET ${url}`,
        answer(200, html, { "content-type": "text/html" }),
      ]),
    ),
  }),
  readPage: mediaReader.page.bind(mediaReader, "a"),
});

test.each(Object.entries(PAGES))(
  "a hostile page has no card, and blocks nothing else: %s",
  async (_name, html) => {
    const [plain, hostile] = ["https://example.com/plain", "https://example.com/hostile"];
    const tools = toolsFor({ [plain]: "<title>Plain</title>", [hostile]: html });
    expect(await fetchPageCard(plain, tools)).toMatchObject({ title: "Plain" });
    const thread = watchThread();
    const card = await fetchPageCard(hostile, tools);
    expect(thread.end()).toBeLessThan(tolerated(100));
    expect(card).toBeUndefined();
    expect(await fetchPageCard(plain, tools)).toMatchObject({ title: "Plain" });
  },
  60_000,
);

test("a page's pictures and addresses are no longer than what can be called", async () => {
  const long = `https://example.com/${"a".repeat(100_000)}`;
  const html = `<title>Long</title><meta property=og:image content="${long}"><meta http-equiv=refresh content="0;url=${long}">`;
  const tools = toolsFor({ "https://example.com/": html });
  expect(await fetchPageCard("https://example.com/", tools)).toEqual({
    title: "Long",
    description: "",
    imageUrls: [],
  });
});
