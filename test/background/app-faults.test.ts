import { networkOf } from "../../src/shared/networks/networks.ts";
import { describe, expect, test } from "vitest";
import { publisherOf, unique } from "../setup/publisher.ts";
import { APP_SENTENCES, graph } from "../networks/error-cases.ts";
import { answer } from "../networks/scripted-tools.ts";
import { aLinkedOwner, openWholeWorld, passDays, toldTypes } from "./accounts.ts";
import type { Owner } from "../connections/world.ts";
import { connectionOf } from "../setup/stored.ts";
import { forTest } from "../setup/for-file.ts";

const world = forTest(() => openWholeWorld());

const GRAPH = "https://graph.facebook.com";
const IMAGE = "https://media.sandbox.test/photo.jpg";
const REPORT = "a network refuses the app";

/** Lets Facebook refuse everything with this answer, and counts the calls. */
function refuseAll(body: object): () => number {
  let calls = 0;
  world.intercept(async (request, send) => {
    if (!request.url.startsWith(GRAPH)) return await send(request);
    calls += 1;
    return answer(400, body);
  });
  return () => calls;
}

async function owners(count: number): Promise<Owner[]> {
  const made: Owner[] = [];
  for (let index = 0; index < count; index += 1)
    made.push((await aLinkedOwner(world, "facebook")).owner);
  return made;
}

const statusesOf = (all: readonly Owner[]) =>
  Promise.all(
    all.map(async (owner) => (await connectionOf(world.services, owner, "facebook")).status),
  );
const reports = () => world.relay.logLines.filter((line) => line.includes(REPORT));

describe("a refusal of our app", () => {
  test.each(APP_SENTENCES)(
    "a refusal of our app (%i, %s) is no account's fault",
    async (code, message) => {
      const [owner] = await owners(1);
      if (owner === undefined) throw new Error("nobody is linked");
      refuseAll(graph(code, undefined, { message }));
      await passDays(world, 4);
      expect(await statusesOf([owner])).toEqual(["active"]);
      const publisher = publisherOf(world.relay, owner.application, owner.profileId);
      const body = { text: unique("Refused"), platforms: ["facebook"] };
      const { id } = await publisher.accept(body);
      await world.relay.drain();
      const [leg] = (await publisher.read(id)).legs;
      expect(leg.error.code).toBe("app_misconfigured");
      expect(await statusesOf([owner])).toEqual(["active"]);
      expect(await toldTypes(world, owner)).not.toContain("connection.needs_reauth");
    },
  );

  test("a refusal of our app in words of an account's, for many accounts, marks few, stops the check and is reported once; all come back by themselves", async () => {
    const all = await owners(9);
    const calls = refuseAll(graph(190, 460));
    await passDays(world, 4);
    const marked = (await statusesOf(all)).filter((status) => status !== "active");
    expect(marked.length).toBeLessThanOrEqual(4);
    expect(reports()).toHaveLength(1);
    const before = calls();
    await passDays(world, 1);
    expect(calls() - before).toBeLessThan(all.length);
    world.intercept(undefined);
    await passDays(world, 5);
    expect(await statusesOf(all)).toEqual(all.map(() => "active"));
  });

  test("a refusal of our app is none where other accounts are accepted meanwhile", async () => {
    const { appFaults } = world.services.connections.linking;
    const failure = { code: "connection_needs_reauth", networkCode: "190/460" } as const;
    const { connection } = await aLinkedOwner(world, "facebook");
    const account = (id: number) => ({ ...connection, id: `con_${id}` });
    for (let id = 0; id < 20; id += 1) {
      expect(appFaults.refused(account(id), failure, networkOf("facebook").accountCheck)).toBe(
        "account",
      );
      if (id % 4 === 3) appFaults.accepted(account(100));
    }
    expect(reports()).toHaveLength(0);
  });
});

describe("who counts as a witness", () => {
  const failure = { code: "connection_needs_reauth", networkCode: "190/460" } as const;
  const check = networkOf("facebook").accountCheck;

  test("the accounts of one customer alone don't make an app faulty that others use", async () => {
    const { appFaults } = world.services.connections.linking;
    const { connection } = await aLinkedOwner(world, "facebook");
    const account = (id: number, platformId: string) => ({
      ...connection,
      id: `con_${id}`,
      platformId,
    });
    appFaults.accepted(account(0, "plt_neighbor"));
    for (let id = 1; id < 20; id += 1)
      expect(appFaults.refused(account(id, "plt_hostile"), failure, check)).toBe("account");
    expect(appFaults.areRefused(connection)).toBe(false);
    expect(appFaults.refused(account(20, "plt_neighbor"), failure, check)).toBe("app");
    expect(reports()).toHaveLength(1);
  });

  test("the only customer of an app is witness enough", async () => {
    const { appFaults } = world.services.connections.linking;
    const { connection } = await aLinkedOwner(world, "facebook");
    const alone = {
      ...connection,
      platformId: "plt_only",
      account: { ...connection.account, kind: "a kind of its own" },
    };
    const blames = [1, 2, 3, 4, 5].map((id) =>
      appFaults.refused({ ...alone, id: `con_${id}` }, failure, check),
    );
    expect(blames.at(-1)).toBe("app");
  });

  test("any number of servers leaves what is known of an app that all accounts share", async () => {
    const { appFaults } = world.services.connections.linking;
    const { connection } = await aLinkedOwner(world, "facebook");
    for (const id of ["a", "b", "c", "d", "e"])
      appFaults.refused({ ...connection, id, platformId: `plt_${id}` }, failure, check);
    expect(appFaults.areRefused(connection)).toBe(true);
    for (let server = 0; server < 1_500; server += 1)
      appFaults.accepted({
        ...connection,
        network: "mastodon",
        instanceUrl: `https://server-${server}.example.com`,
      });
    expect(appFaults.areRefused(connection)).toBe(true);
  });
});

const INSTAGRAM = "https://graph.instagram.com";
/** What Instagram answered single accounts for weeks, while others of the app worked. */
const UNSUPPORTED = graph(100, undefined, {
  message: "Unsupported request - method type: get",
  type: "IGApiException",
});

/** Lets Instagram refuse the calls with these tokens, each with its own answer. Returns the tokens of all calls. */
function refuseTokens(refused: ReadonlyMap<string, object>): string[] {
  const asked: string[] = [];
  world.intercept(async (request, send) => {
    if (!request.url.startsWith(INSTAGRAM)) return await send(request);
    const token = (request.headers?.["authorization"] ?? "").replace("Bearer ", "");
    asked.push(token);
    const body = refused.get(token);
    return body === undefined ? await send(request) : answer(400, body);
  });
  return asked;
}

/** Links Instagram for several owners, each with a token of its own. */
async function instagramOwners(count: number) {
  const linked = [];
  for (let index = 0; index < count; index += 1) {
    const { owner, connection } = await aLinkedOwner(world, "instagram");
    const opened = await world.services.connections.stores.connections.open(connection);
    linked.push({ owner, token: String(opened?.credentials?.["accessToken"]) });
  }
  expect(new Set(linked.map(({ token }) => token)).size).toBe(count);
  return linked;
}

describe("a refusal in the app's name for one account alone", () => {
  test("says nothing about its neighbors, and becomes the account's own after some days", async () => {
    const [a, b, c] = await instagramOwners(3);
    if (a === undefined || b === undefined || c === undefined) throw new Error("nobody is linked");
    refuseTokens(
      new Map([
        [a.token, UNSUPPORTED],
        [b.token, graph(190, 463)],
      ]),
    );
    const post = async ({ owner }: typeof a) => {
      const publisher = publisherOf(world.relay, owner.application, owner.profileId);
      const body = { text: unique("One alone"), platforms: ["instagram"], mediaUrls: [IMAGE] };
      const { id } = await publisher.accept(body);
      await world.relay.drain();
      return (await publisher.read(id)).legs[0];
    };
    expect((await post(a)).error.code).toBe("app_misconfigured");
    expect((await post(b)).error.code).toBe("connection_needs_reauth");
    expect((await post(c)).status).toBe("succeeded");
    expect(reports()).toHaveLength(0);
    const statusOf = async ({ owner }: typeof a) =>
      (await connectionOf(world.services, owner, "instagram")).status;
    expect(await statusOf(a)).toBe("active");
    expect(await statusOf(b)).toBe("needs_reauth");
    await passDays(world, 4);
    expect(await statusOf(a)).toBe("needs_reauth");
    expect(await statusOf(c)).toBe("active");
    world.intercept(undefined);
    await passDays(world, 1);
    expect(await statusOf(a)).toBe("active");
  });

  test("keeps no other account from its daily check and its renewal", async () => {
    const all = await instagramOwners(12);
    // In the middle of any order.
    const middle = all[6];
    if (middle === undefined) throw new Error("nobody is linked");
    const asked = refuseTokens(new Map([[middle.token, UNSUPPORTED]]));
    for (let day = 1; day <= 3; day += 1) {
      asked.length = 0;
      await passDays(world, 1);
      expect(new Set(asked).size).toBeGreaterThanOrEqual(all.length - 1);
    }
    const others = all.filter((one) => one !== middle).map(({ owner }) => owner);
    const statuses = others.map(async (owner) => {
      const { status } = await connectionOf(world.services, owner, "instagram");
      return status;
    });
    expect(await Promise.all(statuses)).toEqual(others.map(() => "active"));
  });
});
