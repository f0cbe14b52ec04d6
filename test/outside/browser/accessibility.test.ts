import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pageAnswer } from "../../../src/shared/connections/hosted-page/browser.ts";
import { renderConnectPage } from "../../../src/shared/connections/hosted-page/connect-page.ts";
import { LANGUAGES, type Language } from "../../../src/shared/connections/hosted-page/language.ts";
import { casesOf, IS_LONG } from "../../setup/long-check.ts";
import {
  DARK_DESK,
  DARK_PHONE,
  LIGHT_DESK,
  LIGHT_PHONE,
  openPage,
  violations,
  type Look,
} from "./axe.ts";
import { hasChromium, inBrowser, openChromium } from "./chromium.ts";
import { aCard, aPage, gallery, type Shown } from "./gallery.ts";

const RUN_MS = 120_000;
const ACCENTS = casesOf(
  ["#ffff00", "#000000", "#7f7f7f", "#0b1020", "#b4531a", "#ffffff", "#39ff14"],
  3,
);

/** German first: it has the longest words. */
const LONGEST_FIRST = (Object.keys(LANGUAGES) as Language[]).toSorted(
  (left, right) => Number(right === "de") - Number(left === "de"),
);

/** Each scheme and each width. Every state is seen in one of them; the long check has every state in all four. */
const LOOKS = IS_LONG ? [LIGHT_PHONE, DARK_PHONE, LIGHT_DESK, DARK_DESK] : [LIGHT_PHONE, DARK_DESK];

/** Shows pages as the product sends them, policy included. */
class Stand {
  readonly #server: Server;
  #shown: Shown | undefined;

  constructor() {
    this.#server = createServer((_request, response) => {
      const { status, headers, body } = pageAnswer(200, (nonce) =>
        this.#shown === undefined ? "" : this.#shown.render(nonce),
      );
      response.writeHead(status, Object.fromEntries(headers)).end(body);
    }).listen(0, "127.0.0.1");
  }

  async ready(): Promise<void> {
    if (!this.#server.listening) await once(this.#server, "listening");
  }

  async show(page: Page, shown: Shown): Promise<void> {
    this.#shown = shown;
    const { port } = this.#server.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/`);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

describe.skipIf(!hasChromium)(inBrowser("the hosted page"), () => {
  const stand = new Stand();
  let chromium: Browser;

  beforeAll(async () => {
    [chromium] = await Promise.all([openChromium(), stand.ready()]);
  }, RUN_MS);
  afterAll(async () => {
    await chromium.close();
    stand.close();
  });

  async function eachPage(
    pages: readonly Shown[],
    look: (page: Page) => Promise<readonly string[]>,
    looks: readonly Look[] = LOOKS,
  ): Promise<string[]> {
    const found: string[] = [];
    for (const shape of looks) {
      const { page, refused } = await openPage(chromium, shape);
      for (const shown of pages) {
        await stand.show(page, shown);
        const where = `${shown.name} in ${shape.colorScheme} at ${shape.width}`;
        found.push(...(await look(page)).map((one) => `${where}: ${one}`), ...refused);
      }
      await page.close();
    }
    return found;
  }

  test(
    "can be used by everybody, in every state, in light and dark",
    { timeout: RUN_MS },
    async () => {
      for (const [at, look] of LOOKS.entries()) {
        const states = gallery().filter((_, index) => IS_LONG || index % LOOKS.length === at);
        expect(await eachPage(states, (page) => violations(page), [look])).toEqual([]);
      }
    },
  );

  test("can be used whatever a customer's color is", { timeout: RUN_MS }, async () => {
    const pages = ACCENTS.flatMap((accentColor) =>
      gallery("en", { name: "Acme", accentColor })
        .filter(({ name }) => ["mixed", "choice", "notice-expired"].includes(name))
        .map(({ name, render }) => ({ name: `${name} in ${accentColor}`, render })),
    );
    // A color changes nothing but the contrast.
    const contrast = (page: Page) => violations(page, ["color-contrast"]);
    const found = await eachPage(pages, contrast, [LIGHT_PHONE, DARK_PHONE]);
    expect(found).toEqual([]);
  });

  test("keeps to the theme of a session whatever the system is set to", async () => {
    const themed = (["light", "dark"] as const).flatMap((theme) =>
      gallery("en", { name: "Acme", accentColor: "#000000", theme }).slice(0, 1),
    );
    const found: string[] = [];
    await eachPage(themed, async (page) => {
      found.push(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
      return [];
    });
    const [light, dark] = ["rgb(245, 246, 248)", "rgb(20, 22, 26)"];
    expect(found).toEqual(LOOKS.flatMap(() => [light, dark]));
  });

  test.each(casesOf(LONGEST_FIRST, 2))(
    "fits a phone in every state, and buttons are large enough for a thumb (%s)",
    { timeout: RUN_MS },
    async (language) => {
      const unfit = (page: Page) =>
        page.evaluate<string[]>(`[
          ...(document.documentElement.scrollWidth > innerWidth ? ["wider than the window"] : []),
          ...[...document.querySelectorAll("button, .button")]
            .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().height < 44)
            .map((one) => one.innerText),
        ]`);
      expect(await eachPage(gallery(language), unfit, [LIGHT_PHONE])).toEqual([]);
    },
  );

  test.each(LONGEST_FIRST)("is short before a row is opened (%s)", async (language) => {
    const page = await chromium.newPage({ viewport: { width: 360, height: 100 } });
    for (const shown of gallery(language)) {
      if (!["new", "mixed", "without-way-back"].includes(shown.name)) continue;
      await stand.show(page, shown);
      const height =
        await page.evaluate<number>(`document.querySelectorAll("[open]").forEach((one) => {
        one.open = false;
      });
      document.documentElement.scrollHeight`);
      expect([shown.name, Math.max(height, 700)]).toEqual([shown.name, 700]);
    }
    await page.close();
  });

  test("opens one row at a time", async () => {
    const page = await chromium.newPage();
    const [shown] = gallery();
    if (shown === undefined) throw new Error("there is no page");
    await stand.show(page, shown);
    for (const network of ["bluesky", "mastodon"])
      await page.locator(`#row-${network} > summary`).click();
    const open = page.locator(".row > details[open]");
    expect(await open.evaluateAll((all) => all.map(({ id }) => id))).toEqual(["row-mastodon"]);
    await page.close();
  });

  test("does not move for who wants no movement", async () => {
    const context = await chromium.newContext({ reducedMotion: "reduce" });
    const page = await context.newPage();
    const [shown] = gallery();
    if (shown === undefined) throw new Error("there is no page");
    await stand.show(page, shown);
    const moving = await page.evaluate(`[...document.querySelectorAll("*")].filter((one) => {
      const { scrollBehavior, transitionDuration, animationName } = getComputedStyle(one);
      return scrollBehavior === "smooth" || transitionDuration !== "0s" || animationName !== "none";
    }).length`);
    expect(moving).toBe(0);
    await context.close();
  });

  test("shows on a button that was pressed that the next page is on its way, without a script", async () => {
    const shown = gallery().find(({ name }) => name === "field-problem");
    if (shown === undefined) throw new Error("there is no page");
    const wheel = `(() => {
      const button = document.querySelector(".row details[open] form button");
      const { content, animationName } = getComputedStyle(button, "::after");
      return [content, animationName, getComputedStyle(button).cursor];
    })()`;
    for (const reducedMotion of ["no-preference", "reduce"] as const) {
      const context = await chromium.newContext({ reducedMotion, javaScriptEnabled: true });
      const page = await context.newPage();
      await stand.show(page, shown);
      expect(await page.evaluate(wheel)).toEqual(["none", "none", "pointer"]);
      // The network takes its time.
      await page.route("**", () => undefined);
      await page.getByRole("button", { name: "Continue to Mastodon" }).click({ noWaitAfter: true });
      const moves = reducedMotion === "no-preference";
      const [content, animation] = moves ? ['""', "appear, turn"] : ["none", "none"];
      expect(await page.evaluate(wheel)).toEqual([content, animation, "progress"]);
      await context.close();
    }
  });

  test("shows initials where a logo or a picture can't be loaded", async () => {
    const page = await chromium.newPage();
    const picture = "https://cdn.nowhere.example.org/picture.png";
    const account = { name: "ada", handle: "", avatarUrl: picture };
    const broken = aPage({
      branding: { name: "Bakery", logoUrl: picture },
      cards: [aCard("mastodon", { state: "linked", account })],
    });
    const render = (nonce: string) => renderConnectPage(broken, nonce);
    await stand.show(page, { name: "broken", render });
    await page.waitForFunction("[...document.images].every((one) => one.complete)");
    expect(await page.evaluate("[...document.images].map((one) => one.width)")).toEqual([0, 0]);
    expect(await page.locator(".letter, .avatar").allInnerTexts()).toEqual(["B", "A"]);
    await page.close();
  });

  test("puts the focus on what went wrong", async () => {
    const page = await chromium.newPage();
    const problems = gallery().filter(({ name }) => name.endsWith("problem"));
    expect(problems.length).toBeGreaterThan(3);
    for (const shown of problems) {
      await stand.show(page, shown);
      const wrong = page.locator("#problem:focus, [aria-describedby~=problem]:focus");
      await wrong.waitFor({ timeout: 5_000 });
    }
    await page.close();
  });
});
