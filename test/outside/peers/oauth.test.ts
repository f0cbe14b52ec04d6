import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { hasChromium, openChromium } from "../browser/chromium.ts";
import { casesOf, IS_LONG } from "../../setup/long-check.ts";
import {
  aCustomer,
  balanceOf,
  endedPost,
  legOf,
  publish,
  startVisit,
} from "../../process/relay/customer.ts";
import type { Customer } from "../../process/relay/customer.ts";
import { dataOf, startRelayProcess } from "../../process/relay/relay-process.ts";
import type { RelayProcess } from "../../process/relay/relay-process.ts";
import { startWorld } from "../../process/relay/world.ts";
import type { World } from "../../process/relay/world.ts";
import { PDS_START_MS_MAX, startPds } from "./pds.ts";
import type { Pds, PdsAccount } from "./pds.ts";

const COLLECTION = "app.bsky.feed.post";
const PICTURES = ["photo.jpg", "portrait.jpg", "photo.png", "photo.webp"].map(
  (name) => `https://media.sandbox.test/${name}`,
);
const HOUR_MS = 60 * 60 * 1000;
const WALK_MS = 120_000;

let pds: Pds;
let world: World;
let relay: RelayProcess;
let browser: Browser;

/** The server's own address is on localhost, so that its pages work in a browser without a certificate. */
beforeAll(async () => {
  if (!hasChromium) return;
  pds = await startPds({ hostname: "localhost" });
  world = await startWorld({
    localhost: pds.publicUrl,
    "public.api.bsky.app": pds.url,
    "plc.directory": pds.directoryUrl,
  });
  const settings = { ...world.settings, OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32,::1/128" };
  relay = await startRelayProcess({ settings });
  browser = await openChromium();
}, PDS_START_MS_MAX + 120_000);

afterAll(async () => {
  await Promise.all([browser?.close(), relay?.stop(), world?.stop(), pds?.stop()]);
});

interface PublishedImage {
  readonly alt: string;
  readonly image: { readonly size: number; readonly ref: { readonly $link: string } };
}

/** An end user: an account on the real server, and a browser in which he is logged in once he has linked it. */
interface Owner {
  readonly account: PdsAccount;
  readonly context: BrowserContext;
  readonly customer: Customer;
}

async function anOwner(handle: string): Promise<Owner> {
  const [account, customer] = await Promise.all([
    pds.createAccount(handle),
    aCustomer(relay, world),
  ]);
  const context = await browser.newContext();
  context.setDefaultTimeout(WALK_MS / 2);
  return { account, context, customer };
}

/** The whole walk: our page, the server's login and consent, and back. */
async function link(owner: Owner, decision: "Authorize" | "Deny access" = "Authorize") {
  const { account, context, customer } = owner;
  const { sessionId, connectUrl } = await startVisit(relay, customer, ["bluesky"]);
  const page = await context.newPage();
  await page.goto(connectUrl);
  const form = page.locator('form[action$="/ui/bluesky"]').first();
  await form.locator('input[name="identifier"]').fill(account.handle);
  await form.locator('button[type="submit"], button:not([type])').first().click();
  await page.waitForURL(`${pds.publicUrl}/**`);
  await consent(page, account, decision);
  await page.waitForURL((url) => url.pathname.includes("/v1/connect/"));
  const text = await page.locator("main").innerText();
  await page.close();
  const path = `/v1/connect/sessions/${sessionId}`;
  const session = dataOf(await relay.call("GET", path, { bearer: customer.key }));
  return { session, text };
}

async function consent(page: Page, { password }: PdsAccount, decision: string): Promise<void> {
  const [field, choice] = [page.locator('input[type="password"]'), decisionOf(page, decision)];
  await field.or(choice).first().waitFor();
  if (await field.isVisible()) {
    await page.getByLabel(/remember/i).check();
    await field.fill(password);
    await page.keyboard.press("Enter");
  }
  await choice.click();
}

const decisionOf = (page: Page, decision: string) =>
  page.getByRole("button", { name: decision, exact: true });

/** What the owner sees of it in the settings of the account. */
async function appsPage({ context, account }: Owner): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${pds.publicUrl}/account/u/${account.handle}/apps`);
  await page.getByText("Apps that can use your account").waitFor();
  return page;
}

const localApps = (page: Page) => page.getByRole("table").getByText("A local app");

async function connectionOf({ customer }: Owner) {
  const path = `/v1/profiles/${customer.profileId}/connections`;
  return dataOf(await relay.call("GET", path, { bearer: customer.key }))[0];
}

async function publishText(
  owner: Owner,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
) {
  const accepted = await publish(relay, owner.customer, { text, platforms: ["bluesky"], ...more });
  expect(accepted.status).toBe(202);
  return String(accepted.body.data.id);
}

async function recordsSaying({ account }: Owner, text: string) {
  const query = { repo: account.did, collection: COLLECTION, limit: "100" };
  const { body } = await pds.xrpc("com.atproto.repo.listRecords", { query });
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read records field by field and assert what they find
  return (body["records"] as { uri: string; value: any }[]).filter(
    ({ value }) => value.text === text,
  );
}

/** The clocks of both sides: proofs are dated, and neither side takes one of another hour. */
async function later(milliseconds: number): Promise<void> {
  await pds.advance(milliseconds);
  await relay.restartLater(milliseconds);
}

describe.skipIf(!hasChromium)("a real AT Protocol server and its own login page", () => {
  // The walks through the sandbox deny as well, in less time.
  test.runIf(IS_LONG)(
    "an owner who denies access has nothing linked and is told so",
    async () => {
      const owner = await anOwner("denise.test");
      const { session, text } = await link(owner, "Deny access");
      expect(session.status).toBe("open");
      expect(session.connections).toEqual([]);
      expect(text).toMatch(/permission/i);
      expect(await balanceOf(relay, owner.customer)).toMatchObject({ tokenBalance: 1000 });
    },
    WALK_MS,
  );

  describe("an account that was linked there", () => {
    let owner: Owner;
    beforeAll(async () => {
      owner = await anOwner("baker.test");
      const { session } = await link(owner);
      expect(session.status).toBe("completed");
    }, WALK_MS);

    test("an account that was linked there is the owner's, and none of its secrets are shown", async () => {
      const connection = await connectionOf(owner);
      expect(connection).toMatchObject({
        platform: "bluesky",
        status: "active",
        account: { id: owner.account.did, username: "baker.test" },
        instanceUrl: pds.publicUrl,
      });
      expect(connection.scopes).toContain("atproto");
      // Capitals and small letters count: an id, all in capitals, may well have EYJ in it.
      expect(JSON.stringify(connection)).not.toMatch(/eyJ[\w-]{8}|ref-|[Dd][Pp]o[Pp]/);
    });

    test("gets a post with four pictures in their order, once, however often the request is repeated", async () => {
      const text = "Frische Brötchen 🥐 #Bäckerei";
      const altTexts = ["A basket", null, "A door", "A counter"];
      const body = { text, platforms: ["bluesky"], mediaUrls: PICTURES, altTexts };
      const accepted = await publish(relay, owner.customer, body, "oauth-first-post");
      const post = await endedPost(relay, owner.customer, accepted.body.data.id);
      expect(legOf(post, "bluesky")).toMatchObject({ status: "succeeded", tokensCharged: 10 });
      const replay = await publish(relay, owner.customer, body, "oauth-first-post");
      expect(replay.body.data).toMatchObject({ id: post.id, status: "succeeded" });
      const records = await recordsSaying(owner, text);
      expect(records.map(({ uri }) => uri)).toEqual([legOf(post, "bluesky").networkPostId]);
      const shown: PublishedImage[] = records[0]?.value.embed.images ?? [];
      expect(shown.map(({ alt }) => alt)).toEqual(altTexts.map((alt) => alt ?? ""));
      const links = shown.map(({ image }) => image.ref.$link);
      expect(new Set(links).size).toBe(PICTURES.length);
      const blobs = await Promise.all(links.map((link) => pds.blob(owner.account.did, link)));
      expect(blobs.map(({ length }) => length)).toEqual(shown.map(({ image }) => image.size));
    });

    test.runIf(IS_LONG)(
      "an account that was linked there is gone from the owner's settings when it is disconnected",
      async () => {
        const fresh = await anOwner("carol.test");
        await link(fresh);
        const settings = await appsPage(fresh);
        await localApps(settings).waitFor();
        const { id } = await connectionOf(fresh);
        const path = `/v1/profiles/${fresh.customer.profileId}/connections/${id}`;
        dataOf(await relay.call("DELETE", path, { bearer: fresh.customer.key }));
        await settings.reload();
        await settings.getByText("Apps that can use your account").waitFor();
        await expect.poll(() => localApps(settings).count()).toBe(0);
      },
      WALK_MS,
    );

    test.runIf(IS_LONG)(
      "an account that its owner ended there has to be linked again before a retry",
      async () => {
        const fresh = await anOwner("dora.test");
        await link(fresh);
        const page = await appsPage(fresh);
        await page.getByRole("button", { name: "Details" }).first().click();
        await page
          .getByRole("button", { name: /revoke/i })
          .first()
          .click();
        await expect.poll(() => localApps(page).count()).toBe(0);
        const text = "The owner has ended this";
        const failed = await endedPost(relay, fresh.customer, await publishText(fresh, text));
        expect(legOf(failed, "bluesky")).toMatchObject({
          status: "failed",
          error: { code: "connection_needs_reauth" },
          tokensCharged: 0,
        });
        expect(await connectionOf(fresh)).toMatchObject({ status: "needs_reauth" });
        expect(await recordsSaying(fresh, text)).toEqual([]);
        await link(fresh);
        const retried = await relay.call("POST", `/v1/posts/${failed.id}/retry`, {
          bearer: fresh.customer.key,
          headers: { "x-profile-id": fresh.customer.profileId },
          body: {},
        });
        expect(retried.status).toBe(202);
        expect((await endedPost(relay, fresh.customer, failed.id)).status).toBe("succeeded");
        expect(await recordsSaying(fresh, text)).toHaveLength(1);
      },
      180_000,
    );

    // A refresh token that is used twice ends the whole session there: a client that renews twice loses the account. The last
    // test, because a clock that was put forward ends the operator's tokens as well.
    test("an account that was linked there is renewed once for all legs that find its token ended, and again when the next one ends", async () => {
      for (const round of casesOf(["first", "second"])) {
        await later(2 * HOUR_MS);
        const texts = [1, 2, 3, 4].map((number) => `After the ${round} end, post ${number}`);
        const ids = await Promise.all(texts.map((text) => publishText(owner, text)));
        for (const id of ids)
          expect((await endedPost(relay, owner.customer, id)).status).toBe("succeeded");
        for (const text of texts) expect(await recordsSaying(owner, text)).toHaveLength(1);
        expect(await connectionOf(owner)).toMatchObject({ status: "active" });
      }
    }, 120_000);
  });
});
