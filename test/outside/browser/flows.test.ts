import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../../sandbox/bluesky/state.ts";
import { FRIEND_USER, SECOND_PAGE } from "../../../sandbox/facebook/state.ts";
import { PERSONAL_ACCOUNT } from "../../../sandbox/instagram/state.ts";
import { DEMO_ORGANIZATION, FRIEND_MEMBER } from "../../../sandbox/linkedin/state.ts";
import { casesOf, IS_LONG } from "../../setup/long-check.ts";
import { hasChromium, inBrowser, openChromium } from "./chromium.ts";
import { openSite, Visitor, type BrowserSite } from "./site.ts";

const MINUTE = 60_000;
const WALK_MS = 120_000;
/** What the tests without a browser show as well, in the long check. */
const walk = test.runIf(IS_LONG);

describe.skipIf(!hasChromium)(inBrowser("the hosted page"), () => {
  /** The page has no script of its own, so that two walks without show what a browser that runs none sees. */
  let javaScriptEnabled = true;
  let site: BrowserSite;
  let chromium: Browser;
  let context: BrowserContext;
  let visitor: Visitor;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    [site, chromium] = await Promise.all([openSite(), openChromium()]);
  }, WALK_MS);
  afterAll(async () => {
    await chromium.close();
    await site.close();
  });
  beforeEach(async () => {
    site.world.sandbox.reset();
    context = await chromium.newContext({
      javaScriptEnabled,
      viewport: { width: 360, height: 740 },
    });
    visitor = await Visitor.arrive(site.world, context);
    visitors.push(visitor);
  });
  // What a test leaves linked would keep the authorization of the one person behind all these pages.
  afterEach(async () => {
    await context.close();
    const store = site.world.services.connections.stores.connections;
    for (const { owner } of visitors.splice(0))
      for (const connection of await store.listOfProfile(owner)) await store.revoke(connection);
  });

  async function chooseOfSeveralPages(): Promise<void> {
    const { id } = await visitor.open(["facebook", "mastodon"]);
    await visitor.press("Connect Facebook");
    await visitor.decide("allow");
    expect(await visitor.heading()).toBe("Which page should Bakery publish to?");
    await visitor.page.getByLabel(/Demo Coffee Bar/).check();
    await visitor.press("Connect this page");
    expect(await visitor.page.getByRole("status").innerText()).toBe("Facebook is connected.");
    expect(await visitor.text()).toContain("Facebook · democoffeebar");
    const [connection] = await visitor.connections();
    expect(connection).toMatchObject({ platform: "facebook", account: { id: SECOND_PAGE } });
    await visitor.press("Done");
    expect(visitor.returned()).toEqual({
      session: id,
      status: "completed",
      connections: connection?.id,
      state: "s 1",
    });
  }

  async function nameWrongServer(instance: string, words: string): Promise<void> {
    await visitor.open(["facebook", "mastodon"]);
    await visitor.openRow("Mastodon");
    await visitor.page.getByLabel(/Your server/).fill(instance);
    await visitor.press("Continue to Mastodon");
    expect(await visitor.page.locator("#problem").innerText()).toContain(words);
    const field = visitor.page.getByLabel(/Your server/);
    expect(await field.inputValue()).toBe(instance);
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await visitor.page.locator("[aria-invalid]").count()).toBe(1);
  }

  describe("links", () => {
    test("a Facebook page that is chosen of several", { timeout: WALK_MS }, chooseOfSeveralPages);

    walk("an Instagram account, and is over when it was all that was asked for", async () => {
      await visitor.open(["instagram"]);
      await visitor.press("Connect Instagram");
      await visitor.decide("allow");
      expect(visitor.returned()).toMatchObject({ status: "completed" });
      expect(await visitor.connections()).toMatchObject([{ platform: "instagram" }]);
    });

    walk("a LinkedIn member", async () => {
      await visitor.open(["linkedin"], { returnUrl: null });
      await visitor.connect("LinkedIn");
      await visitor.decide("allow");
      expect(await visitor.heading()).toBe("All set");
      expect(await visitor.connections()).toMatchObject([{ platform: "linkedin" }]);
    });

    walk("a company page on LinkedIn", async () => {
      await visitor.open(["linkedin", "mastodon"]);
      await visitor.openRow("LinkedIn");
      await visitor.page.getByLabel(/Publish as/).selectOption("organization");
      await visitor.press("Continue to LinkedIn");
      await visitor.decide("allow");
      const choice = visitor.page.getByRole("radio").first();
      if ((await visitor.heading()) === "Which page should Bakery publish to?") {
        await choice.check();
        await visitor.press("Connect this page");
      }
      expect(await visitor.page.getByRole("status").innerText()).toBe("LinkedIn is connected.");
      const [connection] = await visitor.connections();
      expect(connection?.account.id).toContain(DEMO_ORGANIZATION);
    });

    test("a Bluesky account by its own page", async () => {
      await visitor.open(["bluesky", "mastodon"]);
      await visitor.openRow("Bluesky");
      await visitor.page.getByLabel(/Handle \(optional\)/).fill(DEMO_HANDLE);
      await visitor.press("Continue to Bluesky");
      await visitor.decide("allow");
      expect(await visitor.text()).toContain(`Bluesky · ${DEMO_HANDLE}`);
    });

    test("a Bluesky account by an app password", async () => {
      await visitor.open(["bluesky", "mastodon"]);
      await visitor.openRow("Bluesky");
      await visitor.page.getByText("Use an app password instead").click();
      await visitor.page.getByLabel(/Handle or email/).fill(DEMO_HANDLE);
      await visitor.page.getByLabel(/^App password/).fill(DEMO_APP_PASSWORD);
      await visitor.press("Connect Bluesky");
      expect(await visitor.text()).toContain(`Bluesky · ${DEMO_HANDLE}`);
    });

    walk.each(["gotosocial.sandbox.test", "mastodon.sandbox.test"])(
      "an account of the server %s",
      async (instance) => {
        await visitor.open(["mastodon", "facebook"]);
        await visitor.openRow("Mastodon");
        await visitor.page.getByLabel(/Your server/).fill(instance);
        await visitor.press("Continue to Mastodon");
        await visitor.decide("allow");
        expect(await visitor.page.getByRole("status").innerText()).toBe("Mastodon is connected.");
        const [connection] = await visitor.connections();
        expect(connection?.account.id).toContain(instance);
      },
    );

    test("several networks in one session", { timeout: WALK_MS }, async () => {
      await visitor.open(["instagram", "linkedin", "mastodon"]);
      for (const network of ["Instagram", "LinkedIn"]) {
        await visitor.connect(network);
        await visitor.decide("allow");
      }
      expect(await visitor.text()).toContain("2 of 3 connected");
      await visitor.press("Done");
      expect(visitor.returned()["connections"]?.split(",")).toHaveLength(2);
    });

    test("an account again that has lost its permission, under its old id", async () => {
      await visitor.open(["instagram"]);
      await visitor.press("Connect Instagram");
      await visitor.decide("allow");
      const [before] = await visitor.connections();
      const { connections } = site.world.services.connections.stores;
      const linked = await connections.find({ ...visitor.owner, network: "instagram" });
      if (linked === undefined) throw new Error("nothing is linked");
      const failure = { code: "connection_needs_reauth", networkCode: null } as const;
      await connections.mark(linked, failure);
      await visitor.open(["instagram"]);
      expect(await visitor.text()).toContain("Needs attention");
      await visitor.press("Connect Instagram again");
      await visitor.decide("allow");
      expect(await visitor.connections()).toMatchObject([{ id: before?.id, status: "active" }]);
    });
  });

  describe("tells the truth", () => {
    const problem = () => visitor.page.getByRole("alert").innerText();

    test.each(
      casesOf([
        ["instagram", "Instagram"],
        ["linkedin", "LinkedIn"],
        ["facebook", "Facebook"],
      ] as const),
    )("the page tells the truth when access is declined at %s", async (network, title) => {
      await visitor.open([network, "mastodon"]);
      await visitor.connect(title);
      await visitor.decide("deny");
      expect(await problem()).toContain("You did not grant permission");
      expect(await visitor.connections()).toEqual([]);
      expect(await visitor.page.title()).toMatch(/^Error: /);
    });

    test("the page tells the truth about a connection that stays when access is declined", async () => {
      await visitor.open(["instagram", "mastodon"]);
      for (const decision of ["allow", "deny"] as const) {
        await visitor.connect("Instagram");
        await visitor.decide(decision);
      }
      expect(await problem()).toContain("Your connection to Instagram was not changed");
      expect(await visitor.connections()).toMatchObject([{ status: "active" }]);
    });

    walk("about a permission that was unticked", async () => {
      await visitor.open(["instagram", "mastodon"]);
      await visitor.press("Connect Instagram");
      await visitor.page.locator("input[name=may_instagram_business_content_publish]").uncheck();
      await visitor.decide("allow");
      expect(await problem()).toContain("A permission that is needed for posting was not given");
    });

    walk("about a personal Instagram account", async () => {
      await visitor.open(["instagram", "mastodon"]);
      await visitor.press("Connect Instagram");
      await visitor.page.locator(`input[value="${PERSONAL_ACCOUNT}"]`).check();
      await visitor.decide("allow");
      expect(await problem()).toContain("Switch to a professional account");
    });

    walk("about a person without Facebook pages", async () => {
      await visitor.open(["facebook", "mastodon"]);
      await visitor.press("Connect Facebook");
      await visitor.page.locator(`input[value="${FRIEND_USER}"]`).check();
      await visitor.decide("allow");
      expect(await problem()).toContain("did not list any page that you can publish to");
    });

    walk("about a member without company pages", async () => {
      await visitor.open(["linkedin", "mastodon"]);
      await visitor.openRow("LinkedIn");
      await visitor.page.getByLabel(/Publish as/).selectOption("organization");
      await visitor.press("Continue to LinkedIn");
      await visitor.page.locator(`input[value="${FRIEND_MEMBER}"]`).check();
      await visitor.decide("allow");
      expect(await problem()).toContain("did not list any page that you can publish to");
    });

    walk.each([
      ["nowhere.invalid", "could not be reached"],
      ["links.sandbox.test", "does not respond like a Mastodon server"],
      ["not a server", "This is missing or not in the expected format"],
    ])("about the server %s, keeps it in the field and leads there", nameWrongServer);

    test("the page tells the truth about a password that is no app password, and never shows it again", async () => {
      await visitor.open(["bluesky", "mastodon"]);
      await visitor.openRow("Bluesky");
      await visitor.page.getByText("Use an app password instead").click();
      await visitor.page.getByLabel(/Handle or email/).fill(DEMO_HANDLE);
      await visitor.page.getByLabel(/^App password/).fill("hunter2");
      await visitor.press("Connect Bluesky");
      expect(await visitor.page.locator("#problem").innerText()).toContain(
        "This is not an app password",
      );
      const wrong = visitor.page.locator("[aria-invalid]");
      expect(await wrong.evaluateAll((all) => all.map(({ id }) => id))).toEqual([
        "bluesky-other-appPassword",
      ]);
      expect(await visitor.page.getByLabel(/Handle or email/).inputValue()).toBe(DEMO_HANDLE);
      expect(await visitor.page.getByLabel(/^App password/).inputValue()).toBe("");
      expect(await visitor.page.content()).not.toContain("hunter2");
    });

    test("the page tells the truth to another browser than the one that began", async () => {
      const { connectUrl } = await visitor.open(["instagram", "mastodon"]);
      await visitor.press("Connect Instagram");
      const callback = visitor.page.waitForRequest(/connect\/callback/);
      const stranger = await chromium.newContext({ javaScriptEnabled });
      const page = await stranger.newPage();
      await page.goto(connectUrl);
      await page.goto(visitor.page.url());
      await page.locator("button[name=decision][value=allow]").click();
      expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(
        "Please stay in one browser",
      );
      await stranger.close();
      expect(await visitor.connections()).toEqual([]);
      await visitor.decide("allow");
      await callback;
      expect(await visitor.connections()).toMatchObject([{ platform: "instagram" }]);
    });

    test("the page tells the truth to a visitor who comes back to a step that is over", async () => {
      await visitor.open(["instagram", "mastodon"]);
      await visitor.press("Connect Instagram");
      const callback = visitor.page.waitForRequest(/connect\/callback/);
      await visitor.decide("allow");
      await visitor.page.goto((await callback).url());
      expect(await visitor.heading()).toBe("This step has expired");
      expect(await visitor.connections()).toHaveLength(1);
    });

    walk("when the session was canceled meanwhile", async () => {
      const { id } = await visitor.open(["instagram", "mastodon"]);
      await visitor.press("Connect Instagram");
      const path = `/v1/connect/sessions/${id}/cancel`;
      await site.world.relay.call("POST", path, { key: visitor.owner.key });
      await visitor.decide("allow");
      expect(await visitor.heading()).toBe("This was canceled");
      expect(await visitor.connections()).toEqual([]);
      await visitor.page.getByRole("link", { name: "Back to Bakery" }).click();
      expect(visitor.returned()).toMatchObject({ session: id, status: "canceled" });
    });

    walk("when the session ran out meanwhile", async () => {
      await visitor.open(["instagram", "mastodon"], { expiresIn: 300 });
      await visitor.press("Connect Instagram");
      site.world.relay.advance(6 * MINUTE);
      await visitor.decide("allow");
      expect(await visitor.heading()).toBe("This page has expired");
      await visitor.page.getByRole("link", { name: "Back to Bakery" }).click();
      expect(visitor.returned()).toMatchObject({ status: "expired" });
    });

    walk("about a link that is no link", async () => {
      const { connectUrl } = await visitor.start(["instagram"]);
      await visitor.page.goto(connectUrl.replace(/token=.{6}/, "token=wrong-"));
      expect(await visitor.heading()).toBe("This link does not work");
    });

    walk("to who leaves without an account", async () => {
      const { id } = await visitor.open(["instagram", "mastodon"]);
      await visitor.press("Back to Bakery");
      expect(visitor.returned()).toMatchObject({ session: id, status: "canceled" });
    });
  });

  test("speaks the browser's language all the way", async () => {
    const german = await chromium.newContext({ javaScriptEnabled, locale: "de-DE" });
    const guest = await Visitor.arrive(site.world, german);
    visitors.push(guest);
    await guest.open(["instagram", "mastodon"]);
    expect(await guest.page.locator("html").getAttribute("lang")).toBe("de");
    await guest.press("Instagram verbinden");
    await guest.decide("deny");
    expect(await guest.page.getByRole("alert").innerText()).toContain("keine Erlaubnis gegeben");
    await german.close();
  });

  test("shows what others are called as the text that it is", async () => {
    const { sandbox } = site.world;
    const name = `</li><script>document.title="x"</script>\u202egnp`;
    sandbox.networks.facebook.addPage({ name });
    await visitor.open(["facebook", "mastodon"], { branding: { name: `<b>"&amp;` } });
    await visitor.press("Connect Facebook");
    await visitor.decide("allow");
    await visitor.page.getByLabel(/document\.title/).check();
    await visitor.press("Connect this page");
    expect(await visitor.text()).toContain(`</li><script>document.title="x"</script>gnp`);
    expect(await visitor.text()).toContain(`<b>"&amp;`);
    expect(await visitor.page.locator("main script").count()).toBe(0);
  });

  test("can be walked by keyboard alone", { timeout: WALK_MS }, async () => {
    await visitor.open(["mastodon", "facebook"]);
    const { keyboard } = visitor.page;
    const focused = () => visitor.page.locator(":focus");
    await keyboard.press("Tab");
    expect(await focused().innerText()).toBe("Skip to content");
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 30; presses += 1) {
        await keyboard.press("Tab");
        if ((await visitor.page.locator(`${selector}:focus`).count()) === 1) return;
      }
      throw new Error(`the keyboard does not get to ${selector}`);
    };
    await tabTo("#row-mastodon > summary");
    await keyboard.press("Enter");
    await tabTo("#mastodon-instance");
    await keyboard.type("nowhere.invalid");
    await keyboard.press("Enter");
    await visitor.page.locator("#problem").waitFor();
    expect(await focused().getAttribute("id")).toBe("mastodon-instance");
    await keyboard.press("Control+A");
    await keyboard.type("mastodon.sandbox.test");
    await keyboard.press("Enter");
    await visitor.page.locator("button[value=allow]").waitFor();
    await tabTo("button[value=allow]");
    await keyboard.press("Enter");
    await visitor.page.getByRole("status").waitFor();
    await tabTo("button[value=done]");
    await keyboard.press("Space");
    await visitor.page.waitForURL(/\/back\?/);
    expect(visitor.returned()).toMatchObject({ status: "completed" });
  });

  describe("without scripts", () => {
    beforeAll(() => {
      javaScriptEnabled = false;
    });
    afterAll(() => {
      javaScriptEnabled = true;
    });

    test("links an account that is chosen of several", { timeout: WALK_MS }, chooseOfSeveralPages);

    test("says what went wrong, keeps it in the field and leads there", () =>
      nameWrongServer("nowhere.invalid", "could not be reached"));
  });
});
