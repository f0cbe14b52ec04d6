import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deliverWebhook } from "../../src/shared/webhooks/deliveries/deliver-webhook.ts";
import { anApplication, aPlatform, dataOf } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { replaceIn } from "../setup/replace-in.ts";
import { findForgottenWork, sweepStalledLegs } from "../setup/walks.ts";
import { ok, startReceiver, status, type Receiver } from "./receiver.ts";
import { anEndpoint, deliveriesOf, happen, type TestEndpoint } from "./subscriber.ts";

const HOUR = 60 * 60_000;
let receiver: Receiver;
let relay: Relay;
/** Another process of the deployment. */
let instance: Relay;

beforeAll(async () => {
  receiver = await startReceiver();
  // One attempt and one more: what fails twice is dead.
  const settings = { ...receiver.settings, WEBHOOK_RETRY_SECONDS: "1" };
  relay = await startRelay({ settings });
  instance = await startRelay({ sameDeploymentAs: relay });
});
afterAll(async () => {
  await Promise.all([relay.stop(), instance.stop(), receiver.stop()]);
});

async function settle(): Promise<void> {
  await relay.drain();
  relay.advance(2_000);
  await relay.drain();
}

/** An endpoint with so many dead deliveries, whose receiver is well again. */
async function withDead(count: number, of?: TestEndpoint["application"]): Promise<TestEndpoint> {
  const endpoint = await anEndpoint(relay, receiver, of);
  receiver.behave(endpoint.path, status(500));
  for (let index = 0; index < count; index += 1) await happen(relay, endpoint.application);
  await settle();
  receiver.behave(endpoint.path, ok);
  return endpoint;
}

/** Makes so many more of an endpoint's dead delivery. */
async function copyDead(endpoint: TestEndpoint, count: number): Promise<void> {
  const [dead] = await deliveriesOf(relay, endpoint);
  const { deliveries, deadDeliveries, pending } = relay.services.webhooks.stores;
  const stored = await deliveries.find({ endpointId: endpoint.id, deliveryId: dead.id });
  if (stored === undefined) throw new Error("no delivery");
  const { delivery } = stored;
  // Its own id may end in digits: the copies' ids differ from it before them.
  const stem = `${delivery.id.slice(0, -5)}${delivery.id.at(-5) === "0" ? "1" : "0"}`;
  const copies = Array.from({ length: count }, (_, index) => ({
    ...delivery,
    id: `${stem}${String(index).padStart(4, "0")}`,
  }));
  await Promise.all(copies.map((copy) => deadDeliveries.add(copy, copy.diedAt ?? "")));
  expect(await pending.insertAbsent(endpoint.id, copies)).toHaveLength(copies.length);
}

const redrive = (endpoint: TestEndpoint, deliveryId: string) =>
  relay.call("POST", `/v1/webhooks/${endpoint.id}/deliveries/${deliveryId}/redrive`, {
    key: endpoint.application.key,
  });
const redriveDead = (body: object, on: Relay = relay) =>
  on.call("POST", "/v1/admin/webhooks/redrive-dead", { operator: ["Admin"], body });

describe("a redrive", () => {
  test("a redrive sends a dead delivery's event again, as a delivery of its own", async () => {
    const endpoint = await withDead(1);
    const [dead] = await deliveriesOf(relay, endpoint);
    expect(dead).toMatchObject({ status: "dead", attempts: 2 });
    const answer = await redrive(endpoint, dead.id);
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toMatchObject({
      eventId: dead.eventId,
      eventType: dead.eventType,
      redriveOf: dead.id,
      status: "pending",
      attempts: 0,
    });
    await settle();
    const [again, before] = await deliveriesOf(relay, endpoint);
    expect(again).toMatchObject({ id: dataOf(answer).id, status: "succeeded", attempts: 1 });
    expect(before).toEqual(dead);
    const calls = receiver.received(endpoint.path);
    expect(new Set(calls.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(calls.map(({ body }) => body)).size).toBe(1);
    expect(calls.at(-1)?.headers["x-social-restapi-delivery"]).toBe(again.id);
  });

  test("a redrive of a succeeded delivery is possible, as often as its owner likes", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    await happen(relay, endpoint.application);
    await settle();
    const [delivery] = await deliveriesOf(relay, endpoint);
    dataOf(await redrive(endpoint, delivery.id));
    dataOf(await redrive(endpoint, delivery.id));
    await settle();
    expect(receiver.received(endpoint.path)).toHaveLength(3);
  });

  test("a redrive of a pending delivery, or to a disabled endpoint, is refused", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    receiver.behave(endpoint.path, status(500));
    await happen(relay, endpoint.application);
    await relay.drain();
    const [pending] = await deliveriesOf(relay, endpoint);
    const refused = { status: 409, body: { error: { code: "invalid_state" } } };
    expect(await redrive(endpoint, pending.id)).toMatchObject(refused);
    await settle();
    const call = { key: endpoint.application.key, body: { status: "disabled" } };
    dataOf(await relay.call("PATCH", `/v1/webhooks/${endpoint.id}`, call));
    expect(await redrive(endpoint, pending.id)).toMatchObject(refused);
  });

  test("a redrive of a delivery of another endpoint or application, or of none, is not found", async () => {
    const endpoint = await withDead(1);
    const other = await anEndpoint(relay, receiver, endpoint.application);
    const foreign = await anEndpoint(relay, receiver);
    const [dead] = await deliveriesOf(relay, endpoint);
    const unknown = `dlv_${"0".repeat(26)}`;
    for (const [at, id] of [
      [other, dead.id],
      [foreign, dead.id],
      [endpoint, unknown],
      [endpoint, "nonsense"],
    ] as const)
      expect(await redrive(at, id)).toMatchObject({ status: 404 });
    const path = `/v1/webhooks/${endpoint.id}/deliveries/${dead.id}/redrive`;
    const byForeign = await relay.call("POST", path, { key: foreign.application.key });
    expect(byForeign.status).toBe(404);
  });
});

describe("the operators' redrive", () => {
  const counts = async (body: object, on?: Relay) => dataOf(await redriveDead(body, on));

  test("the operators' redrive sends dead deliveries again, and finds none the second time", async () => {
    const endpoint = await withDead(3);
    const body = { webhookId: endpoint.id };
    expect(await counts(body)).toEqual({ scanned: 3, requeued: 3, skipped: 0, nextCursor: null });
    expect(await counts(body)).toEqual({ scanned: 0, requeued: 0, skipped: 0, nextCursor: null });
    await settle();
    expect(receiver.received(endpoint.path)).toHaveLength(9);
    const deliveries = await deliveriesOf(relay, endpoint);
    expect(deliveries.filter((delivery) => delivery.status === "succeeded")).toHaveLength(3);
  });

  test("the operators' redrive takes only deliveries that its filter names", async () => {
    const one = await withDead(1);
    const two = await withDead(2);
    relay.advance(HOUR);
    const since = relay.clock.now().toISOString();
    const { platform } = two.application;
    const three = await withDead(1, await anApplication(relay, platform));
    const platformId = platform.id;
    expect(await counts({ platformId, since })).toMatchObject({ requeued: 1 });
    expect(await counts({ platformId, webhookId: one.id })).toMatchObject({ scanned: 0 });
    expect(await counts({ platformId })).toMatchObject({ requeued: 2 });
    expect(await counts({ webhookId: one.id })).toMatchObject({ requeued: 1 });
    await settle();
    const received = [one, two, three].map(({ path }) => receiver.received(path).length);
    expect(received).toEqual([3, 6, 3]);
  });

  test("simultaneous operators' redrives send every delivery once", async () => {
    const platform = await aPlatform(relay);
    // Four each: of five failures in a row the next ones would wait.
    const endpoints: TestEndpoint[] = [];
    for (let index = 0; index < 5; index += 1)
      endpoints.push(await withDead(4, await anApplication(relay, platform)));
    const body = { platformId: platform.id };
    const answers = await Promise.all([
      counts(body),
      counts(body, instance),
      counts(body),
      counts(body, instance),
    ]);
    expect(answers.reduce((sum, { requeued }) => sum + requeued, 0)).toBe(20);
    await settle();
    await instance.drain();
    const received = endpoints.map(({ path }) => receiver.received(path).length);
    expect(received).toEqual(endpoints.map(() => 12));
    expect(await counts(body)).toMatchObject({ requeued: 0 });
  });

  test("the operators' redrive continues one that died after it had named the new delivery", async () => {
    const endpoint = await withDead(1);
    const [dead] = await deliveriesOf(relay, endpoint);
    const { deliveries } = relay.services.webhooks.stores;
    const stored = await deliveries.find({ endpointId: endpoint.id, deliveryId: dead.id });
    if (stored === undefined) throw new Error("no delivery");
    const redrivenAs = "dlv_01KJW2M3E8W0R7QK9V3C5T1XAB";
    await deliveries.writeIfUnchanged({ ...stored.delivery, redrivenAs }, stored.etag);
    expect(await counts({ webhookId: endpoint.id })).toMatchObject({ requeued: 1 });
    expect(await counts({ webhookId: endpoint.id })).toMatchObject({ requeued: 0 });
    await settle();
    expect(receiver.received(endpoint.path)).toHaveLength(3);
    expect((await deliveriesOf(relay, endpoint)).map(({ id }) => id)).toContain(redrivenAs);
  });

  test("the operators' redrive skips deliveries that the owner redrove, and disabled or deleted endpoints", async () => {
    const redriven = await withDead(1);
    const { application } = redriven;
    const [dead] = await deliveriesOf(relay, redriven);
    dataOf(await redrive(redriven, dead.id));
    const disabled = await withDead(1, application);
    const deleted = await withDead(1, application);
    const { key } = application;
    const disable = { key, body: { status: "disabled" } };
    dataOf(await relay.call("PATCH", `/v1/webhooks/${disabled.id}`, disable));
    dataOf(await relay.call("DELETE", `/v1/webhooks/${deleted.id}`, { key }));
    await settle();
    const calls = () =>
      [redriven, disabled, deleted].map(({ path }) => receiver.received(path).length);
    const before = calls();
    expect(await counts({ webhookId: redriven.id })).toMatchObject({ requeued: 0 });
    expect(await counts({ webhookId: deleted.id })).toEqual({
      scanned: 1,
      requeued: 0,
      skipped: 1,
      nextCursor: null,
    });
    expect(await counts({ webhookId: disabled.id })).toMatchObject({ requeued: 0, skipped: 1 });
    await settle();
    expect(calls()).toEqual(before);
    const enable = { key, body: { status: "active" } };
    dataOf(await relay.call("PATCH", `/v1/webhooks/${disabled.id}`, enable));
    expect(await counts({ webhookId: disabled.id })).toMatchObject({ requeued: 1 });
  });

  test("the operators' redrive takes 500 deliveries in a call, and the rest in the next calls", async () => {
    const endpoint = await withDead(1);
    await copyDead(endpoint, 519);
    const body = { webhookId: endpoint.id };
    // What is sent then is the other tests' matter.
    relay.queues.onSend = () => "lose";
    expect(await counts(body)).toEqual({
      scanned: 500,
      requeued: 500,
      skipped: 0,
      nextCursor: expect.any(String),
    });
    expect(await counts(body)).toMatchObject({ requeued: 20, nextCursor: null });
    expect(await counts(body)).toMatchObject({ scanned: 0 });
    relay.queues.onSend = () => "keep";
  }, 180_000);

  test("the operators' redrive gets past any number of dead deliveries, with the cursor of the previous call", async () => {
    const application = await anApplication(relay);
    const platformId = application.platform.id;
    const old = await withDead(1, application);
    relay.advance(HOUR);
    const disabled = await withDead(1, application);
    await copyDead(disabled, 1_200);
    const disable = { key: application.key, body: { status: "disabled" } };
    dataOf(await relay.call("PATCH", `/v1/webhooks/${disabled.id}`, disable));
    const first = await counts({ platformId });
    expect(first).toMatchObject({ scanned: 1_000, requeued: 0, skipped: 1_000 });
    // Without it each call begins with the newest.
    expect(await counts({ platformId })).toMatchObject({ requeued: 0 });
    const cursor = first.nextCursor;
    expect(await counts({ platformId, cursor })).toEqual({
      scanned: 202,
      requeued: 1,
      skipped: 201,
      nextCursor: null,
    });
    await settle();
    // Twice before, once more now, and the event of the other one.
    expect(receiver.received(old.path)).toHaveLength(4);
    const elsewhere = await redriveDead({ webhookId: old.id, cursor });
    expect(elsewhere).toMatchObject({ status: 400, body: { error: { code: "invalid_cursor" } } });
  }, 180_000);

  test("the operators' redrive skips a delivery whose row is damaged", async () => {
    const endpoint = await withDead(2);
    const [dead] = await deliveriesOf(relay, endpoint);
    const found = await relay.tables.deliveries.select({ partitionKey: endpoint.id }, undefined);
    const stored = found.rows.find(({ row }) => row.rowKey.endsWith(dead.id));
    if (stored === undefined) throw new Error("no row");
    await relay.tables.deliveries.put(endpoint.id, { ...stored.row, attempts: "two" });
    expect(await counts({ webhookId: endpoint.id })).toMatchObject({ requeued: 1, skipped: 1 });
  });
});

test("an event that has expired can't be sent: its delivery ends, and a redrive is refused", async () => {
  const endpoint = await withDead(1);
  const [dead] = await deliveriesOf(relay, endpoint);
  const { deliveries } = relay.services.webhooks.stores;
  const gone = relay.another();
  replaceIn(gone.webhooks.stores.events, () => ({
    find: () => Promise.resolve(undefined),
    findMany: () => Promise.resolve(new Map()),
  }));
  const answer = dataOf(await redrive(endpoint, dead.id));
  const hint = {
    v: 1,
    endpointId: endpoint.id,
    deliveryId: answer.id,
    dueAt: answer.createdAt,
  } as const;
  await deliverWebhook(gone.webhooks, hint);
  const ended = await deliveries.find({ endpointId: endpoint.id, deliveryId: answer.id });
  expect(ended?.delivery).toMatchObject({
    status: "dead",
    lastError: "event_expired",
    attempts: 0,
  });
});

test("the search finds a redrive whose process paused before it wrote, and died afterwards", async () => {
  const endpoint = await withDead(1);
  const [dead] = await deliveriesOf(relay, endpoint);
  const { wakes } = relay.services.webhooks;
  const mark = wakes.mark.bind(wakes);
  wakes.mark = async (...marked) => {
    await mark(...marked);
    wakes.mark = mark;
    for (let minute = 0; minute < 5; minute += 1) {
      relay.advance(60_000);
      await sweepStalledLegs(relay.services);
    }
    // It died before it could mark the endpoint once more.
    wakes.mark = () => Promise.resolve();
  };
  relay.queues.onSend = () => "lose";
  await redrive(endpoint, dead.id);
  wakes.mark = mark;
  relay.queues.onSend = () => "keep";
  const calls = receiver.received(endpoint.path).length;
  const sweep = async () => {
    relay.advance(60_000);
    await sweepStalledLegs(relay.services);
    await relay.drain();
  };
  for (let minute = 0; minute < 4; minute += 1) await sweep();
  expect(receiver.received(endpoint.path)).toHaveLength(calls);
  await findForgottenWork(relay.services);
  for (let minute = 0; minute < 2; minute += 1) await sweep();
  expect(receiver.received(endpoint.path)).toHaveLength(calls + 1);
});
