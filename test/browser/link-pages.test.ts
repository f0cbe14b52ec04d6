import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LOCALES } from "../../src/shared/runtime/locale.ts";
import { PASSWORD } from "../setup/factories.ts";
import { freePort } from "../setup/free-ports.ts";
import { startMailedRelay, tokenIn, type MailedRelay } from "../setup/mail.ts";
import { serveRelay } from "../setup/relay-server.ts";
import { DARK_DESK, LIGHT_PHONE, openPage, violations } from "./axe.ts";
import { hasChromium, openChromium } from "./chromium.ts";

const RUN_MS = 120_000;
const EMAIL = "owner@example.com";
const INVITED = "invited@example.com";

describe.skipIf(!hasChromium)("the pages of one-time links", () => {
  let browser: Browser;
  let mailed: MailedRelay;
  let server: Awaited<ReturnType<typeof serveRelay>>;
  let links: readonly string[];

  beforeAll(async () => {
    const port = await freePort();
    const settings = { PUBLIC_BASE_URL: `http://127.0.0.1:${port}/api` };
    [browser, mailed] = await Promise.all([openChromium(), startMailedRelay({ settings })]);
    server = await serveRelay(mailed.relay, port);
    const body = { email: EMAIL, password: PASSWORD, platformName: "Example" };
    await mailed.relay.call("POST", "/v1/auth/signup", { body });
    await mailed.relay.call("POST", "/v1/auth/reset", { body: { email: EMAIL } });
    const made = await mailed.mailsTo(EMAIL);
    links = [...made, ...(await anInvitation())].map((mail) => mail.links[0] ?? "");
  }, RUN_MS);

  /** Returns the mail of an invitation by the owner of another platform. */
  async function anInvitation() {
    const owner = { email: "other@example.com", password: PASSWORD };
    const signUp = { body: { ...owner, platformName: "Corner Bakery" } };
    const { body } = await mailed.relay.call("POST", "/v1/auth/signup", signUp);
    const session: string = body.data.token;
    const token = tokenIn((await mailed.mailsTo(owner.email)).at(-1));
    await mailed.relay.call("POST", "/v1/auth/verify", { session, body: { token } });
    const invite = { session, body: { email: INVITED } };
    await mailed.relay.call("POST", "/v1/invitations", invite);
    return await mailed.mailsTo(INVITED);
  }

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await mailed?.stop();
  });

  test.each(LOCALES)(
    "pages of one-time links are accessible in %s",
    async (locale) => {
      for (const look of [LIGHT_PHONE, DARK_DESK]) {
        const { page, refused } = await openPage(browser, look);
        await page.setExtraHTTPHeaders({ "accept-language": locale });
        for (const link of [...links, `${links[0]}x`]) {
          await page.goto(link);
          expect(await page.locator("html").getAttribute("lang")).toBe(locale);
          expect(await violations(page)).toEqual([]);
        }
        expect(refused).toEqual([]);
        await page.close();
      }
    },
    RUN_MS,
  );

  test(
    "verify an address, set a password and accept an invitation without a script",
    async () => {
      const [verify = "", reset = "", invitation = ""] = links;
      const { page } = await openPage(browser, LIGHT_PHONE);
      await page.goto(verify);
      await page.fill("input[type=password]", "not the right one");
      await page.click("button");
      expect(await page.locator("#problem").count()).toBe(1);
      expect(await violations(page)).toEqual([]);
      await page.fill("input[type=password]", PASSWORD);
      await page.click("button");
      expect(await page.locator("form").count()).toBe(0);
      await page.goto(reset);
      await page.fill("input[type=password]", "violet marmot 7 teacups");
      await page.click("button");
      expect(await page.locator("form").count()).toBe(0);
      const logIn = { body: { email: EMAIL, password: "violet marmot 7 teacups" } };
      const { body } = await mailed.relay.call("POST", "/v1/auth/login", logIn);
      expect(body.data.user.emailVerified).toBe(true);
      await page.goto(invitation);
      await page.fill("input[type=password]", "password1234");
      await page.click("button");
      expect(await page.locator("#problem").count()).toBe(1);
      expect(await violations(page)).toEqual([]);
      await page.fill("input[type=password]", PASSWORD);
      await page.click("button");
      expect(await page.locator("form").count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      const join = { body: { email: INVITED, password: PASSWORD } };
      expect((await mailed.relay.call("POST", "/v1/auth/login", join)).status).toBe(200);
      await page.close();
    },
    RUN_MS,
  );
});
