import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_HANDLE } from "../../../sandbox/bluesky/state.ts";
import type { NetworkName } from "../../../src/shared/networks/networks.ts";
import { NETWORK_NAMES } from "../../../src/shared/networks/names.ts";
import { casesOf } from "../../setup/long-check.ts";
import { aPublisher } from "../../setup/publisher.ts";
import { violations } from "./axe.ts";
import { hasChromium, inBrowser, openChromium } from "./chromium.ts";
import { openSite, Visitor, type BrowserSite } from "./site.ts";

const RUN_MS = 240_000;
const MEDIA = "https://media.sandbox.test";

/** The ways to each network's own page. `form`: what is filled in before. */
const CONSENTS: readonly [network: NetworkName, title: string, field?: string, value?: string][] = [
  ["facebook", "Facebook"],
  ["instagram", "Instagram"],
  ["linkedin", "LinkedIn"],
  ["bluesky", "Bluesky", "Handle (optional)", DEMO_HANDLE],
  ["mastodon", "Mastodon", "Your server", "mastodon.sandbox.test"],
  // The pages of this one are those of the other: for the long check.
  ["mastodon", "Mastodon", "Your server", "gotosocial.sandbox.test"],
];

/** One post of each form that the front page draws. */
const POSTS: readonly Readonly<Record<string, unknown>>[] = [
  {
    text: "Words and a link: https://links.sandbox.test/article",
    platforms: NETWORK_NAMES.filter((name) => name !== "instagram"),
  },
  {
    text: "One photo",
    platforms: NETWORK_NAMES,
    mediaUrls: [`${MEDIA}/photo.jpg`],
    altTexts: ["A lake"],
  },
  {
    text: "Three photos",
    platforms: NETWORK_NAMES,
    mediaUrls: ["/photo.jpg", "/photo-2.jpg", "/portrait.jpg"].map((path) => MEDIA + path),
  },
  { text: "A video", platforms: NETWORK_NAMES, mediaUrls: [`${MEDIA}/clip.mp4`] },
  {
    text: "",
    platforms: ["facebook", "instagram"],
    mediaUrls: [`${MEDIA}/portrait.jpg`],
    platformOptions: { facebook: { kind: "story" }, instagram: { kind: "story" } },
  },
  {
    text: "A document",
    platforms: ["linkedin"],
    mediaUrls: [`${MEDIA}/document.pdf`],
    platformOptions: { linkedin: { documentTitle: "The lake" } },
  },
  {
    text: "Behind a warning",
    platforms: ["mastodon"],
    platformOptions: { mastodon: { spoilerText: "Lakes", visibility: "unlisted", language: "en" } },
  },
];

/** Puts the pictures of carousels below one another: axe can't tell the contrast of what is out of sight. */
const UNROLLED = `for (const one of document.querySelectorAll(".carousel")) {
  one.style.gridAutoFlow = "row";
  one.style.gridAutoColumns = "auto";
}`;

describe.skipIf(!hasChromium)(inBrowser("a page of the sandbox"), () => {
  let site: BrowserSite;
  let chromium: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    [site, chromium] = await Promise.all([openSite(), openChromium()]);
    visitor = await Visitor.arrive(site.world, await chromium.newContext());
  }, RUN_MS);
  afterAll(async () => {
    await chromium.close();
    await site.close();
  });

  /** What is wrong with the page that is open: at a phone's width in light, on a desk in dark. */
  async function wrongWith(page: Page): Promise<string[]> {
    const found: string[] = [];
    for (const { colorScheme, width } of [
      { colorScheme: "light", width: 360 },
      { colorScheme: "dark", width: 1280 },
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 740 });
      await page.evaluate(UNROLLED);
      // A film's captions are its author's.
      const all = (await violations(page)).filter((one) => !one.startsWith("video-caption:"));
      if (!(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")))
        all.push("wider than the window");
      if ((await page.locator('link[rel="icon"]').count()) !== 1) all.push("no icon");
      found.push(...all.map((one) => `${colorScheme} at ${width}: ${one}`));
    }
    return found;
  }

  test.each(casesOf(CONSENTS, 5))(
    "everybody can answer when %s asks for consent, or reports a broken link",
    { timeout: RUN_MS },
    async (network, title, field, value) => {
      const { page } = visitor;
      await visitor.open([network, network === "facebook" ? "mastodon" : "facebook"]);
      if (field !== undefined) {
        await visitor.openRow(title);
        await page
          .getByLabel(field)
          .first()
          .fill(value ?? "");
      }
      await visitor.connect(title);
      expect(await page.locator("button[name=decision]").count()).toBeGreaterThan(1);
      expect(await wrongWith(page)).toEqual([]);
      const asked = page.url();
      await page.goto(asked.replace(/client_id=[^&]*/, "client_id=1"));
      expect(await page.getByRole("alert").count()).toBe(1);
      expect(await wrongWith(page)).toEqual([]);
    },
  );

  test("everybody can read posts of every form", { timeout: RUN_MS }, async () => {
    const { page } = visitor;
    const { relay } = site.world;
    const publisher = await aPublisher(relay, NETWORK_NAMES);
    for (const body of POSTS) {
      const { id } = await publisher.accept(body);
      const { legs } = await publisher.settle(id);
      expect(legs.map(({ error }: { error: unknown }) => error)).toEqual(legs.map(() => null));
    }
    await page.goto(`${site.world.sandbox.url}/?still`);
    expect(await wrongWith(page)).toEqual([]);
    // A card looks the same on a page of its own: one of each network will do.
    const shown = new Map(site.world.sandbox.posts().map((post) => [post.network, post.page]));
    for (const path of casesOf([...shown.values()])) {
      await page.goto(site.world.sandbox.url + path);
      expect([path, await wrongWith(page)]).toEqual([path, []]);
    }
  });

  test(
    "everybody can upload a file, post it, and see what became of it and of others",
    { timeout: RUN_MS },
    async () => {
      const { page } = visitor;
      const { relay, sandbox } = site.world;
      const publisher = await aPublisher(relay, NETWORK_NAMES);
      const { key: apiKey, profileId } = publisher;
      const curlFile = ".local/demo.curl";
      sandbox.customer = { baseUrl: site.baseUrl, apiKey, profileId, curlFile };
      await page.goto(`${sandbox.url}/uploads`);
      const choose = (name: string, mimeType: string, buffer: Buffer) =>
        page.locator("#file").setInputFiles({ name, mimeType, buffer });
      const trouble = page.locator(".steps .trouble:not(:empty)");

      await choose("logo.svg", "image/svg+xml", Buffer.from("<svg/>"));
      await expect.poll(() => trouble.innerText()).toContain('"contentType" must be');

      // Systems that don't know the type tell the browser none.
      const photo = readFileSync("test/media/heics/photo.heic");
      await page.route("**/devstoreaccount1/**", (call) => call.abort());
      await choose("IMG_1.HEIC", "", photo);
      await expect.poll(() => trouble.innerText()).toContain("Storage can't be reached.");
      await page.unroute("**/devstoreaccount1/**");
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("heading", { name: "IMG_1.HEIC" }).waitFor();
      expect(await page.locator("#facts").innerText()).toContain("512 × 512 pixels");
      expect(await page.locator("#code-curl").innerText()).toContain('"contentType":"image/heic"');

      const accepted = page.waitForResponse((answer) => answer.url().endsWith("/uploads/v1/posts"));
      await page.getByRole("button", { name: "Post to the demo" }).click();
      const { data } = (await (await accepted).json()) as { data: { id: string } };
      await publisher.settle(data.id);
      const outcome = page.locator("#outcome");
      await expect.poll(() => outcome.innerText(), { timeout: 20_000 }).toContain("50 tokens");
      expect(await outcome.getByRole("link").count()).toBe(NETWORK_NAMES.length);
      expect(await wrongWith(page)).toEqual([]);

      await page.getByRole("button", { name: "Delete IMG_1.HEIC" }).click();
      expect(await wrongWith(page)).toEqual([]);
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("No files yet.").waitFor();
    },
  );
});
