import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deliverWebhook } from "../../src/shared/webhooks/deliveries/deliver-webhook.ts";
import { fanOutEvents } from "../../src/shared/webhooks/events/fan-out-events.ts";
import { hintsOf } from "../../src/shared/host/worker.ts";
import { dataOf } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { replaceIn } from "../setup/replace-in.ts";
import {
  dripsForEver,
  hangs,
  ok,
  resets,
  speaksGarbage,
  startReceiver,
  status,
  type Behavior,
  type Received,
} from "./receiver.ts";
import { anEndpoint, deliveriesOf, happen, readEndpoint, type TestEndpoint } from "./subscriber.ts";
import { enqueueDueDeliveries, sweepStalledLegs, wakesOf } from "../setup/walks.ts";
import { forFile } from "../setup/for-file.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
/** Enough for 10 MB on a busy machine. */
const TIMEOUT_MS = 1_500;
let relay: Relay;

const receiver = forFile(() => startReceiver());
// Each test has its own: days pass in some, and a timer that paused for days has much to look through.
beforeEach(async () => {
  const settings = { ...receiver.settings, WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS) };
  relay = await startRelay({ settings });
});
afterEach(() => relay.stop());

const patch = ({ id, application }: TestEndpoint, body: object) =>
  relay.call("PATCH", `/v1/webhooks/${id}`, { key: application.key, body });
const call = ({ id, application }: TestEndpoint, method: string, path = "") =>
  relay.call(method, `/v1/webhooks/${id}${path}`, { key: application.key });

/** An endpoint that behaves so, and the one delivery that it got. */
async function delivered(behavior: Behavior) {
  const endpoint = await anEndpoint(relay, receiver);
  receiver.behave(endpoint.path, behavior);
  await happen(relay, endpoint.application);
  await relay.drain();
  const [delivery] = await deliveriesOf(relay, endpoint);
  return { endpoint, delivery };
}

/** Lets the timer run and time pass, minute by minute or in longer steps. */
async function pass(ms: number, stepMs = MINUTE): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    await enqueueDueDeliveries(relay.services);
    await sweepStalledLegs(relay.services);
    relay.advance(Math.min(stepMs, left));
    await relay.drain();
  }
}

/** As the queue hands it over, at whatever time. */
const hintOf = (endpoint: TestEndpoint) => ({ endpointId: endpoint.id });

/** What a receiver that follows the documentation makes of a delivery. */
function verify({ headers, body }: Received, secret: string): boolean {
  const [stamp = "", ...signatures] = String(headers["x-social-restapi-signature"]).split(",");
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = `${stamp.slice("t=".length)}.${body}`;
  const wanted = createHmac("sha256", key).update(signed).digest("hex");
  return signatures.includes(`v1=${wanted}`);
}

describe("a delivery", () => {
  test("a delivery is one signed POST of the event, and its record has the result", async () => {
    const { endpoint, delivery } = await delivered(status(201, {}, "thanks"));
    expect(delivery).toEqual({
      id: expect.stringMatching(/^dlv_/),
      webhookId: endpoint.id,
      eventId: expect.stringMatching(/^evt_/),
      eventType: "connection.linked",
      postId: null,
      status: "succeeded",
      attempts: 1,
      nextAttemptAt: null,
      lastStatusCode: 201,
      lastError: null,
      durationMs: expect.any(Number),
      responseBody: "thanks",
      redriveOf: null,
      createdAt: expect.stringMatching(/Z$/),
      deliveredAt: expect.stringMatching(/Z$/),
    });
    const [got] = receiver.received(endpoint.path);
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    expect(got?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^Social-Restapi-Webhooks/),
      "x-social-restapi-event": "connection.linked",
      "x-social-restapi-delivery": delivery.id,
      "x-social-restapi-attempt": "1",
      "webhook-id": delivery.eventId,
    });
    expect(JSON.parse(got?.body ?? "")).toEqual({
      id: delivery.eventId,
      type: "connection.linked",
      apiVersion: "v1",
      createdAt: expect.stringMatching(/Z$/),
      sequence: null,
      applicationId: endpoint.application.id,
      profileId: null,
      data: { note: "something happened" },
    });
    expect(got !== undefined && verify(got, endpoint.secret)).toBe(true);
    expect(await readEndpoint(relay, endpoint)).toMatchObject({
      lastSuccessAt: delivery.deliveredAt,
      lastFailureAt: null,
    });
  });

  test("an address that is registered twice gets each event from both endpoints, signed with the secret of each", async () => {
    const first = await anEndpoint(relay, receiver);
    const url = receiver.url(first.path);
    const second = await anEndpoint(relay, receiver, first.application, { url });
    await happen(relay, first.application);
    await relay.drain();
    const got = receiver.received(first.path);
    expect(got).toHaveLength(2);
    expect(new Set(got.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    for (const { secret } of [first, second])
      expect(got.filter((delivery) => verify(delivery, secret))).toHaveLength(1);
  });

  test("a retry sends the same body, signed again with its own time", async () => {
    const { endpoint } = await delivered((outgoing, _, nth) => {
      outgoing.writeHead(nth < 3 ? 500 : 204).end();
    });
    await pass(7 * MINUTE);
    const calls = receiver.received(endpoint.path);
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ body }) => body)).size).toBe(1);
    expect(new Set(calls.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    const attempts = calls.map(({ headers }) => headers["x-social-restapi-attempt"]);
    expect(attempts).toEqual(["1", "2", "3"]);
    const times = calls.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(times).toEqual([...new Set(times)].toSorted((left, right) => left - right));
    for (const got of calls) expect(verify(got, endpoint.secret)).toBe(true);
    const [delivery] = await deliveriesOf(relay, endpoint);
    expect(delivery).toMatchObject({ status: "succeeded", attempts: 3, responseBody: null });
  });

  test("a delivery keeps text of any language intact", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    const data = { note: 'Grüße, "日本語" 😀 \u2028 \\ </script>' };
    await happen(relay, endpoint.application, "connection.linked", data);
    await relay.drain();
    const [got] = receiver.received(endpoint.path);
    expect(JSON.parse(got?.body ?? "").data).toEqual(data);
    expect(got !== undefined && verify(got, endpoint.secret)).toBe(true);
  });

  test("a delivery is tried ten times, each within a tenth of its delay, and is then dead", async () => {
    const { endpoint, delivery } = await delivered(status(500, {}, "down"));
    expect(delivery).toMatchObject({
      status: "pending",
      attempts: 1,
      lastStatusCode: 500,
      lastError: "http_500",
      responseBody: "down",
    });
    const delays = relay.services.config.webhooks.retrySeconds;
    for (const [index, seconds] of delays.entries()) {
      const [before] = await deliveriesOf(relay, endpoint);
      expect(before.attempts).toBe(index + 1);
      const wait = Date.parse(before.nextAttemptAt) - relay.clock.now().getTime();
      expect(wait).toBeLessThanOrEqual(seconds * 1.1 * SECOND);
      // The steps that lead here took a moment of their own.
      expect(wait).toBeGreaterThan(seconds * 0.9 * SECOND - 2 * SECOND);
      const dueAt: string = before.nextAttemptAt;
      expect(await wakesOf(relay.services, "endpoint")).toContainEqual(
        expect.objectContaining({ at: dueAt, id: endpoint.id }),
      );
      const hint = { endpointId: endpoint.id, dueAt };
      await deliverWebhook(relay.services.webhooks, hint);
      expect(receiver.received(endpoint.path)).toHaveLength(index + 1);
      relay.advance(Math.max(0, Date.parse(dueAt) - relay.clock.now().getTime()));
      await deliverWebhook(relay.services.webhooks, hint);
    }
    expect(receiver.received(endpoint.path)).toHaveLength(10);
    const [dead] = await deliveriesOf(relay, endpoint);
    expect(dead).toMatchObject({
      status: "dead",
      attempts: 10,
      nextAttemptAt: null,
      lastError: "http_500",
      deliveredAt: null,
    });
    relay.advance(DAY);
    await deliverWebhook(relay.services.webhooks, hintOf(endpoint));
    expect(receiver.received(endpoint.path)).toHaveLength(10);
  });

  test.each<[string, Behavior, object]>([
    [
      "a redirect, which is not followed",
      status(302, { location: "http://127.0.0.1:1/" }),
      { lastError: "http_302", lastStatusCode: 302 },
    ],
    ["a refusal", status(404), { lastError: "http_404", lastStatusCode: 404 }],
    ["an informational end", status(304), { lastError: "http_304", lastStatusCode: 304 }],
    ["no answer in time", hangs, { lastError: "timeout", lastStatusCode: null }],
    ["an answer that never ends", dripsForEver, { lastError: "timeout", lastStatusCode: null }],
    ["a reset", resets, { lastError: "connection_lost", lastStatusCode: null }],
    ["no HTTP at all", speaksGarbage, { lastError: "connection_lost", lastStatusCode: null }],
  ])("a delivery that meets %s has failed and is tried again", async (_, behavior, expected) => {
    const { endpoint, delivery } = await delivered(behavior);
    expect(delivery).toMatchObject({ status: "pending", attempts: 1, ...expected });
    expect(delivery.durationMs).toBeLessThan(TIMEOUT_MS * 5);
    receiver.behave(endpoint.path, ok);
    await pass(MINUTE);
    expect((await deliveriesOf(relay, endpoint))[0]).toMatchObject({
      status: "succeeded",
      attempts: 2,
      lastError: null,
    });
  });

  test("a delivery answered with 10 MB succeeds, and the start of the answer is stored", async () => {
    const { delivery } = await delivered(status(200, {}, "x".repeat(10 * 1024 * 1024)));
    expect(delivery).toMatchObject({ status: "succeeded", lastError: null });
    expect(delivery.responseBody).toBe("x".repeat(2_048));
  });

  test("a redirect does not lead a delivery to an internal address", async () => {
    let visits = 0;
    const inside = createServer((_, outgoing) => {
      visits += 1;
      outgoing.end("secret");
    });
    await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
    const { port } = inside.address() as AddressInfo;
    for (const code of [301, 302, 303, 307, 308]) {
      const location = `http://127.0.0.1:${port}/`;
      const { delivery } = await delivered(status(code, { location }, "moved"));
      expect(delivery).toMatchObject({ status: "pending", lastError: `http_${code}` });
    }
    expect(visits).toBe(0);
    await new Promise((resolve) => inside.close(resolve));
  });

  test("a delivery to an internal address is not sent, and its record says no more than that", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    const { id, application } = endpoint;
    const at = relay.clock.now().toISOString();
    // As a name that began to resolve to such an address after it was registered.
    const url = "https://169.254.169.254/latest/meta-data";
    await relay.services.webhooks.stores.endpoints.update(application.platform.id, id, { url }, at);
    await happen(relay, application);
    await relay.drain();
    expect((await deliveriesOf(relay, endpoint))[0]).toMatchObject({
      status: "pending",
      lastError: "blocked_address",
      lastStatusCode: null,
      responseBody: null,
    });
  });

  test.each([429, 503])("a delivery that a %i asks to wait is not tried before", async (code) => {
    const { endpoint, delivery } = await delivered(status(code, { "retry-after": "1800" }));
    const wait = Date.parse(delivery.nextAttemptAt) - relay.clock.now().getTime();
    expect(wait).toBeGreaterThan(29 * MINUTE);
    receiver.behave(endpoint.path, ok);
    await pass(29 * MINUTE);
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    await pass(3 * MINUTE);
    expect((await deliveriesOf(relay, endpoint))[0]).toMatchObject({ status: "succeeded" });
  });
});

describe("an endpoint", () => {
  test("an endpoint that answers 410 is disabled immediately with the reason, and gets no more calls", async () => {
    const { endpoint, delivery } = await delivered(status(410));
    expect(delivery).toMatchObject({ status: "dead", lastError: "http_410", attempts: 1 });
    expect(await readEndpoint(relay, endpoint)).toMatchObject({
      status: "disabled",
      disabledReason: "The receiver answered 410 Gone.",
    });
    await happen(relay, endpoint.application);
    await relay.drain();
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    expect(await deliveriesOf(relay, endpoint)).toHaveLength(1);
  });

  test("an endpoint that failed 20 times over five days is disabled, and starts from zero when it is made active", async () => {
    const { endpoint } = await delivered(status(500));
    const { application } = endpoint;
    const fail = async (times: number) => {
      for (let index = 0; index < times; index += 1) await happen(relay, application);
      await relay.drain();
    };
    await fail(30);
    // Most of them wait; those that don't, and one after the other of those that do, are tried again and again.
    await pass(60 * MINUTE);
    expect(receiver.received(endpoint.path).length).toBeGreaterThan(20);
    expect(await readEndpoint(relay, endpoint)).toMatchObject({ status: "active" });
    relay.advance(5 * DAY);
    await fail(1);
    expect(await readEndpoint(relay, endpoint)).toMatchObject({
      status: "disabled",
      disabledReason: "Nothing could be delivered for 5 days.",
    });
    const again = dataOf(await patch(endpoint, { status: "active" }));
    expect(again).toMatchObject({ status: "active", disabledReason: null });
    await fail(1);
    expect(await readEndpoint(relay, endpoint)).toMatchObject({ status: "active" });
  });

  test("an endpoint with a success among its failures is not disabled", async () => {
    const { endpoint } = await delivered(status(500));
    const { application } = endpoint;
    for (let index = 0; index < 25; index += 1) await happen(relay, application);
    await relay.drain();
    relay.advance(4 * DAY);
    receiver.behave(endpoint.path, ok);
    await happen(relay, application);
    await relay.drain();
    receiver.behave(endpoint.path, status(500));
    relay.advance(2 * DAY);
    await happen(relay, application);
    await relay.drain();
    const shown = await readEndpoint(relay, endpoint);
    expect(shown.status).toBe("active");
    expect(shown.lastFailureAt > shown.lastSuccessAt).toBe(true);
  });

  test.each([
    ["deleted", (endpoint: TestEndpoint) => call(endpoint, "DELETE")],
    ["disabled", (endpoint: TestEndpoint) => patch(endpoint, { status: "disabled" })],
  ])("an endpoint that was %s gets no pending delivery; they end as dead", async (word, end) => {
    const { endpoint, delivery } = await delivered(status(500));
    dataOf(await end(endpoint));
    await pass(10 * MINUTE);
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    const place = { endpointId: endpoint.id, deliveryId: delivery.id };
    expect((await relay.services.webhooks.stores.deliveries.find(place))?.delivery).toMatchObject({
      status: "dead",
      attempts: 1,
      lastError: `endpoint_${word}`,
    });
  });

  test("an endpoint whose secret is rotated gets two signatures for a day, and then only the new one", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    const { secret: fresh } = dataOf(await call(endpoint, "POST", "/rotate-secret"));
    expect(fresh).not.toBe(endpoint.secret);
    const latest = async () => {
      await happen(relay, endpoint.application);
      await relay.drain();
      const got = receiver.received(endpoint.path).at(-1);
      if (got === undefined) throw new Error("nothing was received");
      return got;
    };
    const both = await latest();
    expect([verify(both, endpoint.secret), verify(both, fresh)]).toEqual([true, true]);
    expect(String(both.headers["webhook-signature"]).split(" ")).toHaveLength(2);
    relay.advance(DAY);
    const one = await latest();
    expect([verify(one, endpoint.secret), verify(one, fresh)]).toEqual([false, true]);
    expect(String(one.headers["webhook-signature"]).split(" ")).toHaveLength(1);
  });

  test("an endpoint gets its test event, whatever it subscribes to, and no other endpoint does", async () => {
    const endpoint = await anEndpoint(relay, receiver, undefined, { events: ["post.failed"] });
    const other = await anEndpoint(relay, receiver, endpoint.application);
    const answer = await call(endpoint, "POST", "/test");
    expect(answer.status).toBe(202);
    expect(dataOf(answer)).toMatchObject({ eventType: "webhook.test", status: "pending" });
    await relay.drain();
    expect(await deliveriesOf(relay, endpoint)).toEqual([
      expect.objectContaining({ id: dataOf(answer).id, status: "succeeded" }),
    ]);
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    expect(receiver.received(other.path)).toHaveLength(0);
  });
});

describe("a worker", () => {
  test("a worker makes one call for any number of hints", async () => {
    const { endpoint } = await delivered(ok);
    const hint = hintOf(endpoint);
    await Promise.all([1, 2, 3].map(() => deliverWebhook(relay.services.webhooks, hint)));
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    relay.queues.onSend = (message) => ("endpointId" in message ? "double" : "keep");
    await happen(relay, endpoint.application);
    await relay.drain();
    relay.queues.onSend = () => "keep";
    expect(receiver.received(endpoint.path)).toHaveLength(2);
  });

  test("a worker whose clock is behind sends again a hint that a worker with a faster clock has used up", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    const { platform } = endpoint.application;
    const clock = { now: () => new Date(relay.clock.now().getTime() - 2 * SECOND) };
    const slow = relay.another({ clock });
    const times: string[] = [];
    relay.queues.onSend = (message) => {
      for (const hint of hintsOf(message)) {
        const { dueAt } = hint as { readonly dueAt?: string };
        if (dueAt !== undefined) times.push(dueAt);
      }
      return "lose";
    };
    // A test is due at the time of the process that was asked for it; a new event's delivery has no time.
    dataOf(await call(endpoint, "POST", "/test"));
    await deliverWebhook(slow.webhooks, hintOf(endpoint));
    const [dueAt = ""] = times;
    expect(times).toEqual([dueAt]);
    await happen(relay, endpoint.application);
    await fanOutEvents(slow.webhooks, { platformId: platform.id });
    receiver.behave(endpoint.path, async (outgoing) => {
      await deliverWebhook(relay.services.webhooks, { ...hintOf(endpoint), dueAt });
      outgoing.end();
    });
    await deliverWebhook(slow.webhooks, hintOf(endpoint));
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    expect(times).toEqual([dueAt, dueAt]);
  });

  test("a delivery whose worker died after the call is made again under the same id", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    await happen(relay, endpoint.application);
    // The process ends between the call and its record: whatever it was about to write is lost.
    let isDead = false;
    const crashing = relay.another({
      outbound: {
        ...relay.services.connections.outbound,
        request: async (request) => {
          await relay.services.connections.outbound.request(request);
          isDead = true;
          throw new Error("the process died");
        },
      },
    });
    replaceIn(crashing.webhooks.stores.pending, (former) => ({
      writeState: (...given) =>
        isDead ? Promise.reject(new Error("the process died")) : former.writeState(...given),
    }));
    relay.queues.onSend = (message) => ("endpointId" in message ? "lose" : "keep");
    await relay.drain();
    relay.queues.onSend = () => "keep";
    const died = deliverWebhook(crashing.webhooks, hintOf(endpoint));
    await expect(died).rejects.toThrow("the process died");
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    await deliverWebhook(relay.services.webhooks, hintOf(endpoint));
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    await pass(3 * MINUTE);
    const calls = receiver.received(endpoint.path);
    expect(calls).toHaveLength(2);
    expect(new Set(calls.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(calls.map(({ body }) => body)).size).toBe(1);
    expect((await deliveriesOf(relay, endpoint))[0]).toMatchObject({
      status: "succeeded",
      attempts: 2,
    });
  });

  test("a delivery whose worker dies every time is given up after ten attempts", async () => {
    const { endpoint, delivery } = await delivered(status(500));
    const place = { endpointId: endpoint.id, deliveryId: delivery.id };
    const stored = await relay.services.webhooks.stores.deliveries.find(place);
    if (stored === undefined) throw new Error("no delivery");
    await relay.services.webhooks.stores.deliveries.writeIfUnchanged(
      { ...stored.delivery, attempts: 10 },
      stored.etag,
    );
    await pass(2 * MINUTE);
    expect(receiver.received(endpoint.path)).toHaveLength(1);
    expect((await deliveriesOf(relay, endpoint))[0]).toMatchObject({
      status: "dead",
      lastError: "interrupted",
    });
  });

  test("the timer sends a worker's lost hint again", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    await happen(relay, endpoint.application);
    relay.queues.onSend = (message) => ("endpointId" in message ? "lose" : "keep");
    await relay.drain();
    relay.queues.onSend = () => "keep";
    await pass(3 * MINUTE);
    expect(receiver.received(endpoint.path)).toHaveLength(1);
  });

  test("after an outage of hours a worker finds the deliveries that were due, although every hint was lost", async () => {
    await enqueueDueDeliveries(relay.services);
    relay.queues.onSend = (message) => ("endpointId" in message ? "lose" : "keep");
    const { endpoint } = await delivered(ok);
    relay.queues.onSend = () => "keep";
    relay.advance(10 * 60 * MINUTE);
    await pass(MINUTE);
    expect((await deliveriesOf(relay, endpoint))[0]).toMatchObject({ status: "succeeded" });
  });

  test("a worker leaves no due row behind", async () => {
    const { endpoint } = await delivered((outgoing, _, nth) => {
      outgoing.writeHead(nth < 3 ? 500 : 204).end();
    });
    relay.queues.onSend = (message) => ("endpointId" in message ? "double" : "keep");
    await happen(relay, endpoint.application);
    await pass(10 * MINUTE);
    relay.queues.onSend = () => "keep";
    await pass(4 * MINUTE);
    const left = await wakesOf(relay.services, "endpoint");
    expect(left.filter(({ id }) => id === endpoint.id)).toEqual([]);
  });

  test("a worker ignores a hint for an endpoint that does not exist", async () => {
    const dueAt = relay.clock.now().toISOString();
    for (const endpointId of ["whk_01KJW2M3E8W0R7QK9V3C5T1XAB", "nonsense"])
      await deliverWebhook(relay.services.webhooks, { endpointId, dueAt });
  });
});
