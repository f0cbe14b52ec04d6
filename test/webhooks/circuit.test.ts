import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { countRequests } from "../../bench/request-counter.ts";
import type { Services } from "../../src/shared/compose.ts";
import { deliverWebhook } from "../../src/shared/webhooks/deliveries/deliver-webhook.ts";
import { dataOf } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { runAround } from "../setup/replace-in.ts";
import { ok, startReceiver, status } from "./receiver.ts";
import { anEndpoint, deliveriesOf, happen, readEndpoint, type TestEndpoint } from "./subscriber.ts";
import { enqueueDueDeliveries, sweepStalledLegs, wakesOf } from "../setup/walks.ts";
import { forFile } from "../setup/for-file.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const down = status(500);
let relay: Relay;

const receiver = forFile(() => startReceiver());
beforeEach(async () => {
  relay = await startRelay({ settings: receiver.settings });
});
/** Starts another relay, in which the first retry comes long after all that happens. */
async function withoutRetries(options: { emulatedTables?: true } = {}): Promise<void> {
  await relay.stop();
  const settings = { ...receiver.settings, WEBHOOK_RETRY_SECONDS: "80000" };
  relay = await startRelay({ settings, ...options });
}
afterEach(() => relay.stop());

/** Lets the timer run and time pass. */
async function pass(ms: number, stepMs = 10 * SECOND): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    await enqueueDueDeliveries(relay.services);
    // Once a minute, as the schedule has it.
    if (left % MINUTE < stepMs) await sweepStalledLegs(relay.services);
    relay.advance(Math.min(stepMs, left));
    await relay.drain();
  }
}

async function tell({ application }: TestEndpoint, times: number): Promise<void> {
  for (let index = 0; index < times; index += 1)
    await happen(relay, application, "connection.linked", { number: index });
  await relay.drain();
}

/** An endpoint that failed five times in a row, and so many deliveries that came after. */
async function failing(waiting: number): Promise<TestEndpoint> {
  const endpoint = await anEndpoint(relay, receiver);
  receiver.behave(endpoint.path, down);
  await tell(endpoint, 5);
  expect(receiver.received(endpoint.path)).toHaveLength(5);
  await tell(endpoint, waiting);
  return endpoint;
}

const calls = ({ path }: TestEndpoint) => receiver.received(path);
const eventsAt = (endpoint: TestEndpoint) =>
  calls(endpoint).map(({ headers }) => String(headers["webhook-id"]));
/** Deliveries are handled together up to this number, one such batch after the other. */
const BATCH = 16;
/** In order, but for those that were handled together. */
function expectOrder(events: readonly string[]): void {
  for (const [index, event] of events.toSorted().entries())
    expect(Math.abs(events.indexOf(event) - index)).toBeLessThan(BATCH);
}
/** The events of first attempts, as they arrived. */
const triedFirst = (endpoint: TestEndpoint) =>
  calls(endpoint)
    .filter(({ headers }) => headers["x-social-restapi-attempt"] === "1")
    .map(({ headers }) => String(headers["webhook-id"]));
const waitingOf = async (endpoint: TestEndpoint) =>
  (await deliveriesOf(relay, endpoint)).filter(({ lastError }) => lastError === "endpoint_failing");
const untriedOf = async (endpoint: TestEndpoint) =>
  (await deliveriesOf(relay, endpoint)).filter(({ attempts }) => attempts === 0);
const statusesOf = async (endpoint: TestEndpoint) =>
  new Set((await deliveriesOf(relay, endpoint)).map((delivery) => delivery.status));
const patch = ({ id, application }: TestEndpoint, body: object) =>
  relay.call("PATCH", `/v1/webhooks/${id}`, { key: application.key, body });

const hintOf = ({ id }: TestEndpoint) => ({ endpointId: id });

/** A process that dies when it is about to do this to pending deliveries for the so many-th time. */
function dyingAt(name: "transact" | "writeState" | "read", times: number): Services {
  let count = 0;
  let isDead = false;
  const services = relay.another();
  runAround(services.webhooks.stores.pending, (method, run) => {
    if (method === name) count += 1;
    isDead ||= count === times;
    return isDead ? Promise.reject(new Error("the process died")) : run();
  });
  return services;
}

describe("after five failures in a row", () => {
  test("after five failures new events wait and say so, while begun deliveries keep their schedule", async () => {
    const endpoint = await failing(3);
    expect(calls(endpoint)).toHaveLength(5);
    const now = relay.clock.now().getTime();
    const waiting = await waitingOf(endpoint);
    for (const delivery of waiting)
      expect(delivery).toMatchObject({ status: "pending", attempts: 0, lastStatusCode: null });
    const seconds = waiting.map((delivery) => (Date.parse(delivery.nextAttemptAt) - now) / SECOND);
    // When the endpoint is tried next.
    expect(seconds.map(Math.round)).toEqual([30, 30, 30]);
    await pass(6 * SECOND, SECOND);
    expect(calls(endpoint)).toHaveLength(10);
    const attempts = calls(endpoint).map(({ headers }) => headers["x-social-restapi-attempt"]);
    expect(attempts.slice(5)).toEqual(["2", "2", "2", "2", "2"]);
  });

  test("four failures, or five with a success among them, hold nothing back", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    receiver.behave(endpoint.path, (outgoing, _, nth) => {
      outgoing.writeHead(nth === 5 ? 200 : 500).end();
    });
    for (let index = 0; index < 9; index += 1) await tell(endpoint, 1);
    expect(calls(endpoint)).toHaveLength(9);
    expect(await waitingOf(endpoint)).toEqual([]);
  });

  test("one success sends all waiting deliveries in order, with no row left behind", async () => {
    const endpoint = await failing(40);
    receiver.behave(endpoint.path, ok);
    await pass(6 * SECOND, SECOND);
    expect(eventsAt(endpoint).length).toBeGreaterThanOrEqual(10);
    await pass(10 * SECOND, SECOND);
    expect(await statusesOf(endpoint)).toEqual(new Set(["succeeded"]));
    const events = triedFirst(endpoint).slice(5);
    expect(events).toHaveLength(40);
    expectOrder(events);
    expect(relay.logLines.filter((line) => line.includes("webhook circuit"))).toHaveLength(2);
    // New ones are sent immediately, and nothing is searched any more.
    await tell(endpoint, 1);
    expect(calls(endpoint)).toHaveLength(51);
    await pass(3 * MINUTE, MINUTE);
    expect(await wakesOf(relay.services, "endpoint")).toEqual([]);
    const { state, timed, untried } = await relay.services.webhooks.stores.pending.read(
      endpoint.id,
      10,
    );
    expect([state.leaseId, state.nextAt, timed, untried]).toEqual([null, null, [], []]);
    expect(relay.queues.length).toBe(0);
  });

  test("a success sends any number of waiting deliveries, each once and about in order", async () => {
    const endpoint = await failing(1_200);
    const { id, application } = endpoint;
    receiver.behave(endpoint.path, ok);
    dataOf(await relay.call("POST", `/v1/webhooks/${id}/test`, { key: application.key }));
    await pass(10 * SECOND, SECOND);
    // After the five that failed, and the test.
    const tried = triedFirst(endpoint).slice(6);
    expect(tried).toHaveLength(1_200);
    expect(new Set(tried).size).toBe(1_200);
    expectOrder(tried);
  });

  test("a redrive and a test event are sent immediately, and their success closes the circuit", async () => {
    const endpoint = await failing(2);
    const { key } = endpoint.application;
    dataOf(await relay.call("POST", `/v1/webhooks/${endpoint.id}/test`, { key }));
    await relay.drain();
    expect(calls(endpoint)).toHaveLength(6);
    expect(await waitingOf(endpoint)).toHaveLength(2);
    receiver.behave(endpoint.path, ok);
    dataOf(await relay.call("POST", `/v1/webhooks/${endpoint.id}/test`, { key }));
    await relay.drain();
    const [tested] = await deliveriesOf(relay, endpoint, "&status=succeeded");
    await pass(2 * SECOND, SECOND);
    expect(await untriedOf(endpoint)).toEqual([]);
    receiver.behave(endpoint.path, down);
    await tell(endpoint, 5);
    await tell(endpoint, 1);
    expect((await waitingOf(endpoint)).length).toBeGreaterThan(0);
    const sent = calls(endpoint).length;
    const path = `/v1/webhooks/${endpoint.id}/deliveries/${tested.id}/redrive`;
    dataOf(await relay.call("POST", path, { key }));
    await relay.drain();
    expect(calls(endpoint)).toHaveLength(sent + 1);
  });

  test.each(["another address", "the status active again", "the status active, which it has"])(
    "%s closes the circuit, and waiting deliveries are sent",
    async (word) => {
      const endpoint = await failing(3);
      if (word === "another address")
        dataOf(await patch(endpoint, { url: receiver.url(`${endpoint.path}/new`) }));
      else {
        if (word === "the status active again")
          dataOf(await patch(endpoint, { status: "disabled" }));
        receiver.behave(endpoint.path, ok);
        dataOf(await patch(endpoint, { status: "active" }));
      }
      await pass(2 * SECOND, SECOND);
      expect(await untriedOf(endpoint)).toEqual([]);
      const tried = await deliveriesOf(relay, endpoint, "&status=succeeded");
      expect(tried.length).toBeGreaterThanOrEqual(3);
    },
  );

  test("the application's other endpoints get their events immediately", async () => {
    const endpoint = await failing(1);
    const other = await anEndpoint(relay, receiver, endpoint.application);
    await tell(endpoint, 3);
    expect(calls(other)).toHaveLength(3);
    expect(await waitingOf(endpoint)).toHaveLength(4);
  });
});

describe("where no retry is due", () => {
  beforeEach(() => withoutRetries());

  test("without a due retry one delivery at a time is the probe, the oldest first, after 30 seconds and then ever rarer", async () => {
    const endpoint = await failing(40);
    const startedAt = relay.clock.now().getTime();
    const times: number[] = [];
    receiver.behave(endpoint.path, (outgoing) => {
      times.push((relay.clock.now().getTime() - startedAt) / SECOND);
      outgoing.writeHead(500).end();
    });
    await pass(HOUR, 5 * SECOND);
    const events = eventsAt(endpoint).slice(5);
    expect(events).toEqual(events.toSorted());
    expect(new Set(events).size).toBe(events.length);
    const gaps = times.map((time, index) => time - (times[index - 1] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(25);
    expect(gaps.slice(0, 4).map((gap) => Math.round(gap / 10) * 10)).toEqual([30, 40, 70, 140]);
    // A probe every five minutes; one that failed long ago keeps its place among those that wait.
    expect(times.length).toBeGreaterThanOrEqual(12);
    expect(Math.max(...gaps)).toBeLessThan(6 * 60);
    receiver.behave(endpoint.path, ok);
    await pass(7 * MINUTE, 5 * SECOND);
    expect(await untriedOf(endpoint)).toEqual([]);
  });

  test("only one delivery is the probe when several processes check at the same moment", async () => {
    const instance = await startRelay({ sameDeploymentAs: relay });
    const endpoint = await failing(6);
    relay.advance(40 * SECOND);
    await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        deliverWebhook((index % 2 === 0 ? relay : instance).services.webhooks, hintOf(endpoint)),
      ),
    );
    expect(calls(endpoint)).toHaveLength(6);
    await instance.stop();
  });
});

describe("waiting deliveries", () => {
  test("waiting deliveries are sent when all their hints are lost", async () => {
    const endpoint = await failing(25);
    relay.queues.onSend = (message) => ("endpointId" in message ? "lose" : "keep");
    const url = receiver.url(`${endpoint.path}/new`);
    dataOf(await patch(endpoint, { url }));
    await pass(SECOND, SECOND);
    relay.queues.onSend = () => "keep";
    expect((await untriedOf(endpoint)).length).toBeGreaterThan(0);
    await pass(6 * MINUTE);
    expect(await statusesOf(endpoint)).toEqual(new Set(["succeeded"]));
  });

  test.each([
    ["before it says that it delivered", "transact", 2],
    ["before the success is noted", "writeState", 2],
    ["before it looks for what waited", "read", 2],
    ["in the midst of what waited", "transact", 6],
  ] as const)("no delivery is lost when a successful worker dies %s", async (_, name, times) => {
    const endpoint = await failing(30);
    receiver.behave(endpoint.path, ok);
    relay.advance(6 * SECOND);
    const died = deliverWebhook(dyingAt(name, times).webhooks, hintOf(endpoint));
    await expect(died).rejects.toThrow("died");
    expect(calls(endpoint).length).toBeGreaterThan(5);
    await pass(20 * MINUTE);
    expect(await statusesOf(endpoint)).toEqual(new Set(["succeeded"]));
  });

  test("waiting deliveries are sent when a worker dies in its call", async () => {
    const endpoint = await failing(3);
    receiver.behave(endpoint.path, ok);
    const { key } = endpoint.application;
    dataOf(await relay.call("POST", `/v1/webhooks/${endpoint.id}/test`, { key }));
    const [waiting] = await waitingOf(endpoint);
    const { outbound } = relay.services.connections;
    const request: typeof outbound.request = (call) =>
      call.headers?.["x-social-restapi-delivery"] === waiting.id
        ? Promise.reject(new Error("died"))
        : outbound.request(call);
    const dying = relay.another({ outbound: { ...outbound, request } });
    await expect(deliverWebhook(dying.webhooks, hintOf(endpoint))).rejects.toThrow("died");
    await pass(3 * MINUTE);
    expect(await statusesOf(endpoint)).not.toContain("dead");
    const [found] = (await deliveriesOf(relay, endpoint)).filter(({ id }) => id === waiting.id);
    expect(found).toMatchObject({ status: "succeeded", attempts: 2 });
  });

  test("waiting deliveries are sent when their sending is interrupted again and again", async () => {
    const endpoint = await failing(40);
    receiver.behave(endpoint.path, ok);
    relay.advance(6 * SECOND);
    for (let cuts = 0; cuts < 3; cuts += 1) {
      const died = deliverWebhook(dyingAt("transact", 4).webhooks, hintOf(endpoint));
      await expect(died).rejects.toThrow("died");
      relay.advance(MINUTE);
    }
    await pass(10 * MINUTE);
    expect(await statusesOf(endpoint)).toEqual(new Set(["succeeded"]));
    expect(new Set(eventsAt(endpoint)).size).toBe(45);
  });

  test("waiting deliveries are sent when the receiver fails again meanwhile", async () => {
    const endpoint = await failing(30);
    const before = calls(endpoint).length;
    // Well for eight calls, ill for a while, well again.
    receiver.behave(endpoint.path, (outgoing, _, nth) => {
      outgoing.writeHead(nth > before + 8 && nth < before + 40 ? 503 : 200).end();
    });
    await pass(20 * SECOND, SECOND);
    expect((await untriedOf(endpoint)).length).toBeGreaterThan(10);
    await pass(HOUR);
    receiver.behave(endpoint.path, ok);
    await pass(3 * HOUR, MINUTE);
    expect(await statusesOf(endpoint)).toEqual(new Set(["succeeded"]));
  });
});

test("waiting deliveries are sent four at a time, however many processes get a hint", async () => {
  const endpoint = await failing(12);
  receiver.behave(endpoint.path, ok);
  const { key } = endpoint.application;
  dataOf(await relay.call("POST", `/v1/webhooks/${endpoint.id}/test`, { key }));
  let running = 0;
  let most = 0;
  receiver.behave(endpoint.path, async (outgoing) => {
    running += 1;
    most = Math.max(most, running);
    await sleep(100);
    running -= 1;
    outgoing.end();
  });
  const instance = await startRelay({ sameDeploymentAs: relay });
  await Promise.all(
    [relay, instance, relay, instance].map(({ services }) =>
      deliverWebhook(services.webhooks, hintOf(endpoint)),
    ),
  );
  await instance.stop();
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(4);
  await pass(2 * MINUTE);
  expect(await statusesOf(endpoint)).not.toContain("dead");
  expect(await untriedOf(endpoint)).toEqual([]);
});

test("an endpoint that is dead for five days is disabled although its deliveries wait", async () => {
  const endpoint = await failing(3);
  for (let hours = 0; hours < 5 * 24; hours += 4) {
    await tell(endpoint, 1);
    await pass(4 * HOUR, HOUR / 2);
  }
  await tell(endpoint, 1);
  expect(await readEndpoint(relay, endpoint)).toMatchObject({
    status: "disabled",
    disabledReason: "Nothing could be delivered for 5 days.",
  });
  await pass(2 * 24 * HOUR, HOUR / 2);
  expect(await statusesOf(endpoint)).toEqual(new Set(["dead"]));
});

describe("requests to storage", () => {
  const cost = async (endpoint: TestEndpoint) =>
    (await countRequests(() => deliverWebhook(relay.services.webhooks, hintOf(endpoint)))).byKind;
  beforeEach(() => withoutRetries({ emulatedTables: true }));

  test("a failing endpoint costs no more requests to storage, however many deliveries wait", async () => {
    const costs = [];
    for (const waiting of [8, 40]) {
      const endpoint = await failing(waiting);
      const idle = await cost(endpoint);
      relay.advance(40 * SECOND);
      costs.push([idle, await cost(endpoint)]);
      expect(calls(endpoint)).toHaveLength(6);
    }
    const [few, many] = costs;
    expect(many).toEqual(few);
    // What is next says that there is nothing to do until then.
    expect(few?.[0]).toEqual({ read: 1, write: 0, send: 0, transaction: 0 });
  });

  test("the circuit costs a healthy endpoint no requests to storage", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    await tell(endpoint, 1);
    relay.queues.onSend = (message) => ("endpointId" in message ? "lose" : "keep");
    await tell(endpoint, 1);
    // What is due, the delivery, the endpoint and the event; the lease comes and goes, the delivery is claimed and ends.
    expect(await cost(endpoint)).toEqual({ read: 4, write: 2, send: 0, transaction: 2 });
    expect((await deliveriesOf(relay, endpoint))[0]).toMatchObject({ status: "succeeded" });
  });
});
