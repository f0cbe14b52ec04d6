import { describe, expect, onTestFinished, test, vi } from "vitest";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../sandbox/bluesky/state.ts";
import { Browser, locationOf, readable } from "../connections/browser.ts";
import { anOwner, anotherProfile, balance } from "../connections/world.ts";
import type { Owner, World } from "../connections/world.ts";
import { serviceUnavailable } from "../../src/shared/runtime/errors.ts";
import { BLUESKY, MINUTE, useConnect } from "./connect-calls.ts";
import { credentialsOf } from "../setup/stored.ts";

let world: World;
let owner: Owner;

const { aSession, session, connections, linkBluesky, towardsCallback } = useConnect((fresh) => {
  ({ world, owner } = fresh);
});

describe("linking by a form", () => {
  test("the whole way: log in, see it linked, done, back to the platform", async () => {
    const made = await aSession({
      returnUrl: "https://app.customer.example.org/back#top",
      state: "s&1",
    });
    const browser = new Browser(world);
    const linked = await browser.submit(await browser.get(made.connectUrl), "bluesky", BLUESKY);
    const page = await browser.follow(linked);
    expect(readable(page.body)).toMatch(new RegExp(`Connected Bluesky · ${DEMO_HANDLE}`));
    const [connection] = await connections();
    expect(connection).toMatchObject({
      platform: "bluesky",
      status: "active",
      profileId: owner.profileId,
      applicationId: owner.applicationId,
      account: { username: DEMO_HANDLE },
      quota: null,
      lastError: null,
    });
    expect(await balance(world, owner)).toBe(95);
    const done = await browser.submit(page, "done", { action: "done" });
    const back = new URL(locationOf(done));
    expect(`${back.origin}${back.pathname}${back.hash}`).toBe(`${world.sandbox.url}/back`);
    expect(Object.fromEntries(back.searchParams)).toEqual({
      session: made.id,
      status: "completed",
      connections: connection?.id,
      state: "s&1",
    });
    expect(await session(made)).toMatchObject({
      status: "completed",
      connections: [{ id: connection?.id, platform: "bluesky" }],
    });
  });

  test("the session is over once every network asked for is linked", async () => {
    const made = await aSession({ platforms: ["bluesky"] });
    const answer = await linkBluesky(made.connectUrl);
    expect(answer.status).toBe(200);
    expect(readable(answer.body)).toMatch(/Connected Bluesky/);
    expect(readable(answer.body)).toContain("You can close this window");
    expect((await session(made)).status).toBe("completed");
    expect((await new Browser(world).get(made.connectUrl)).status).toBe(410);
  });

  test("wrong credentials keep what was typed, secrets excepted, and say what to do", async () => {
    const { connectUrl } = await aSession();
    const appPassword = "aaaa-bbbb-cccc-dddd";
    const answer = await linkBluesky(connectUrl, { identifier: DEMO_HANDLE, appPassword });
    expect(answer.status).toBe(422);
    expect(answer.body).toContain(`value="${DEMO_HANDLE}"`);
    expect(answer.body).not.toContain(appPassword);
    expect(readable(answer.body)).toContain("Bluesky did not accept this app password");
    expect(await connections()).toEqual([]);
    expect(await balance(world, owner)).toBe(100);
  });

  test.each([
    ["a main password", { ...BLUESKY, appPassword: "hunter2" }, "app password"],
    ["an unknown handle", { ...BLUESKY, identifier: "nobody.bsky.social" }, "does not know"],
    ["nothing", { identifier: "", appPassword: "" }, "is missing or not in the expected format"],
    [
      "a control character",
      { ...BLUESKY, identifier: "a\u0000b" },
      "is missing or not in the expected format",
    ],
    [
      "a novel",
      { ...BLUESKY, identifier: "x".repeat(5000) },
      "is missing or not in the expected format",
    ],
  ])("%s is answered with a way forward", async (_name, typed, words) => {
    const { connectUrl } = await aSession();
    const answer = await linkBluesky(connectUrl, typed);
    expect(answer.status).toBe(422);
    expect(readable(answer.body)).toContain(words);
  });

  test("a wallet that is short by then links nothing, by a form or by OAuth", async () => {
    const poor = await anOwner(world, 9);
    const others = [await anotherProfile(world, poor), await anotherProfile(world, poor)] as const;
    const sessions = [await aSession({}, others[0]), await aSession({}, others[1])] as const;
    expect((await linkBluesky((await aSession({}, poor)).connectUrl)).status).toBe(303);
    const answer = await linkBluesky(sessions[0].connectUrl);
    expect(answer.status).toBe(402);
    expect(readable(answer.body)).toContain("Accounts can't be connected right now");
    const { browser, callback } = await towardsCallback(sessions[1].connectUrl);
    const page = await browser.follow(await browser.get(callback));
    expect(readable(page.body)).toContain("Accounts can't be connected right now");
    expect(await balance(world, poor)).toBe(4);
    for (const [index, by] of others.entries()) {
      expect(await connections(by)).toEqual([]);
      expect((await session(sessions[index] ?? { id: "" }, by)).connections).toEqual([]);
    }
  });

  test("linking the same account again keeps its id and is free", async () => {
    await linkBluesky((await aSession()).connectUrl);
    const [before] = await connections();
    world.relay.advance(MINUTE);
    await linkBluesky((await aSession()).connectUrl);
    const after = await connections();
    expect(after).toHaveLength(1);
    expect(after[0]?.id).toBe(before?.id);
    expect(await balance(world, owner)).toBe(95);
  });

  test("another account of the network takes the place, under a new id and at the price", async () => {
    const made = await aSession();
    await linkBluesky(made.connectUrl);
    const [before] = await connections();
    world.sandbox.networks.bluesky.addAccount({
      handle: "second.bsky.social",
      appPassword: "abcd-abcd-abcd-abcd",
    });
    await linkBluesky(made.connectUrl, {
      identifier: "second.bsky.social",
      appPassword: "abcd-abcd-abcd-abcd",
    });
    const after = await connections();
    expect(after.map(({ account }) => account.username)).toEqual(["second.bsky.social"]);
    expect(after[0]?.id).not.toBe(before?.id);
    expect(await balance(world, owner)).toBe(90);
    expect((await session(made)).connections.map(({ id }) => id)).toEqual([after[0]?.id]);
  });

  test("two clicks at once link once and pay once", async () => {
    const { connectUrl } = await aSession();
    const browser = new Browser(world);
    const page = await browser.get(connectUrl);
    await Promise.all([1, 2, 3].map(() => browser.submit(page, "bluesky", BLUESKY)));
    expect(await connections()).toHaveLength(1);
    expect(await balance(world, owner)).toBe(95);
  });

  test("a link and its charge are there together or not at all, and a repeat pays nothing more", async () => {
    const made = await aSession();
    const { core } = world.relay.tables;
    const transact = vi.spyOn(core, "transact");
    onTestFinished(() => transact.mockRestore());
    transact.mockRejectedValueOnce(serviceUnavailable());
    expect((await linkBluesky(made.connectUrl)).status).toBe(503);
    expect(await connections()).toEqual([]);
    expect(await balance(world, owner)).toBe(100);
    const inDoubt = { kind: "in_doubt", cause: new Error("the answer was lost") } as const;
    const applied = transact.getMockImplementation() ?? core.transact.bind(core);
    transact.mockImplementationOnce(async (...given) => {
      await applied(...given);
      return inDoubt;
    });
    expect((await linkBluesky(made.connectUrl)).status).toBe(303);
    expect(await connections()).toHaveLength(1);
    expect((await session(made)).connections).toHaveLength(1);
    expect((await linkBluesky(made.connectUrl)).status).toBe(303);
    expect(await balance(world, owner)).toBe(95);
  });

  test("a session bears only so many attempts", async () => {
    const made = await aSession();
    const ref = { platformId: owner.platformId, id: made.id };
    await world.services.connections.stores.connectSessions.change(ref, (current) => ({
      ...current,
      attempts: 50,
    }));
    const answer = await linkBluesky(made.connectUrl);
    expect(answer.status).toBe(429);
    expect(await connections()).toEqual([]);
  });

  test("tokens and passwords are in no answer and in no log line", async () => {
    const made = await aSession();
    const answers: string[] = [];
    const browser = new Browser(world);
    const linked = await browser.submit(await browser.get(made.connectUrl), "bluesky", BLUESKY);
    answers.push((await browser.follow(linked)).body);
    answers.push(JSON.stringify(await connections()), JSON.stringify(await session(made)));
    const credentials = await credentialsOf(world.services, owner, "bluesky");
    const secrets = [credentials?.["accessJwt"], credentials?.["refreshJwt"], DEMO_APP_PASSWORD];
    const pageToken = new URL(made.connectUrl).searchParams.get("token");
    for (const secret of secrets.map(String)) {
      expect(secret.length).toBeGreaterThan(10);
      for (const text of [...answers, ...world.relay.logLines]) expect(text).not.toContain(secret);
    }
    for (const line of world.relay.logLines) expect(line).not.toContain(pageToken);
  });
});
