import { describe, expect, test, vi } from "vitest";
import { startRelay } from "../setup/relay.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { aLinkedOwner, DAY_MS, openWholeWorld } from "./accounts.ts";
import type { Owner } from "../connections/world.ts";
import { connectionOf, revokeConnection } from "../setup/stored.ts";
import { forFile } from "../setup/for-file.ts";

const world = forFile(() => openWholeWorld({ QUOTA_LINKEDIN: "3" }));

const connections = async (owner: Owner) =>
  (
    await world.relay.call("GET", `/v1/profiles/${owner.profileId}/connections`, {
      key: owner.key,
    })
  ).body.data;

const validate = async (owner: Owner) =>
  (
    await world.relay.call("POST", "/v1/posts/validate", {
      key: owner.key,
      headers: { "x-profile-id": owner.profileId },
      body: { text: "What is left?", platforms: ["linkedin"] },
    })
  ).body.data.platforms.linkedin;

/** As a leg does before it publishes. */
async function use(owner: Owner, leg: string): Promise<boolean> {
  const { account, network } = await connectionOf(world.services, owner, "linkedin");
  const real = { network, accountId: account.id };
  const { services } = world;
  return services.publishing.stores.networkAccounts.claimQuota(
    real,
    { kind: "posts", limit: 3 },
    leg,
    services.clock.now(),
  );
}

describe("what is left of an account's quota", () => {
  test("what is left of an account's quota is shown with the connection and in validation, and counts every profile's posts", async () => {
    const { owner } = await aLinkedOwner(world, "linkedin");
    const { owner: stranger } = await aLinkedOwner(world, "linkedin");
    const none = { used: 0, limit: 3, remaining: 3, resetsAt: null };
    expect((await connections(owner))[0].quota).toEqual(none);
    expect((await validate(owner)).quota).toEqual(none);

    const before = world.relay.clock.now().getTime();
    await use(owner, "leg 1");
    await use(stranger, "leg 2");
    const used = (await connections(owner))[0].quota;
    expect(used).toMatchObject({ used: 2, limit: 3, remaining: 1 });
    const resetsAt = Date.parse(used.resetsAt);
    expect(resetsAt).toBeGreaterThan(before + DAY_MS - 1);
    expect(resetsAt).toBeLessThan(before + DAY_MS + 60_000);
    expect((await connections(stranger))[0].quota).toEqual(used);
    expect((await validate(owner)).quota).toEqual(used);

    await use(owner, "leg 3");
    expect(await use(owner, "leg 4")).toBe(false);
    expect(await validate(owner)).toMatchObject({
      valid: false,
      quota: { used: 3, remaining: 0 },
      errors: [{ code: "quota_exceeded", rule: "linkedin.quota.posts" }],
    });

    world.relay.advance(DAY_MS);
    expect((await connections(owner))[0].quota).toEqual(none);
    expect((await validate(owner)).valid).toBe(true);
  });

  test("what is left of an account's quota is null where the network has none, and for an account that was unlinked", async () => {
    const { owner, connection } = await aLinkedOwner(world, "mastodon");
    expect((await connections(owner))[0].quota).toBeNull();
    await linkSandboxAccount(world.services, owner, "linkedin");
    const linked = await connectionOf(world.services, owner, "linkedin");
    await revokeConnection(world.services, linked);
    const listed = await connections(owner);
    expect(listed.map((shown: { platform: string; quota: unknown }) => shown.quota)).toEqual([
      null,
      null,
    ]);
    expect(listed.map(({ id }: { id: string }) => id)).toContain(connection.id);
  });

  test("costs a list of connections one read for each network with a quota", async () => {
    const { owner } = await aLinkedOwner(world, "mastodon");
    await linkSandboxAccount(world.services, owner, "linkedin");
    await linkSandboxAccount(world.services, owner, "instagram");
    const asked: string[] = [];
    world.relay.storage?.giveWholePages();
    const relay = await startRelay({
      sameDeploymentAs: world.relay,
      tableFault({ table }) {
        asked.push(table);

        return "pass";
      },
    });
    const list = vi.spyOn(relay.tables.core, "list");
    try {
      const path = `/v1/profiles/${owner.profileId}/connections`;
      const listed = await relay.call("GET", path, { key: owner.key });
      expect(listed.body.data).toHaveLength(3);
      const reads = (table: string) => asked.filter((name) => name === table).length;
      expect(list.mock.calls.filter(([{ from }]) => from?.startsWith("C|"))).toHaveLength(1);
      expect(reads("accounts")).toBe(2);
    } finally {
      list.mockRestore();
      await relay.stop();
    }
  });
});
