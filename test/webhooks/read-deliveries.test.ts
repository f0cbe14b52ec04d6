import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BODY_BYTES_MAX } from "../../src/shared/webhooks/deliveries/send-delivery.ts";
import { firstDelivery } from "../../src/shared/webhooks/deliveries/queue-delivery.ts";
import { toDeliveryRow } from "../../src/shared/webhooks/deliveries/delivery-row.ts";
import { newEvent } from "../../src/shared/events/events.ts";
import { aKey, anApplication, aProfile, dataOf } from "../setup/factories.ts";
import { IS_LONG } from "../setup/long-check.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { startReceiver, status, type Receiver } from "./receiver.ts";
import { anEndpoint, deliveriesOf, happen, type TestEndpoint } from "./subscriber.ts";

/** What reads of a key's access take on top. */
const ACCESS = 2;
const DAY_MS = 24 * 60 * 60_000;
/** Pages have at most a thousand rows. */
const MANY = IS_LONG ? 100_000 : 10_000;
/** Headers that belong to a call, and not to what is delivered. */
const OF_THE_CALL = [
  "host",
  "traceparent",
  "connection",
  "content-length",
  "accept-encoding",
  "webhook-timestamp",
  "webhook-signature",
  "x-social-restapi-signature",
  "x-forwarded-host",
  "x-forwarded-proto",
];
let receiver: Receiver;
let relay: Relay;
let requests = 0;
beforeAll(async () => {
  receiver = await startReceiver();
  relay = await startRelay({
    settings: receiver.settings,
    tableFault({ table }) {
      // What the limit of requests needs comes on top.
      if (table !== "ratewindows") requests += 1;
      return "pass";
    },
  });
});
afterAll(async () => {
  await Promise.all([relay.stop(), receiver.stop()]);
});

const read = (endpoint: TestEndpoint, deliveryId: string, key = endpoint.application.key) =>
  relay.call("GET", `/v1/webhooks/${endpoint.id}/deliveries/${deliveryId}`, { key });

describe("a delivery with its request", () => {
  test.each([
    ["small", { note: 'Grüße, 世界 🎉 \u2028 "quoted"' }],
    ["shortened", { note: "ü".repeat(BODY_BYTES_MAX) }],
  ])("a delivery shows the request of a %s event byte for byte", async (_, data) => {
    const endpoint = await anEndpoint(relay, receiver);
    receiver.behave(endpoint.path, status(500));
    await happen(relay, endpoint.application, "connection.linked", data);
    await relay.drain();
    relay.advance(6_000);
    await relay.drain();
    const [listed] = await deliveriesOf(relay, endpoint);
    const { request, ...shown } = dataOf(await read(endpoint, listed.id));
    expect(shown).toEqual(listed);
    const sent = receiver.received(endpoint.path).at(-1);
    expect(request.body).toBe(sent?.body);
    const headers = Object.entries(sent?.headers ?? {}).filter(
      ([name]) => !OF_THE_CALL.includes(name),
    );
    expect(request.headers).toEqual(Object.fromEntries(headers));
    expect(request.url).toBe(receiver.url(endpoint.path));
    expect(JSON.stringify(request)).not.toContain(endpoint.secret);
  });

  test("a delivery has no request once its event is gone", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    await happen(relay, endpoint.application);
    await relay.drain();
    const [{ id, eventId }] = await deliveriesOf(relay, endpoint);
    await relay.tables.events.deleteAll(endpoint.application.id, [eventId]);
    expect(dataOf(await read(endpoint, id))).toMatchObject({ status: "succeeded", request: null });
  });

  test("a delivery is there for callers who see it in the list, and its address for those who see the endpoint's", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    const { application } = endpoint;
    const [mine, other] = [await aProfile(relay, application), await aProfile(relay, application)];
    const allowed = { scope: "restricted", allowedProfileIds: [mine.id] };
    const { secret } = await aKey(relay, application, allowed);
    const stored = await relay.services.webhooks.stores.endpoints.find(
      application.platform.id,
      endpoint.id,
    );
    if (stored === undefined) throw new Error("no endpoint");
    const ids = [];
    for (const profileId of [mine.id, other.id, null]) {
      const about = { applicationId: application.id, profileId, postId: null, sequence: null };
      const event = newEvent({ type: "connection.linked", ...about, data: {} }, relay.clock.now());
      await relay.services.webhooks.stores.events.log([
        { ...event, applicationId: application.id },
      ]);
      const delivery = firstDelivery(event, stored, relay.clock.now());
      await relay.services.webhooks.stores.pending.insertAbsent(endpoint.id, [delivery]);
      ids.push(delivery.id);
    }
    const [own = "", others = "", nobodys = ""] = ids;
    expect(dataOf(await read(endpoint, own, secret)).request).toMatchObject({
      url: null,
      headers: { "x-social-restapi-attempt": "1" },
    });
    const sibling = await anApplication(relay, application.platform);
    const stranger = await anApplication(relay);
    const elsewhere = await anEndpoint(relay, receiver, application);
    const missing = [
      await read(endpoint, others, secret),
      await read(endpoint, nobodys, secret),
      await read(endpoint, own, sibling.key),
      await read(endpoint, own, stranger.key),
      await read(elsewhere, own),
      await read(endpoint, "dlv_nothing"),
      await read({ ...endpoint, id: "whk_nothing" }, own),
    ];
    for (const answer of missing)
      expect([answer.status, answer.body.error.code]).toEqual([404, "not_found"]);
    const { session } = application.platform;
    const path = `/v1/webhooks/${endpoint.id}/deliveries/${others}`;
    expect(dataOf(await relay.call("GET", path, { session })).request.url).toContain("https://");
  });
});

describe("deliveries of a time", () => {
  test("deliveries are listed from a time on and before another one, by when they were created", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    const times = [];
    for (let count = 0; count < 3; count += 1) {
      relay.advance(DAY_MS);
      await happen(relay, endpoint.application);
      // The event waits before it is fanned out, so that its time is another one.
      relay.advance(60_000);
      await relay.drain();
      times.push((await deliveriesOf(relay, endpoint))[0].createdAt);
    }
    const [first, second, third] = times;
    const listed = async (query: string) =>
      (await deliveriesOf(relay, endpoint, query)).map(({ createdAt }) => createdAt);
    expect(await listed(`&from=${second}`)).toEqual([third, second]);
    expect(await listed(`&to=${second}`)).toEqual([first]);
    expect(await listed(`&from=${second}&to=${third}`)).toEqual([second]);
    expect(await listed(`&from=0001-01-01T00:00:00Z&to=9999-12-31T00:00:00Z`)).toHaveLength(3);
    expect(await listed(`&to=0001-01-01T00:00:00Z`)).toEqual([]);
    for (const to of [first, second]) {
      const path = `/v1/webhooks/${endpoint.id}/deliveries?from=${second}&to=${to}`;
      const answer = await relay.call("GET", path, { key: endpoint.application.key });
      expect(answer.body.error.details.issues).toMatchObject([{ path: "to" }]);
    }
  });

  test(`a call reads as much with ${MANY} deliveries as with ten`, async () => {
    const endpoint = await anEndpoint(relay, receiver);
    const { platform, key } = endpoint.application;
    const { endpoints } = relay.services.webhooks.stores;
    const stored = await endpoints.find(platform.id, endpoint.id);
    if (stored === undefined) throw new Error("no endpoint");
    const start = relay.clock.now().getTime() - 20 * DAY_MS;
    const about = { applicationId: endpoint.application.id, profileId: null, postId: null };
    relay.storage?.giveWholePages();
    let written = 0;
    const counts = [];
    for (const size of [10, 1_000, MANY]) {
      const rows = [];
      for (; written < size; written += 1) {
        const now = new Date(start + written * 10_000);
        const event = newEvent({ type: "webhook.test", ...about, sequence: null, data: {} }, now);
        rows.push(toDeliveryRow(firstDelivery(event, stored, now)));
      }
      await relay.tables.deliveries.putAll(endpoint.id, rows);
      const [from, to] = [start, start + 50_000].map((time) => new Date(time).toISOString());
      const path = `/v1/webhooks/${endpoint.id}/deliveries`;
      const range = `${path}?from=${from}&to=${to}`;
      await relay.call("GET", range, { key });
      requests = 0;
      const listed = dataOf(await relay.call("GET", range, { key }));
      expect(listed).toHaveLength(5);
      const ofList = requests;
      dataOf(await relay.call("GET", `${path}/${listed[0].id}`, { key }));
      counts.push([ofList, requests - ofList]);
    }
    // The endpoint comes first. The range of keys is wider than that of times, because keys have the time of the event.
    expect(counts).toEqual(
      [
        [2, 3],
        [3, 3],
        [3, 3],
      ].map((pair) => pair.map((count) => ACCESS + count)),
    );
  });
});
