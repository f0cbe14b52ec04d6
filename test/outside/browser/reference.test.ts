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
      const { key, profileId, owner } = publisher;
      for (const look of [LIGHT_PHONE, DARK_DESK]) {
        const { page, refused } = await openPage(chromium, look);
        await page.goto(
          `${server.baseUrl}/docs#demo=${key},${profileId},${owner.applicationId},createPost`,
        );
        for (const [operation, status] of [
          ["validatePost", 200],
          ["createPost", 202],
          ["listPosts", 200],
          // The application is the demo's, and the post the one that was just created.
          ["listApplicationPosts", 200],
          ["getApplicationPost", 200],
          ["exportUsage", 200],
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
        // Nothing has named a file yet: the call is not sent, and the field is marked.
        const sent: string[] = [];
        page.on("request", (request) => sent.push(request.url()));
        const samples = page.locator("#getMedia > .samples");
        await samples.getByRole("button", { name: "Try it" }).click();
        await samples.getByRole("button", { name: "Send with the demo's key" }).click();
        expect(await samples.getByRole("alert").textContent()).toBe(
          "Replace {mediaId} before you send.",
        );
        const address = samples.getByRole("textbox", { name: "GET" });
        expect(await address.getAttribute("aria-invalid")).toBe("true");
        expect(sent).toEqual([]);
        await address.fill(`/v1/media/med_${"0".repeat(26)}`);
        expect(await samples.getByRole("alert").isVisible()).toBe(false);
        await samples.getByRole("button", { name: "Send with the demo's key" }).click();
        await expect.poll(() => samples.getByRole("status").textContent()).toMatch(/^404/);
        expect(refused.filter((text) => !text.includes("404"))).toEqual([]);
        await page.close();
      }
    },
  );
});
