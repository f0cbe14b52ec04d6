import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../../sandbox/server.ts";
import { aPublisher } from "../../setup/publisher.ts";
import { serveRelay, type RelayServer } from "../../setup/relay-server.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
import { sandboxSettings } from "../../setup/sandbox-accounts.ts";
import { DARK_DESK, LIGHT_PHONE, openPage, violations } from "./axe.ts";
import { hasChromium, inBrowser, openChromium } from "./chromium.ts";

const RUN_MS = 180_000;

/** Leaves a few articles of each chapter: axe takes a minute for all of them, which have the same form. */
const SHORTENED = `for (const section of document.querySelectorAll("section"))
  for (const article of [...section.querySelectorAll("article")].slice(2)) article.remove()`;

describe.skipIf(!hasChromium)(inBrowser("a page for developers"), () => {
  let chromium: Browser;
  let relay: Relay;
  let server: RelayServer;
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox();
    relay = await startRelay({ settings: sandboxSettings(sandbox, sandbox.url) });
    [chromium, server] = await Promise.all([openChromium(), serveRelay(relay)]);
  }, RUN_MS);
  afterAll(async () => {
    await chromium.close();
    await server.close();
    await relay.stop();
    await sandbox.stop();
  });

  const addresses = {
    "the reference": () => `${server.baseUrl}/docs`,
    "the sandbox": () => `${sandbox.url}/?still`,
  };

  test.each(Object.entries(addresses))(
    "%s can be used by everybody, fits a phone and has its icon",
    { timeout: RUN_MS },
    async (_, address) => {
      for (const look of [LIGHT_PHONE, DARK_DESK]) {
        const { page, refused } = await openPage(chromium, look);
        await page.goto(address());
        await page.evaluate(SHORTENED);
        expect(await violations(page)).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(
          true,
        );
        expect(await page.locator('link[rel="icon"]').count()).toBe(1);
        expect(refused).toEqual([]);
        await page.close();
      }
    },
  );

  test(
    "a call that the reference tries shows its answer, and the example of a post can be published again and again",
    { timeout: RUN_MS },
    async () => {
      const publisher = await aPublisher(relay);
      const { key, profileId } = publisher;
      for (const look of [LIGHT_PHONE, DARK_DESK]) {
        const { page, refused } = await openPage(chromium, look);
        await page.goto(`${server.baseUrl}/docs#demo=${key},${profileId},createPost`);
        for (const [operation, status] of [
          ["validatePost", 200],
          ["createPost", 202],
          ["listPosts", 200],
        ] as const) {
          const samples = page.locator(`#${operation} > .samples`);
          await samples.getByRole("button", { name: "Try it" }).click();
          if (status === 202)
            expect(await samples.getByLabel("Body").inputValue()).toMatch(/^{\n {2}"text": /);
          await samples.getByRole("button", { name: "Send with the demo's key" }).click();
          const answer = samples.getByRole("status");
          await expect.poll(() => answer.textContent()).toMatch(/^\d/);
          expect([operation, await answer.isVisible()]).toEqual([operation, true]);
          const [first, ...lines] = (await answer.textContent())?.split("\n") ?? [];
          expect([operation, first]).toEqual([operation, String(status)]);
          if (status === 202)
            expect(await publisher.read(JSON.parse(lines.join("\n")).data.id)).toMatchObject({
              status: "succeeded",
            });
        }
        expect(refused).toEqual([]);
        await page.close();
      }
    },
  );
});
