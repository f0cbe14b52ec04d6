import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { z } from "zod";
import { openChromium } from "../test/outside/browser/chromium.ts";
import { kill, newPlace, readDemo, start, until } from "../test/process/start/started.ts";
import { createApiClient } from "../dev/api-client.ts";
import type { ApiClient } from "../dev/api-client.ts";
import { DEMO_NETWORKS } from "../dev/demo.ts";
import { linkInBrowser } from "../dev/demo-visit.ts";

const FOLDER = "docs/pictures";
const PUBLISH_MS = 60_000;
const POLL_MS = 500;

/** The last network is left to be linked, so that the page shows both. */
const LINKED = DEMO_NETWORKS.slice(0, -1);
/** The sandbox's accounts have names and no faces. */
const FACE = "sandbox/media/portrait.jpg";
/** Readers see the pages in their system's typeface. Android's is free, and Debian has it (`fonts-roboto`). */
const TYPEFACE = "body, button, input { font-family: Roboto, system-ui, sans-serif; }";

const SHORT = {
  text: "First frost this morning. The ovens are on, and the door opens at seven. #breakfast",
  mediaUrls: [],
  altTexts: [],
};
/** One post, with a text of its own where a network's readers expect another one. */
const POST = {
  text: "First frost, first light: the way to work, half an hour before the ovens are warm. #breakfast",
  platforms: DEMO_NETWORKS,
  mediaUrls: ["https://media.sandbox.test/photo.jpg"],
  altTexts: ["The sun rises over a lake, with snow on the mountains behind it"],
  platformOptions: {
    bluesky: SHORT,
    mastodon: SHORT,
    linkedin: {
      ...SHORT,
      text: "Half past five, first frost, and the ovens have been on since four. We are looking for an apprentice who likes mornings.",
    },
  },
};

const Made = z.object({ id: z.string() });
const Session = z.object({ connectUrl: z.string() });
const Published = z.object({ status: z.string() });

interface Relay {
  readonly api: ApiClient;
  readonly token: string;
  readonly profileId: string;
}

/** Opens the connect page for a new profile, and links some of its networks as its owner would. */
async function openConnectPage({ api, token }: Relay): Promise<string> {
  const { id } = Made.parse(
    await api.call("POST", "v1/profiles", { token, body: { title: "Lakeside bakery" } }),
  );
  const body = {
    platforms: DEMO_NETWORKS,
    branding: { name: "Planner", accentColor: "#0b7a6f" },
  };
  const { connectUrl } = Session.parse(
    await api.call("POST", `v1/profiles/${id}/connect/sessions`, { token, body }),
  );
  for (const network of LINKED) await linkInBrowser(connectUrl, network);
  return connectUrl;
}

/** Publishes the post, and waits until every network shows it. */
async function publish({ api, token, profileId }: Relay): Promise<void> {
  const headers = { "x-profile-id": profileId, "idempotency-key": "pictures-of-the-readme" };
  const { id } = Made.parse(await api.call("POST", "v1/posts", { token, headers, body: POST }));
  const read = async () =>
    Published.parse(
      await api.call("GET", `v1/posts/${id}`, { token, headers: { "x-profile-id": profileId } }),
    );
  await until(async () => (await read()).status !== "processing", PUBLISH_MS, POLL_MS);
  const { status } = await read();
  if (status !== "succeeded") throw new Error(`the post of the pictures ended as ${status}`);
}

async function openPage(browser: Browser, url: string, width: number): Promise<Page> {
  const context = await browser.newContext({
    colorScheme: "light",
    reducedMotion: "reduce",
    // For the typeface.
    bypassCSP: true,
    viewport: { width, height: 800 },
  });
  const face = await sharp(FACE).resize(96, 96).png().toBuffer();
  await context.route(/^https:/, (route) =>
    route.fulfill({ contentType: "image/png", body: face }),
  );
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "networkidle" });
  await page.addStyleTag({ content: TYPEFACE });
  return page;
}

/**
 * Keeps the page from its top to the end of an element, with the same margin on both sides of it, in few colors: a README
 * is read on slow lines, too.
 */
async function keep(page: Page, name: string, lastElement: string): Promise<void> {
  const box = await page.locator(lastElement).boundingBox();
  if (box === null) throw new Error(`${name}: the page has no ${lastElement}`);
  const width = Math.ceil(box.x + box.width + box.x);
  const height = Math.ceil(box.y + box.height) + 16;
  const whole = await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width, height } });
  const file = join(FOLDER, `${name}.png`);
  const { size } = await sharp(whole).png({ palette: true, effort: 10 }).toFile(file);
  console.log(`${file}: ${width} × ${height}, ${Math.ceil(size / 1000)} KB`);
}

/** Takes the pictures of the README from what `npm start` runs, on free ports and in a folder of its own. */
async function main(): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const place = await newPlace();
  const started = await start(place);
  try {
    const { baseUrl, sandboxUrl, apiKey, profileId } = readDemo(place);
    const relay = { api: createApiClient(baseUrl), token: apiKey, profileId };
    const browser = await openChromium();
    await keep(await openPage(browser, await openConnectPage(relay), 660), "connect-page", "main");
    await publish(relay);
    await keep(await openPage(browser, `${sandboxUrl}/?still`, 1_280), "sandbox", ".feeds");
    await browser.close();
  } finally {
    await kill(started, place);
    await place.remove();
  }
}

if (import.meta.main) await main();
