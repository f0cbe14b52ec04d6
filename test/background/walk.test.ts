import { describe, expect, test, vi } from "vitest";
import { STRICT_HOST } from "../../sandbox/mastodon/state.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import { anotherProfile, anOwner, aSibling, type Owner } from "../connections/world.ts";
import { calls, DAY_MS, openWholeWorld } from "./accounts.ts";
import { checkAccounts } from "../setup/walks.ts";
import { connectionOf, saveLinked } from "../setup/stored.ts";
import { forTest } from "../setup/for-file.ts";

const LEASE_MS = 2 * 60 * 1000;
/** So few that a round takes several runs. */
const SMALL = { connectionsMin: 3, connectionsOfPage: 2 };

const world = forTest(() => openWholeWorld());

/** An account at a server that stands in for many. */
async function link({ platformId, applicationId, profileId }: Owner): Promise<void> {
  const { services, sandbox } = world;
  const grant = { host: STRICT_HOST, username: "demo" };
  const { accessToken, accountId } = sandbox.networks.mastodon.issueToken(grant);
  const origin = `https://${STRICT_HOST}`;
  const linked: LinkedAccount = {
    account: {
      id: `${STRICT_HOST}/${accountId}`,
      username: `demo@${STRICT_HOST}`,
      displayName: "Demo",
      avatarUrl: null,
      url: `${origin}/@demo`,
      kind: "person",
    },
    credentials: { origin, accessToken, clientId: "id", clientSecret: "secret", keepsKeys: true },
    instanceUrl: origin,
    scopes: [],
    limits: {},
    expiresAt: null,
  };
  const owner = { platformId, applicationId, profileId };
  await saveLinked(services, owner, "mastodon", linked);
}

async function linkedOwners(): Promise<Owner[]> {
  const [first, second, third] = [await anOwner(world), await anOwner(world), await anOwner(world)];
  const owners = [first, second, third];
  for (let more = 0; more < 3; more += 1) owners.push(await anotherProfile(world, first));
  owners.push(await aSibling(world, second));
  for (const owner of owners) await link(owner);
  return owners;
}

const looks = () => calls(world, "verify_credentials").length;

async function run(): Promise<void> {
  world.relay.advance(3_600_000);
  await checkAccounts(world.services, SMALL);
}

describe("the walk over all accounts", () => {
  test("the walk over all accounts is spread over runs, looks at each account once a round, and begins again a day later", async () => {
    const owners = await linkedOwners();
    world.relay.advance(4 * DAY_MS);
    const perRun: number[] = [];
    for (let runs = 0; runs < 6; runs += 1) {
      const before = looks();
      await run();
      perRun.push(looks() - before);
    }
    expect(looks()).toBe(owners.length);
    expect(Math.max(...perRun)).toBeLessThanOrEqual(
      SMALL.connectionsMin + SMALL.connectionsOfPage - 1,
    );
    expect(perRun.slice(0, 2).every((count) => count > 0)).toBe(true);
    expect(perRun.at(-1)).toBe(0);
    for (const owner of owners) {
      const { checkedAt, createdAt } = await connectionOf(world.services, owner, "mastodon");
      expect(Date.parse(checkedAt ?? "")).toBeGreaterThan(Date.parse(createdAt) + 4 * DAY_MS);
    }
    world.relay.advance(4 * DAY_MS);
    for (let runs = 0; runs < 6; runs += 1) await run();
    expect(looks()).toBe(2 * owners.length);
  });

  test("the walk over all accounts is done by one of several runs at once", async () => {
    const owners = await linkedOwners();
    world.relay.advance(4 * DAY_MS);
    const others = await Promise.all([world.anotherProcess(), world.anotherProcess()]);
    await Promise.all([world.services, ...others].map((services) => checkAccounts(services)));
    expect(looks()).toBe(owners.length);
  });

  test("goes on where a run died, once its lease is over", async () => {
    const owners = await linkedOwners();
    world.relay.advance(4 * DAY_MS);
    let left = 3;
    world.intercept(async (request, send) => {
      if (!request.url.includes("verify_credentials")) return await send(request);
      left -= 1;
      if (left < 0) throw new Error("the process dies");
      return await send(request);
    });
    const { walks } = world.services.background.stores;
    const write = walks.write.bind(walks);
    vi.spyOn(walks, "write").mockImplementation((...parts) =>
      left < 0 ? Promise.reject(new Error("the process is dead")) : write(...parts),
    );
    await expect(checkAccounts(world.services, { ...SMALL, connectionsMin: 100 })).rejects.toThrow(
      "dead",
    );
    world.intercept(undefined);
    const other = await world.anotherProcess();
    await checkAccounts(other, SMALL);
    expect(looks()).toBe(3);
    world.relay.advance(LEASE_MS);
    for (let runs = 0; runs < 4; runs += 1) {
      await checkAccounts(other, SMALL);
      world.relay.advance(60_000);
    }
    for (const owner of owners) {
      const { checkedAt, createdAt } = await connectionOf(world.services, owner, "mastodon");
      expect(Date.parse(checkedAt ?? "")).toBeGreaterThan(Date.parse(createdAt) + 4 * DAY_MS);
    }
    // Those of the page that the dead run had in hand were noted as looked at.
    expect(looks()).toBe(owners.length);
  });

  test("passes over an account that can't be read and goes on", async () => {
    const owners = await linkedOwners();
    world.relay.advance(4 * DAY_MS);
    const { connections } = world.services.connections.stores;
    const list = connections.listOfProfile.bind(connections);
    vi.spyOn(connections, "listOfProfile").mockImplementation((profile) =>
      profile.profileId === owners[0]?.profileId
        ? Promise.reject(new Error("a row that makes no sense"))
        : list(profile),
    );
    await checkAccounts(world.services);
    expect(looks()).toBe(owners.length - 1);
    expect(world.relay.logLines.join("\n")).toContain("an account could not be checked");
  });

  test("costs one query per profile and a few per platform", async () => {
    const owners = await linkedOwners();
    let requests = 0;
    world.relay.storage?.giveWholePages();
    const services = await world.anotherProcess({
      tableFault() {
        requests += 1;
        return "pass";
      },
    });
    await checkAccounts(services);
    // The limits of their server were read and kept; from now on nothing changes.
    requests = 0;
    world.relay.advance(DAY_MS);
    await checkAccounts(services);
    expect(looks()).toBe(0);
    const platforms = new Set(owners.map(({ platformId }) => platformId)).size;
    // The walk is taken (a read and a write), ended and given back. The list of platforms is one query and a read of
    // each; then there is one query for a platform's connections, and a note of how far the walk is.
    const walk = 4 + 1 + platforms * 3;
    // One query for a profile, and one read to open the credentials for a server that is asked for its limits.
    expect(requests).toBeLessThanOrEqual(walk + owners.length * 2);
    requests = 0;
    await checkAccounts(services);
    expect(requests).toBe(1);
  });
});
