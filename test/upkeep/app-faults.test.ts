import { describe, expect, test } from "vitest";
import { publisherOf, unique } from "../setup/publisher.ts";
import { APP_SENTENCES, graph } from "../networks/error-cases.ts";
import { answer } from "../networks/scripted-tools.ts";
import { aLinkedOwner, openWholeWorld, passDays, toldTypes } from "./accounts.ts";
import type { Owner } from "../connect/world.ts";
import { connectionOf } from "../setup/stored.ts";
import { forTest } from "../setup/for-file.ts";

const world = forTest(() => openWholeWorld());

const GRAPH = "https://graph.facebook.com";
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

  test("a refusal of our app is none where other accounts are accepted meanwhile", () => {
    const { appFaults } = world.services.connections.linking;
    const failure = { code: "connection_needs_reauth", networkCode: "190/460" } as const;
    const account = (id: number) =>
      ({ id: `con_${id}`, network: "facebook", instanceUrl: null }) as const;
    for (let id = 0; id < 20; id += 1) {
      expect(appFaults.refused(account(id), failure)).toBe("account");
      if (id % 4 === 3) appFaults.accepted(account(100));
    }
    expect(reports()).toHaveLength(0);
  });
});
