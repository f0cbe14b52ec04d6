import { beforeAll, describe, expect, test, vi } from "vitest";
import { idempotencyRowKey, toAcceptedRow } from "../../src/shared/publishing/idempotency-store.ts";
import { reconcileWallet } from "../../src/shared/ledger/reconcile-wallet.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import type { Tables } from "../../src/shared/runtime/storage/tables.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique, uniqueKey } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { purgeExpired } from "../setup/walks.ts";

/** A run looks into some five hundred partitions. */
vi.setConfig({ testTimeout: 90_000 });

const DAY = 24 * 60 * 60_000;
/** What a receiver of webhooks answers. */
const taken = {
  status: 200,
  headers: {},
  body: Buffer.alloc(0),
  text: () => "",
  json: () => undefined,
};
let tables: Tables;

const { relay, sandbox } = useSandboxedRelay();
beforeAll(async () => {
  tables = relay.tables;
  const { outbound } = relay.services.connections;
  const request = outbound.request.bind(outbound);
  outbound.request = (asked) =>
    asked.url.endsWith("/hook") ? Promise.resolve(taken) : request(asked);
});

async function keysOf(table: keyof Tables, partitionKey: string, prefix = "") {
  const range = { partitionKey, from: prefix === "" ? " " : prefix, limit: 1_000 };
  const rows = await tables[table].list(range);
  return rows.map(({ row }) => row.rowKey).filter((rowKey) => rowKey.startsWith(prefix));
}

async function anEndpoint(key: string): Promise<string> {
  const body = { url: `https://${sandbox.hosts[0]}/hook`, events: ["*"] };
  return dataOf(await relay.call("POST", "/v1/webhooks", { key, body })).id as string;
}

/** A post that was published, one that waits for its time, a charge, an endpoint with deliveries. */
async function aPast() {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { key } = publisher;
  const endpointId = await anEndpoint(key);
  const [doneKey, dueKey] = [uniqueKey(), uniqueKey()];
  const done = { text: unique("Done"), platforms: ["bluesky"] };
  const first = await publisher.accept(done, doneKey);
  await publisher.settle(first.id);
  const scheduleAt = new Date(relay.clock.now().getTime() + 200 * DAY).toISOString();
  const later = { text: unique("Later"), platforms: ["bluesky"], scheduleAt };
  await publisher.accept(later, dueKey);
  dataOf(await publisher.call("POST", "/v1/posts/validate", { body: done }));
  const session = { body: { profileId: publisher.profileId }, key };
  await relay.call("POST", "/v1/connect/sessions", session);
  await relay.drain();
  return { publisher, endpointId, doneKey, dueKey, done, postId: first.id as string };
}

/** A key of a post that is gone with its profile, as an erasure might leave one. */
async function aKeyOfNothing(platformId: string): Promise<void> {
  const accepted = {
    fingerprint: "f",
    postId: newId("post", relay.clock.now()),
    profileId: newId("profile", relay.clock.now()),
    httpStatus: 202,
  };
  const row = toAcceptedRow(
    idempotencyRowKey(uniqueKey()),
    accepted,
    relay.clock.now().toISOString(),
  );
  await tables.core.put(platformId, row);
}

/** Runs it, and answers how many rows of which kind were removed. */
async function purge(): Promise<Record<string, number>> {
  const from = relay.logLines.length;
  await purgeExpired(relay.services);
  const removed: Record<string, number> = {};
  for (const line of relay.logLines.slice(from)) {
    const said = JSON.parse(line) as { message: string; walk: string; removed: number };
    if (said.message !== "walk ended") continue;
    const kind = said.walk.replace(/^purge-/, "");
    removed[kind] = (removed[kind] ?? 0) + said.removed;
  }
  return removed;
}

describe("the purge", () => {
  test("removes what is promised to nobody any more, and nothing that open work or the ledger needs", async () => {
    const { publisher, endpointId, doneKey, dueKey } = await aPast();
    const { platformId, applicationId } = publisher.owner;
    const { services } = relay;
    await aKeyOfNothing(platformId);
    const before = {
      ledger: await keysOf("core", platformId, "L|"),
      posts: await keysOf("core", platformId, "P|"),
      events: await keysOf("events", applicationId),
      deliveries: await keysOf("deliveries", endpointId, "D|"),
    };
    expect(before.events.length).toBeGreaterThan(2);
    expect(before.deliveries.length).toBeGreaterThan(2);

    expect(await purge()).toEqual({});

    // Visitors of a connect page name any server.
    const { hosts } = services.connections.stores;
    await hosts.save("mastodon", "made-up-1.example.com", { clientId: "1" });
    relay.advance(30 * DAY);
    await hosts.save("mastodon", "made-up-2.example.com", { clientId: "2" });

    relay.advance(65 * DAY);
    const removed = await purge();
    expect(removed).toMatchObject({ "idempotency-keys": 1, texts: 1 });
    expect(removed["hosts"]).toBeGreaterThan(0);
    expect(await hosts.find("mastodon", "made-up-1.example.com")).toBeUndefined();
    expect(await hosts.find("mastodon", "made-up-2.example.com")).toEqual({ clientId: "2" });
    expect(
      removed["markers"],
      JSON.stringify(await keysOf("core", platformId, "O|")),
    ).toBeGreaterThan(0);
    expect(await keysOf("events", applicationId)).toEqual([]);
    expect(await keysOf("deliveries", endpointId, "D|")).toEqual([]);
    // Posts keep their keys, whose repeats answer with them.
    const kept = [doneKey, dueKey].map(idempotencyRowKey).toSorted();
    expect(await keysOf("core", platformId, "I|")).toEqual(kept);
    expect(await keysOf("core", platformId, "L|")).toEqual(before.ledger);
    expect(await keysOf("core", platformId, "P|")).toEqual(before.posts);
    expect(await reconcileWallet(services.ledger, platformId)).toEqual([]);

    expect(await purge()).toEqual({});
  });

  test("keeps the young, and credits' references for ever", async () => {
    const { publisher, endpointId } = await aPast();
    const { platformId, applicationId } = publisher.owner;
    const credit = { platformId, tokens: 5, reference: unique("invoice") };
    const give = () =>
      relay.call("POST", "/v1/billing/admin/credit", { operator: ["Admin"], body: credit });
    const first = dataOf(await give());
    relay.advance(29 * DAY);
    const events = await keysOf("events", applicationId);
    const deliveries = await keysOf("deliveries", endpointId, "D|");
    await purgeExpired(relay.services);
    expect(await keysOf("events", applicationId)).toEqual(events);
    expect(await keysOf("deliveries", endpointId, "D|")).toEqual(deliveries);
    relay.advance(400 * DAY);
    await purgeExpired(relay.services);
    const again = dataOf(await give());
    expect(again.entry.id).toBe(first.entry.id);
    expect(again.tokenBalance).toBe(first.tokenBalance);
  });

  test("a request that is repeated after years answers with its post, and publishes nothing", async () => {
    const { publisher, doneKey, done, postId } = await aPast();
    relay.advance(1_000 * DAY);
    await purgeExpired(relay.services);
    const published = sandbox.posts().length;
    const again = await publisher.submit(done, doneKey);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(dataOf(again).id).toBe(postId);
    await relay.drain();
    expect(sandbox.posts().length).toBe(published);
  });

  test("keeps the keys of a post whose profile's row can't be read", async () => {
    const { publisher, doneKey, dueKey } = await aPast();
    const { platformId } = publisher.owner;
    const rows = await keysOf("core", platformId, "F|");
    for (const rowKey of rows) await tables.core.put(platformId, { rowKey, title: "damaged" });
    relay.advance(2 * DAY);
    await purgeExpired(relay.services);
    const kept = [doneKey, dueKey].map(idempotencyRowKey).toSorted();
    expect(await keysOf("core", platformId, "I|")).toEqual(kept);
  });

  test("finds the deliveries of an endpoint that was deleted", async () => {
    const { publisher, endpointId } = await aPast();
    await relay.call("DELETE", `/v1/webhooks/${endpointId}`, { key: publisher.key });
    relay.advance(32 * DAY);
    await purgeExpired(relay.services);
    expect(await keysOf("deliveries", endpointId, "D|")).toEqual([]);
  });

  test("the purge that storage interrupts passes over the platform and says so, and the next run has it", async () => {
    const { publisher, endpointId } = await aPast();
    const { applicationId } = publisher.owner;
    relay.advance(100 * DAY);
    const { events } = relay.services.webhooks.stores;
    const removeLoggedBefore = events.removeLoggedBefore.bind(events);
    events.removeLoggedBefore = (id, time, after) => {
      if (id === applicationId) throw new Error("storage is away");
      return removeLoggedBefore(id, time, after);
    };
    await purge();
    events.removeLoggedBefore = removeLoggedBefore;
    const said = relay.logLines.filter((line) => line.includes("an item of a walk failed"));
    expect(said).toEqual([expect.stringContaining(publisher.owner.platformId)]);
    expect(await keysOf("events", applicationId)).not.toEqual([]);
    expect(await keysOf("deliveries", endpointId, "D|")).toEqual([]);
    await purge();
    expect(await keysOf("events", applicationId)).toEqual([]);
  });
});
