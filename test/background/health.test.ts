import { describe, expect, test } from "vitest";
import { DEMO_HANDLE } from "../../sandbox/bluesky/state.ts";
import { STRICT_HOST } from "../../sandbox/mastodon/state.ts";
import { checkAccount } from "../../src/shared/connections/check-account.ts";
import { HttpFailure, type HttpResponse } from "../../src/shared/runtime/http-call.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { linkSandboxAccount } from "../setup/sandbox-accounts.ts";
import { aLinkedOwner, calls, openWholeWorld, passDays, toldTypes } from "./accounts.ts";
import { checkAccounts } from "../setup/walks.ts";
import { connectionOf } from "../setup/stored.ts";
import { forTest } from "../setup/for-file.ts";

const world = forTest(() => openWholeWorld());

function answerOf(status: number, body: string, type = "application/json"): HttpResponse {
  const bytes = Buffer.from(body);
  return {
    status,
    headers: { "content-type": type },
    body: bytes,
    text: () => body,
    json: () => {
      try {
        return JSON.parse(body) as unknown;
      } catch {
        return undefined;
      }
    },
  };
}

describe("credentials of accounts that nobody publishes to", () => {
  const REFRESH = "refresh_access_token";

  test("an Instagram token is renewed at day 30, again and again, so that it never ends", async () => {
    const { owner, connection } = await aLinkedOwner(world, "instagram");
    await passDays(world, 29);
    expect(calls(world, REFRESH)).toHaveLength(0);
    await passDays(world, 2);
    expect(calls(world, REFRESH)).toHaveLength(1);
    const renewed = await connectionOf(world.services, owner, "instagram");
    expect(renewed.generation).toBe(connection.generation + 1);
    expect(Date.parse(renewed.expiresAt ?? "")).toBeGreaterThan(
      Date.parse(connection.expiresAt ?? ""),
    );
    await passDays(world, 60);
    expect((await connectionOf(world.services, owner, "instagram")).status).toBe("active");
    expect(calls(world, REFRESH).length).toBeLessThanOrEqual(3);
    expect(await toldTypes(world, owner)).toEqual([]);
  });

  test("a renewal that fails is tried every day until it succeeds", async () => {
    const { owner } = await aLinkedOwner(world, "instagram");
    await passDays(world, 29);
    let tries = 0;
    world.intercept(async (request, send) => {
      if (!request.url.includes(REFRESH)) return await send(request);
      tries += 1;
      throw new HttpFailure("not_sent", "connect_failed");
    });
    await passDays(world, 5);
    expect(tries).toBeGreaterThanOrEqual(3);
    world.intercept(undefined);
    await passDays(world, 1);
    expect((await connectionOf(world.services, owner, "instagram")).generation).toBe(2);
  });

  test("a Bluesky session outlives its refresh token's 90 days, by one renewal a week", async () => {
    const { owner } = await aLinkedOwner(world, "bluesky");
    await passDays(world, 120);
    expect((await connectionOf(world.services, owner, "bluesky")).status).toBe("active");
    const renewals = calls(world, "refreshSession").length;
    expect(renewals).toBeGreaterThanOrEqual(4);
    expect(renewals).toBeLessThanOrEqual(18);
  });

  test.each(["instagram", "bluesky"] as const)(
    "two instances that look at one %s account at once renew it once",
    async (network) => {
      const { owner, connection } = await aLinkedOwner(world, network);
      const other = await world.anotherProcess();
      world.relay.advance(31 * 24 * 3_600_000);
      await Promise.all(
        [world.services, other, world.services, other].map((services) =>
          checkAccount(services.connections, connection),
        ),
      );
      expect(calls(world, network === "instagram" ? REFRESH : "refreshSession")).toHaveLength(1);
      expect((await connectionOf(world.services, owner, network)).generation).toBe(2);
    },
  );
});

describe("accounts that were taken back", () => {
  const REVOKE: Partial<Record<NetworkName, () => void>> = {
    facebook: () => world.sandbox.networks.facebook.revokeToken(),
    instagram: () => world.sandbox.networks.instagram.revokeToken(),
    bluesky: () => world.sandbox.networks.bluesky.revokeAppPasswords(DEMO_HANDLE),
    mastodon: () => world.sandbox.networks.mastodon.revokeTokens(STRICT_HOST),
  };

  test.each(["facebook", "instagram", "bluesky", "mastodon"] as const)(
    "accounts taken back at %s are found, reported once, tried for a week",
    async (network) => {
      const { owner } = await aLinkedOwner(world, network);
      await passDays(world, 1);
      REVOKE[network]?.();
      await passDays(world, 8);
      expect(await connectionOf(world.services, owner, network)).toMatchObject({
        status: "needs_reauth",
        lastError: { code: "connection_needs_reauth" },
      });
      expect(await toldTypes(world, owner)).toEqual(["connection.needs_reauth"]);
      await passDays(world, 8);
      const before = world.sandbox.requests().length;
      await passDays(world, 8);
      expect(world.sandbox.requests().length).toBe(before);
      expect(await toldTypes(world, owner)).toEqual(["connection.needs_reauth"]);
    },
  );

  test.each(["facebook", "mastodon"] as const)(
    "accounts published to lately are not asked about at %s",
    async (network) => {
      const { owner } = await aLinkedOwner(world, network);
      const asked = () =>
        world.sandbox.requests().filter(({ path }) => !/\/instance|\/debug_token/.test(path))
          .length;
      const before = asked();
      for (let day = 0; day < 5; day += 1) {
        await passDays(world, 1);
        await world.services.connections.stores.connections.recordUse(
          await connectionOf(world.services, owner, network),
        );
      }
      expect(asked()).toBe(before);
      await passDays(world, 4);
      expect(asked()).toBe(before + 1);
    },
  );
});

describe("a network that tells nothing", () => {
  const NOTHING: readonly (readonly [string, () => Promise<HttpResponse>])[] = [
    ["is not there", () => Promise.reject(new HttpFailure("not_sent", "connect_failed"))],
    ["does not answer", () => Promise.reject(new HttpFailure("in_doubt", "timeout"))],
    ["is down", () => Promise.resolve(answerOf(503, "{}"))],
    ["answers a proxy's page", () => Promise.resolve(answerOf(502, "<html></html>", "text/html"))],
    [
      "answers a firewall's page",
      () => Promise.resolve(answerOf(403, "<html>no</html>", "text/html")),
    ],
    ["is asked too often", () => Promise.resolve(answerOf(429, "{}"))],
    ["answers nonsense", () => Promise.resolve(answerOf(200, "no JSON"))],
  ];

  test.each(NOTHING)("because it %s changes nothing of any account", async (_what, nothing) => {
    const networks = ["facebook", "instagram", "linkedin", "bluesky", "mastodon"] as const;
    const all = [];
    for (const network of networks) all.push(await aLinkedOwner(world, network));
    world.intercept(nothing);
    // Instagram's token and Bluesky's session are due for renewal, the others for a look.
    world.relay.advance(31 * 24 * 3_600_000);
    await checkAccounts(world.services);
    for (const { owner, connection } of all) {
      const now = await connectionOf(world.services, owner, connection.network);
      expect(now, connection.network).toEqual(connection);
      expect(await toldTypes(world, owner)).toEqual([]);
    }
  });
});

describe("an end that nobody can put off", () => {
  test("an end that nobody can put off is warned of once, a week ahead, and told about when it comes", async () => {
    const { owner, connection } = await aLinkedOwner(world, "linkedin");
    await passDays(world, 52);
    expect(await toldTypes(world, owner)).toEqual([]);
    await passDays(world, 1);
    expect(await toldTypes(world, owner)).toEqual(["connection.expiring"]);
    await passDays(world, 5);
    expect(await toldTypes(world, owner)).toEqual(["connection.expiring"]);
    expect((await connectionOf(world.services, owner, "linkedin")).status).toBe("active");
    await passDays(world, 3);
    expect((await connectionOf(world.services, owner, "linkedin")).status).toBe("needs_reauth");
    expect(await toldTypes(world, owner)).toEqual([
      "connection.expiring",
      "connection.needs_reauth",
    ]);
    const event = await world.relay.call("GET", "/v1/events?limit=1", { key: owner.key });
    expect(event.body.data[0].data.connection).toMatchObject({
      id: connection.id,
      status: "active",
      expiresAt: connection.expiresAt,
    });
  });

  test("an end that nobody can put off is warned of again when the account was linked again", async () => {
    const { owner, connection } = await aLinkedOwner(world, "linkedin");
    await passDays(world, 54);
    expect(await toldTypes(world, owner)).toEqual(["connection.expiring"]);
    await linkSandboxAccount(world.services, owner, "linkedin", { id: connection.id });
    // The list goes back for 30 days.
    await passDays(world, 40);
    expect(await toldTypes(world, owner)).toEqual([]);
    await passDays(world, 14);
    expect(await toldTypes(world, owner)).toEqual(["connection.expiring"]);
  });
});

describe("limits that a network told", () => {
  test("limits that a network told about an Instagram account are read daily and hold for its quota", async () => {
    const { owner } = await aLinkedOwner(world, "instagram");
    world.sandbox.networks.instagram.setQuotaTotal(25);
    await passDays(world, 1);
    expect((await connectionOf(world.services, owner, "instagram")).limits).toEqual({
      postsPerDayMax: 25,
    });
    const path = `/v1/profiles/${owner.profileId}/connections`;
    const { body } = await world.relay.call("GET", path, { key: owner.key });
    expect(body.data[0].quota).toEqual({ used: 0, limit: 25, remaining: 25, resetsAt: null });
  });

  test("limits that a network told about a Mastodon server are read daily, once for all of its accounts", async () => {
    const owners = [await aLinkedOwner(world, "mastodon"), await aLinkedOwner(world, "mastodon")];
    let reads = 0;
    world.intercept(async (request, send) => {
      const response = await send(request);
      if (!request.url.endsWith("/api/v2/instance")) return response;
      reads += 1;
      // Safe: the sandbox answers an instance.
      const instance = response.json() as { configuration: { statuses: object } };
      const statuses = { ...instance.configuration.statuses, max_characters: 11_000 };
      const configuration = { ...instance.configuration, statuses };
      return answerOf(200, JSON.stringify({ ...instance, configuration }));
    });
    await passDays(world, 1);
    expect(reads).toBe(1);
    for (const { owner } of owners)
      expect((await connectionOf(world.services, owner, "mastodon")).limits).toMatchObject({
        charactersMax: 11_000,
      });
  });
});
