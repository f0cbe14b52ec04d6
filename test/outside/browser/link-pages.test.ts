import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LOCALES } from "../../../src/shared/runtime/locale.ts";
import { PASSWORD } from "../../setup/factories.ts";
import { freePort } from "../../setup/free-ports.ts";
import { casesOf } from "../../setup/long-check.ts";
import { startMailedRelay, tokenIn, type MailedRelay } from "../../setup/mail.ts";
import { serveRelay } from "../../setup/relay-server.ts";
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
    const settings = {
      PUBLIC_BASE_URL: `http://127.0.0.1:${port}/api`,
      AUTH_RATE_PER_MINUTE: "300",
      SIGNUPS_PER_ADDRESS_DAY: "50",
    };
    [browser, mailed] = await Promise.all([openChromium(), startMailedRelay({ settings })]);
    server = await serveRelay(mailed.relay, port);
    const body = { email: EMAIL, password: PASSWORD, platformName: "Example" };
    await mailed.relay.call("POST", "/v1/auth/signup", { body });
    await mailed.relay.call("POST", "/v1/auth/reset", { body: { email: EMAIL } });
    const made = await mailed.mailsTo(EMAIL);
    links = [...made, ...(await anInvitation())].map((mail) => mail.links[0] ?? "");
  }, RUN_MS);

  /** Returns the mail of an invitation by the owner of another platform. */
  async function anInvitation(invited = INVITED) {
    const owner = { email: `owner-of-${invited}`, password: PASSWORD };
    const signUp = { body: { ...owner, platformName: "Corner Bakery" } };
    const { body } = await mailed.relay.call("POST", "/v1/auth/signup", signUp);
    const session: string = body.data.token;
    const token = tokenIn((await mailed.mailsTo(owner.email)).at(-1));
    await mailed.relay.call("POST", "/v1/auth/verify", { session, body: { token } });
    const invite = { session, body: { email: invited } };
    await mailed.relay.call("POST", "/v1/invitations", invite);
    return await mailed.mailsTo(invited);
  }

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await mailed?.stop();
  });

  test.each(casesOf(LOCALES, 2))(
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

  /** A link of a new person, and what sets their password. */
  const aReset = async (name: string) => {
    const email = `${name}@example.com`;
    const body = { email, password: PASSWORD, platformName: "Example" };
    await mailed.relay.call("POST", "/v1/auth/signup", { body });
    await mailed.relay.call("POST", "/v1/auth/reset", { body: { email } });
    return { email, link: (await mailed.mailsTo(email)).at(-1)?.links[0] ?? "" };
  };

  test(
    "a double click and a reload show that a password was saved, or an invitation accepted",
    async () => {
      const delays = casesOf([100, 60, 150, 200, 300]);
      const password = "copper lantern 4 walnuts";
      for (const delay of delays) {
        const email = `invited-${delay}@example.com`;
        const made = [
          await aReset(`clicks-${delay}`),
          { email, link: (await anInvitation(email)).at(-1)?.links[0] ?? "" },
        ];
        for (const { email: name, link } of made) {
          mailed.relay.advance(60_000);
          const { page } = await openPage(browser, LIGHT_PHONE);
          await page.goto(link);
          expect(await page.locator("input[autocomplete=username]").inputValue()).toBe(name);
          await page.fill("input[type=password]", password);
          const box = await page.locator("button").boundingBox();
          const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 10];
          await page.mouse.click(x, y);
          await page.waitForTimeout(delay);
          await page.mouse.click(x, y);
          await page.locator(".seal").waitFor();
          await page.reload();
          await page.locator(".seal").waitFor();
          // The page has left the proof of a known device, which scripts can't read.
          const cookies = await page.context().cookies();
          expect(
            cookies.filter((one) => one.name.includes("device-") && one.httpOnly),
          ).toHaveLength(1);
          const logIn = { body: { email: name, password } };
          expect((await mailed.relay.call("POST", "/v1/auth/login", logIn)).status).toBe(200);
          await page.close();
        }
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
