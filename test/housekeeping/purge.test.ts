import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Sandbox } from "../../dev/networks/server.ts";
import { purgeExpired } from "../../src/shared/background/purge-expired.ts";
import { idempotencyRowKey } from "../../src/shared/publishing/idempotency-store.ts";
import { reconcilePlatform } from "../../src/shared/background/reconcile-wallet.ts";
import type { Tables } from "../../src/shared/runtime/storage/tables.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, settlePost, submitPost, unique, uniqueKey } from "../setup/publisher.ts";
import type { Relay } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

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
let sandbox: Sandbox;
let relay: Relay;
let tables: Tables;

useSandboxedRelay((started) => {
  ({ relay, sandbox } = started);
});
beforeAll(async () => {
  tables = relay.tables;
  const { outbound } = relay.services;
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

/** A post that went out, one that waits for its time, a charge, an endpoint with deliveries. */
async function aPast() {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { key, headers } = publisher;
  const endpointId = await anEndpoint(key);
  const [doneKey, dueKey] = [uniqueKey(), uniqueKey()];
  const done = { text: unique("Done"), platforms: ["bluesky"] };
  const first = dataOf(await submitPost(relay, publisher, done, doneKey));
  await settlePost(relay, publisher, first.id);
  const scheduleAt = new Date(relay.clock.now().getTime() + 200 * DAY).toISOString();
  const later = { text: unique("Later"), platforms: ["bluesky"], scheduleAt };
  dataOf(await submitPost(relay, publisher, later, dueKey));
  dataOf(await relay.call("POST", "/v1/posts/validate", { key, headers, body: done }));
  const session = { body: { profileId: publisher.profileId }, key };
  await relay.call("POST", "/v1/connect/sessions", session);
  await relay.drain();
  return { publisher, endpointId, doneKey, dueKey };
}

const counts = () => JSON.parse(relay.logLines.at(-1) ?? "{}");

describe("the purge", () => {
  test("removes what is promised to nobody any more, and nothing that open work or the ledger needs", async () => {
    const { publisher, endpointId, doneKey, dueKey } = await aPast();
    const { platformId, applicationId } = publisher.owner;
    const { services } = relay;
    await services.housekeeping.recordPoison("publish-legs", "{}", relay.clock.now());
    const before = {
      ledger: await keysOf("core", platformId, "L|"),
      posts: await keysOf("core", platformId, "P|"),
      due: await keysOf("core", platformId, "I|"),
      events: await keysOf("events", applicationId),
      deliveries: await keysOf("deliveries", endpointId, "D|"),
    };
    expect(before.events.length).toBeGreaterThan(2);
    expect(before.deliveries.length).toBeGreaterThan(2);

    await purgeExpired(services);
    expect(counts()).toMatchObject({
      isComplete: true,
      events: 0,
      deliveries: 0,
      idempotencyKeys: 0,
    });

    relay.advance(95 * DAY);
    await purgeExpired(services);
    expect(counts()).toMatchObject({
      event: "purged",
      isComplete: true,
      idempotencyKeys: 1,
      poisonMessages: 1,
      texts: 1,
    });
    expect(
      counts().markers,
      JSON.stringify(await keysOf("core", platformId, "O|")),
    ).toBeGreaterThan(0);
    expect(await keysOf("events", applicationId)).toEqual([]);
    expect(await keysOf("deliveries", endpointId, "D|")).toEqual([]);
    // The post that is still to go out keeps its key, whose repeat answers with it.
    expect(await keysOf("core", platformId, "I|")).toEqual([idempotencyRowKey(dueKey)]);
    expect(doneKey).not.toBe(dueKey);
    expect(await keysOf("core", platformId, "L|")).toEqual(before.ledger);
    expect(await keysOf("core", platformId, "P|")).toEqual(before.posts);
    expect(await reconcilePlatform(services, platformId)).toEqual([]);

    await purgeExpired(services);
    expect(counts()).toMatchObject({ isComplete: true, idempotencyKeys: 0, markers: 0, texts: 0 });
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

  test("finds the deliveries of an endpoint that was deleted", async () => {
    const { publisher, endpointId } = await aPast();
    await relay.call("DELETE", `/v1/webhooks/${endpointId}`, { key: publisher.key });
    relay.advance(32 * DAY);
    await purgeExpired(relay.services);
    expect(await keysOf("deliveries", endpointId, "D|")).toEqual([]);
  });

  test("that storage interrupts leaves the rest to the next run, and says so", async () => {
    const { publisher } = await aPast();
    const { applicationId } = publisher.owner;
    relay.advance(100 * DAY);
    const { events } = relay.services;
    const removeLoggedBefore = events.removeLoggedBefore.bind(events);
    let calls = 0;
    events.removeLoggedBefore = (id, time, after) => {
      calls += 1;
      if (calls % 2 === 1) throw new Error("storage is away");
      return removeLoggedBefore(id, time, after);
    };
    await purgeExpired(relay.services);
    events.removeLoggedBefore = removeLoggedBefore;
    expect(counts()).toMatchObject({ isComplete: false });
    expect(relay.logLines.some((line) => line.includes('"purge_failed"'))).toBe(true);
    await purgeExpired(relay.services);
    expect(counts()).toMatchObject({ isComplete: true });
    expect(await keysOf("events", applicationId)).toEqual([]);
  });
});
