import { boundedLinked } from "../setup/bounded.ts";
import { describe, expect, test } from "vitest";
import { chargeTogether } from "../../src/shared/ledger/ledger.ts";
import { linkAccount } from "../../src/shared/connections/link-account.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import {
  aLinkedAccount,
  anApplication,
  aPlatform,
  dataOf,
  type TestApplication,
} from "../setup/factories.ts";
import { aPublisher, unique, uniqueKey } from "../setup/publisher.ts";
import { startRelay } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { enqueueDuePosts } from "../setup/walks.ts";
import { aCharge } from "../setup/a-charge.ts";

const DAY = 24 * 60 * 60_000;

const { relay } = useSandboxedRelay();

/** What the application was told, fanned out and all. */
async function told({ key }: Pick<TestApplication, "key">, type: string) {
  await relay.drain();
  relay.advance(16_000);
  const events = dataOf(await relay.call("GET", "/v1/events?limit=100", { key }));
  return events.filter((event: { type: string }) => event.type === type);
}

const spend = (platformId: string, tokens: number) =>
  chargeTogether(relay.services.ledger, platformId, [aCharge(uniqueKey(), tokens)]);

const budget = (application: TestApplication, dailyTokenBudget: number) =>
  relay.call("PATCH", "/v1/billing/limits", { key: application.key, body: { dailyTokenBudget } });

describe("a wallet that falls below the mark", () => {
  test("a wallet's fall below the mark is reported to every application of the platform, once for each fall", async () => {
    const platform = await aPlatform(relay, { tokens: 150 });
    const first = await anApplication(relay, platform);
    const second = await anApplication(relay, platform);
    await spend(platform.id, 50);
    expect(await told(first, "billing.balance_low")).toEqual([]);
    await spend(platform.id, 1);
    await spend(platform.id, 10);
    for (const application of [first, second])
      expect(await told(application, "billing.balance_low")).toMatchObject([
        {
          applicationId: application.id,
          profileId: null,
          sequence: null,
          data: { balance: { tokenBalance: 99, tokenReserved: 0, available: 99 } },
        },
      ]);
    const credit = { operator: ["Admin"], body: { platformId: platform.id, tokens: 100 } };
    dataOf(await relay.call("POST", "/v1/billing/admin/credit", credit));
    await spend(platform.id, 100);
    expect(await told(first, "billing.balance_low")).toHaveLength(2);
  });

  test("a wallet's fall below the mark by a reservation counts as well", async () => {
    const platform = await aPlatform(relay, { tokens: 105 });
    const publisher = await aPublisher(relay, ["bluesky"], platform);
    const body = { text: unique("Low"), platforms: ["bluesky"] };
    const post = await publisher.accept(body);
    await publisher.settle(post.id);
    expect(await told(publisher, "billing.balance_low")).toMatchObject([
      { data: { balance: { tokenBalance: 105, tokenReserved: 10, available: 95 } } },
    ]);
  });
});

describe("a wallet that falls below the mark again and again", () => {
  test("a wallet that is taken below the mark again and again by legs that fail is reported once an hour", async () => {
    const platform = await aPlatform(relay, { tokens: 105 });
    const publisher = await aPublisher(relay, ["bluesky"], platform);
    const failed = async () => {
      const body = { text: unique("Low [fail:content_rejected]"), platforms: ["bluesky"] };
      const { id } = await publisher.accept(body);
      expect((await publisher.settle(id)).status).toBe("failed");
    };
    for (let post = 0; post < 4; post += 1) await failed();
    expect(await told(publisher, "billing.balance_low")).toHaveLength(1);
    relay.advance(60 * 60_000);
    await failed();
    expect(await told(publisher, "billing.balance_low")).toHaveLength(2);
  });
});

describe("a daily budget that refuses something", () => {
  test("a daily budget that refuses is reported once a day, however often and in whichever process", async () => {
    const application = await anApplication(relay);
    const { platform } = application;
    dataOf(await budget(application, 10));
    const refused = { code: "daily_budget_reached" };
    for (let index = 0; index < 3; index += 1)
      await expect(spend(platform.id, 11)).rejects.toMatchObject(refused);
    const other = await startRelay({ sameDeploymentAs: relay });
    const url = "https://hooks.example.com/";
    await budget(application, 4);
    const call = { key: application.key, body: { url } };
    expect(await other.call("POST", "/v1/webhooks", call)).toMatchObject({
      status: 402,
      body: { error: refused },
    });
    await other.stop();
    expect(await told(application, "billing.budget_reached")).toMatchObject([
      { data: { balance: { dailyTokenBudget: 10, usedToday: 0 } } },
    ]);
    relay.advance(DAY);
    await expect(spend(platform.id, 11)).rejects.toMatchObject(refused);
    expect(await told(application, "billing.budget_reached")).toHaveLength(2);
  });

  test("a daily budget that stops a scheduled post is reported", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const scheduleAt = new Date(relay.clock.now().getTime() + 10 * 60_000).toISOString();
    const body = { text: unique("Later"), platforms: ["bluesky"], scheduleAt };
    const post = await publisher.accept(body);
    dataOf(await budget(publisher.application, 5));
    relay.advance(11 * 60_000);
    await enqueueDuePosts(relay.services);
    await relay.drain();
    expect(await publisher.settle(post.id)).toMatchObject({ status: "failed" });
    expect(await told(publisher, "billing.budget_reached")).toHaveLength(1);
  });

  test("a daily budget is not reported if only the wallet is short", async () => {
    const platform = await aPlatform(relay, { tokens: 5 });
    const application = await anApplication(relay, platform);
    await expect(spend(platform.id, 6)).rejects.toMatchObject({ code: "insufficient_tokens" });
    expect(await told(application, "billing.budget_reached")).toEqual([]);
  });
});

describe("a connection", () => {
  test("a connection has an event when it is linked, and so has the replaced account when it is removed", async () => {
    const { application, key, profileId } = await aPublisher(relay, []);
    const path = `/v1/profiles/${profileId}/connect/sessions`;
    const link = async (linked: LinkedAccount) => {
      const { id } = dataOf(await relay.call("POST", path, { key, body: {} }));
      const session = await relay.services.connections.stores.connectSessions.find({
        platformId: application.platform.id,
        id,
      });
      if (session === undefined) throw new Error("no session");
      const linking = {
        session,
        network: "bluesky",
        linked: boundedLinked(linked),
        requestId: "req_test",
      } as const;
      const result = await linkAccount(relay.services.connections, linking);
      if (result.kind !== "linked") throw new Error(`not linked: ${result.kind}`);
      return result.connection;
    };
    const first = await link(aLinkedAccount("did:plc:first"));
    expect(await told(application, "connection.linked")).toMatchObject([
      { profileId, data: { connection: { id: first.id, status: "active" } } },
    ]);
    const second = await link(aLinkedAccount("did:plc:second"));
    expect(await told(application, "connection.linked")).toMatchObject([
      {},
      { data: { connection: { id: second.id, status: "active" } } },
    ]);
    const removed = await told(application, "connection.removed");
    expect(removed).toMatchObject([{ data: { connection: { id: first.id, status: "revoked" } } }]);
    expect(JSON.stringify(removed)).not.toContain("credentials");
  });

  test("a removed connection has one event", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const { key, profileId } = publisher;
    const base = `/v1/profiles/${profileId}/connections`;
    const [connection] = dataOf(await relay.call("GET", base, { key }));
    dataOf(await relay.call("DELETE", `${base}/${connection.id}`, { key }));
    dataOf(await relay.call("DELETE", `${base}/${connection.id}`, { key }));
    expect(await told(publisher, "connection.removed")).toMatchObject([
      { profileId, data: { connection: { id: connection.id, status: "revoked" } } },
    ]);
  });

  test("a connection that the network refuses has one event, with the reason", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const text = `${unique("Refused")} [fail:connection_needs_reauth]`;
    const body = { text, platforms: ["mastodon"] };
    const post = await publisher.accept(body);
    expect(await publisher.settle(post.id)).toMatchObject({
      legs: [{ error: { code: "connection_needs_reauth" } }],
    });
    expect(await told(publisher, "connection.needs_reauth")).toMatchObject([
      {
        profileId: publisher.profileId,
        data: {
          connection: {
            platform: "mastodon",
            status: "needs_reauth",
            lastError: { code: "connection_needs_reauth" },
          },
        },
      },
    ]);
  });
});
