import { beforeEach, describe, expect, test } from "vitest";
import {
  DEMO_APP_PASSWORD,
  DEMO_HANDLE,
  FRIEND_APP_PASSWORD,
  FRIEND_HANDLE,
} from "../../sandbox/bluesky/state.ts";
import { forFile } from "../setup/for-file.ts";
import { Browser, formsOf, readable } from "./browser.ts";
import { anOwner, anotherProfile, balance, openWorld, type Owner } from "./world.ts";

const world = forFile(() => openWorld());
let owner: Owner;

beforeEach(async () => {
  world.sandbox.reset();
  owner = await anOwner(world);
});

const path = (by = owner) => `/v1/profiles/${by.profileId}/connect/sessions`;

async function start(more: Readonly<Record<string, unknown>> = {}, by = owner) {
  const body = { platforms: ["bluesky", "mastodon"], allowDisconnect: true, ...more };
  return await world.relay.call("POST", path(by), { key: by.key, body });
}

async function linkOn(url: string, identifier = DEMO_HANDLE) {
  const browser = new Browser(world);
  const appPassword = identifier === DEMO_HANDLE ? DEMO_APP_PASSWORD : FRIEND_APP_PASSWORD;
  const typed = { identifier, appPassword };
  const answer = await browser.submit(await browser.get(url), "bluesky", typed);
  return { browser, page: await browser.follow(answer) };
}

const connection = () =>
  world.services.connections.stores.connections.find({ ...owner, network: "bluesky" });

const disconnectFormOf = (page: { readonly body: string }) =>
  /<form(?:(?!<\/form>)[^])*value="disconnect"/.exec(page.body)?.[0];

describe("an account on the page", () => {
  test("is disconnected after one question, where the session allows it", async () => {
    const { body } = await start();
    expect(body.data.allowDisconnect).toBe(true);
    const { browser, page } = await linkOn(body.data.connectUrl);
    const form = disconnectFormOf(page);
    expect(readable(form ?? "")).toContain("can't publish to");
    const [{ action, fields }] = formsOf(page.body) as [ReturnType<typeof formsOf>[number]];
    const back = await browser.follow(
      await browser.post(action, { ...fields, action: "disconnect" }),
    );
    expect(readable(back.body)).toContain("Bluesky: Disconnected");
    expect(await connection()).toMatchObject({ status: "revoked" });
    const { data } = (
      await world.relay.call("GET", `/v1/connect/sessions/${body.data.id}`, { key: owner.key })
    ).body;
    expect([data.status, data.connections]).toEqual(["open", []]);
    world.relay.advance(16_000);
    const events = await world.relay.call("GET", "/v1/events", { key: owner.key });
    expect(events.body.data).toContainEqual(
      expect.objectContaining({
        type: "connection.removed",
        data: expect.objectContaining({ reason: "disconnected_on_page" }),
      }),
    );
  });

  test("stays where the session doesn't allow to disconnect it, whatever form is sent", async () => {
    const { body } = await start({ allowDisconnect: undefined });
    expect(body.data.allowDisconnect).toBe(false);
    const { browser, page } = await linkOn(body.data.connectUrl);
    expect(disconnectFormOf(page)).toBeUndefined();
    const [{ action, fields }] = formsOf(page.body) as [ReturnType<typeof formsOf>[number]];
    expect((await browser.post(action, { ...fields, action: "disconnect" })).status).toBe(303);
    expect(await connection()).toMatchObject({ status: "active" });
  });

  test("costs nothing when the session that disconnected it links it again, also after another one", async () => {
    const { body } = await start();
    const { connectUrl } = body.data;
    for (const identifier of [DEMO_HANDLE, FRIEND_HANDLE]) {
      const { browser, page } = await linkOn(connectUrl, identifier);
      const [{ action, fields }] = formsOf(page.body) as [ReturnType<typeof formsOf>[number]];
      await browser.post(action, { ...fields, action: "disconnect" });
    }
    expect(await balance(world, owner)).toBe(90);
    await linkOn(connectUrl, DEMO_HANDLE);
    expect(await balance(world, owner)).toBe(90);
  });
});

describe("an empty wallet", () => {
  test("starts a session for an account that is linked again, and none where nothing is free", async () => {
    owner = await anOwner(world, 5);
    await linkOn((await start()).body.data.connectUrl);
    expect(await balance(world, owner)).toBe(0);
    const again = await start({ platforms: ["bluesky"] });
    expect(again.status).toBe(201);
    const page = await new Browser(world).get(again.body.data.connectUrl);
    expect(readable(page.body)).toContain("Connected");
    await linkOn(again.body.data.connectUrl).catch(() => undefined);
    expect(await balance(world, owner)).toBe(0);
    expect((await start({ platforms: ["mastodon"] })).status).toBe(402);
    expect((await start({}, await anotherProfile(world, owner))).status).toBe(402);
  });
});
