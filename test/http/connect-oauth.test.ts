import { describe, expect, test } from "vitest";
import { Browser, locationOf, readable } from "../connections/browser.ts";
import { balance, BASE, OWN_INSTANCES } from "../connections/world.ts";
import type { Owner, World } from "../connections/world.ts";
import { MASTODON, MINUTE, useConnect } from "./connect-calls.ts";

let world: World;
let owner: Owner;

const { aSession, connections, cancel, towardsCallback } = useConnect((fresh) => {
  ({ world, owner } = fresh);
});

describe("linking by OAuth", () => {
  test("the whole way: the instance's page, back, linked", async () => {
    const made = await aSession({
      platforms: ["mastodon"],
      returnUrl: "https://app.customer.example.org/",
    });
    const { browser, callback } = await towardsCallback(made.connectUrl);
    expect(callback).toContain(`${BASE}/v1/connect/callback/mastodon/mastodon.sandbox.test?`);
    const back = new URL(locationOf(await browser.get(callback)));
    expect(back.searchParams.get("status")).toBe("completed");
    const [connection] = await connections();
    expect(connection).toMatchObject({
      platform: "mastodon",
      status: "active",
      instanceUrl: "https://mastodon.sandbox.test",
    });
    expect(connection?.account.id).toMatch(/^mastodon\.sandbox\.test\//);
    expect(await balance(world, owner)).toBe(95);
  });

  test("the cookie binds the browser, can't be read by scripts and comes back with the callback", async () => {
    const { connectUrl } = await aSession();
    const browser = new Browser(world);
    const started = await browser.submit(await browser.get(connectUrl), "mastodon", MASTODON);
    expect(started.headers.get("set-cookie")).toMatch(
      /^cx=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });

  test("a state works once", async () => {
    const { connectUrl } = await aSession();
    const { browser, callback } = await towardsCallback(connectUrl);
    expect((await browser.get(callback)).status).toBe(303);
    const replayed = await browser.get(callback);
    expect(replayed.status).toBe(410);
    expect(readable(replayed.body)).toContain("This step has expired");
  });

  test("of two OAuth callbacks at once, one is accepted", async () => {
    const { connectUrl } = await aSession();
    const { browser, callback } = await towardsCallback(connectUrl);
    const answers = await Promise.all([1, 2, 3, 4].map(() => browser.get(callback)));
    const statuses = answers.map(({ status }) => status).sort((left, right) => left - right);
    expect(statuses).toEqual([303, 410, 410, 410]);
    expect(await balance(world, owner)).toBe(95);
  });

  test("another browser is refused, and the right one may still go on", async () => {
    const { connectUrl } = await aSession();
    const { browser, callback } = await towardsCallback(connectUrl);
    const stranger = new Browser(world);
    stranger.cookie = `cx=${"a".repeat(43)}`;
    for (const other of [new Browser(world), stranger]) {
      const answer = await other.get(callback);
      expect(answer.status).toBe(403);
      expect(readable(answer.body)).toContain("another browser");
    }
    expect(await connections()).toEqual([]);
    expect((await browser.get(callback)).status).toBe(303);
  });

  test("a cancel beats the callback", async () => {
    const made = await aSession();
    const { browser, callback } = await towardsCallback(made.connectUrl);
    expect((await cancel(made)).status).toBe(200);
    const answer = await browser.get(callback);
    expect(answer.status).toBe(410);
    expect(readable(answer.body)).toContain("This was canceled");
    expect(await connections()).toEqual([]);
    expect(await balance(world, owner)).toBe(100);
  });

  test("a cancel while the network is being asked links nothing and gives the token back", async () => {
    const made = await aSession();
    const { browser, callback } = await towardsCallback(made.connectUrl, {
      instance: OWN_INSTANCES[0],
    });
    let canceled: number | undefined;
    world.intercept(async (request, send) => {
      const response = await send(request);
      if (request.url.endsWith("/oauth/token")) canceled = (await cancel(made)).status;
      return response;
    });
    const answer = await browser.get(callback);
    expect([canceled, answer.status]).toEqual([200, 410]);
    expect(await connections()).toEqual([]);
    expect(await balance(world, owner)).toBe(100);
    const revoked = world.sandbox.requests().filter(({ path }) => path.startsWith("/oauth/revoke"));
    expect(revoked.map(({ status }) => status)).toEqual([200]);
  });

  test("a refusal at the network leads back to the page with a word on it", async () => {
    const { connectUrl } = await aSession();
    const { browser, callback } = await towardsCallback(connectUrl, { decision: "deny" });
    const page = await browser.follow(await browser.get(callback));
    expect(page.status).toBe(200);
    expect(readable(page.body)).toContain("You did not grant permission on Mastodon");
  });

  test("a visit to the network that took too long leads back to the page", async () => {
    const { connectUrl } = await aSession();
    const { browser, callback } = await towardsCallback(connectUrl);
    world.relay.advance(10 * MINUTE);
    const page = await browser.follow(await browser.get(callback));
    expect(readable(page.body)).toContain("took too long");
    expect(await connections()).toEqual([]);
  });

  test.each([
    ["no state", (url: URL) => url.searchParams.delete("state")],
    ["an unknown state", (url: URL) => url.searchParams.set("state", "x".repeat(43))],
    [
      "a state of another network",
      (url: URL) => (url.pathname = "/api/v1/connect/callback/bluesky"),
    ],
  ])("a callback with %s is refused", async (_name, change) => {
    const { connectUrl } = await aSession();
    const { browser, callback } = await towardsCallback(connectUrl);
    const url = new URL(callback);
    change(url);
    expect((await browser.get(url.href)).status).toBe(410);
    expect(await connections()).toEqual([]);
  });

  test("a server that can't be reached is told, and what was typed stays", async () => {
    const { connectUrl } = await aSession();
    const browser = new Browser(world);
    const instance = "nowhere.invalid";
    const answer = await browser.submit(await browser.get(connectUrl), "mastodon", { instance });
    expect(answer.status).toBe(422);
    expect(answer.body).toContain(`value="${instance}"`);
    expect(readable(answer.body)).toContain("could not be reached");
  });
});
