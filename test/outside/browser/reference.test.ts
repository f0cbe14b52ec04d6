import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../../sandbox/server.ts";
import { serveRelay, type RelayServer } from "../../setup/relay-server.ts";
import { startRelay, type Relay } from "../../setup/relay.ts";
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
    relay = await startRelay();
    [chromium, server, sandbox] = await Promise.all([
      openChromium(),
      serveRelay(relay),
      startSandbox({ port: 0 }),
    ]);
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
});
