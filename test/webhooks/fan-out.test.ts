import { addPending } from "./emit-event.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import { fanOutEvents } from "../../src/shared/webhooks/events/fan-out-events.ts";
import { PATIENCE_MS } from "../setup/bounds.ts";
import { anApplication, aPlatform, dataOf } from "../setup/factories.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { replaceIn } from "../setup/replace-in.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";
import { startReceiver, type Receiver } from "./receiver.ts";
import { anEndpoint, deliveriesOf, happen, type TestEndpoint } from "./subscriber.ts";
import { enqueueDuePosts, sweepStalledLegs } from "../setup/walks.ts";

const MINUTE = 60_000;
let sandbox: Sandbox;
let receiver: Receiver;
let relay: Relay;
/** Another process of the deployment. */
let instance: Relay;

beforeAll(async () => {
  [sandbox, receiver] = await Promise.all([startSandbox(), startReceiver()]);
  const outside = sandboxSettings(sandbox, sandbox.url);
  const settings = {
    ...outside,
    OUTBOUND_HOST_MAP: JSON.stringify({
      ...JSON.parse(outside.OUTBOUND_HOST_MAP),
      ...JSON.parse(receiver.settings["OUTBOUND_HOST_MAP"] ?? "{}"),
    }),
  };
  relay = await startRelay({ settings });
  instance = await startRelay({ sameDeploymentAs: relay });
});
beforeEach(() => {
  relay.queues.onSend = () => "keep";
});
afterAll(async () => {
  await Promise.all([relay.stop(), instance.stop(), sandbox.stop(), receiver.stop()]);
});

const bodiesAt = (endpoint: TestEndpoint) =>
  receiver.received(endpoint.path).map(({ body }) => JSON.parse(body));
const typesAt = (endpoint: TestEndpoint) => bodiesAt(endpoint).map(({ type }) => String(type));
const waiting = (platformId: string) =>
  relay.services.webhooks.stores.events.listPending(platformId, 100);
const hintFor = (platformId: string) => ({ platformId });

async function published(publisher: Publisher, body: object) {
  const post = await publisher.accept({ text: unique("Told"), ...body });
  return publisher.settle(post.id);
}

describe("a post", () => {
  test("a post has events from its acceptance to its end, with all its fields", async () => {
    const publisher = await aPublisher(relay);
    const endpoint = await anEndpoint(relay, receiver, publisher.application);
    const post = await published(publisher, {
      platforms: ["bluesky", "mastodon"],
      externalId: "order-17",
      metadata: { campaign: "spring" },
    });
    await relay.drain();
    const told = bodiesAt(endpoint).toSorted((left, right) => left.sequence - right.sequence);
    expect(told.map(({ type }) => type)).toEqual([
      "post.processing",
      "leg.succeeded",
      "leg.succeeded",
      "post.succeeded",
    ]);
    expect(told.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    for (const { applicationId, profileId, data } of told) {
      expect(applicationId).toBe(publisher.application.id);
      expect(profileId).toBe(publisher.profileId);
      expect(data.post).toMatchObject({
        id: post.id,
        externalId: "order-17",
        metadata: { campaign: "spring" },
      });
    }
    expect(told.at(-1).data.post).toEqual(post);
    expect(told[1].data.leg).toMatchObject({ status: "succeeded", url: expect.any(String) });
    const deliveries = await deliveriesOf(relay, endpoint);
    for (const delivery of deliveries)
      expect(delivery).toMatchObject({ postId: post.id, status: "succeeded" });
    const path = `/v1/posts/${post.id}/timeline`;
    const steps = dataOf(await publisher.call("GET", path));
    const sent = steps.filter(({ step }: { step: string }) => step === "webhook_sent");
    expect(sent).toHaveLength(4);
    for (const step of sent)
      expect(step).toMatchObject({ outcome: "ok", networkStatus: 200, attempt: 1 });
    const shown = sent.map(({ webhookId, deliveryId, note }: Record<string, string>) => ({
      webhookId,
      deliveryId,
      note,
    }));
    const wanted = deliveries.map(({ id, webhookId, eventType }) => ({
      webhookId,
      deliveryId: id,
      note: eventType,
    }));
    expect(new Set(shown)).toEqual(new Set(wanted));
    for (const step of steps)
      if (step.step !== "webhook_sent")
        expect(step).toMatchObject({ webhookId: null, deliveryId: null });
  });

  describe("whose legs are published", () => {
    const kinds: string[] = [];
    async function aToldPublisher() {
      const publisher = await aPublisher(relay, ["bluesky"]);
      const endpoint = await anEndpoint(relay, receiver, publisher.application);
      await relay.drain();
      kinds.length = 0;
      relay.queues.onSend = (message) => {
        kinds.push(String(Reflect.get(message, "kind")));
        return "keep";
      };
      return { publisher, endpoint };
    }

    test("a published post has its events delivered by two messages", async () => {
      const { publisher, endpoint } = await aToldPublisher();
      await published(publisher, { platforms: ["bluesky"] });
      await relay.drain();
      expect(typesAt(endpoint)).toHaveLength(3);
      expect(kinds).toEqual(["legs", "deliveries"]);
    });

    test("the event of a post's start is delivered while a network keeps the leg waiting", async () => {
      const { publisher, endpoint } = await aToldPublisher();
      const { outbound } = relay.services.connections;
      const request = outbound.request.bind(outbound);
      const slow = Promise.withResolvers<void>();
      outbound.request = async (asked) => {
        await slow.promise;
        return request(asked);
      };
      await publisher.accept({ text: unique("Slow"), platforms: ["bluesky"] });
      const draining = relay.drain();
      await vi.waitFor(() => expect(kinds).toEqual(["legs", "deliveries"]), PATIENCE_MS);
      outbound.request = request;
      slow.resolve();
      await draining;
      expect(typesAt(endpoint)[0]).toBe("post.processing");
      expect(typesAt(endpoint)).toHaveLength(3);
    });

    test("a post's events get a message of their own when the worker can't fan them out", async () => {
      const { publisher, endpoint } = await aToldPublisher();
      const { endpoints } = relay.services.webhooks.stores;
      const broken = vi.spyOn(endpoints, "listAll").mockRejectedValueOnce(new Error("away"));
      await published(publisher, { platforms: ["bluesky"] });
      await relay.drain();
      expect(broken).toHaveBeenCalled();
      broken.mockRestore();
      expect(kinds).toEqual(["legs", "events", "deliveries"]);
      expect(typesAt(endpoint)).toHaveLength(3);
    });
  });

  test("a partly refused post is reported as partial, with the failed leg's reason", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const endpoint = await anEndpoint(relay, receiver, publisher.application);
    await published(publisher, { platforms: ["bluesky", "mastodon"] });
    await relay.drain();
    expect(typesAt(endpoint).toSorted()).toEqual([
      "leg.failed",
      "leg.succeeded",
      "post.partial",
      "post.processing",
    ]);
    const failed = bodiesAt(endpoint).find(({ type }) => type === "leg.failed");
    expect(failed.data.leg).toMatchObject({ error: { code: "connection_missing" } });
    const address = `${relay.services.config.publicBaseUrl}/docs#leg-error-connection_missing`;
    expect(failed.data.leg.error.docUrl).toBe(address);
    expect(failed.data.post.legs[1].error.docUrl).toBe(address);
  });

  test("a scheduled post has an event when it is stored, changed, started, ended or canceled", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const endpoint = await anEndpoint(relay, receiver, publisher.application);
    const scheduleAt = new Date(relay.clock.now().getTime() + 10 * MINUTE).toISOString();
    const body = { platforms: ["bluesky"], scheduleAt };
    const submit = async () => await publisher.accept({ text: unique("Later"), ...body });
    const [first, second] = [await submit(), await submit()];
    await relay.drain();
    expect(typesAt(endpoint)).toEqual(["post.scheduled", "post.scheduled"]);
    dataOf(await publisher.cancel(second.id));
    await relay.drain();
    expect(typesAt(endpoint).at(-1)).toBe("post.canceled");
    const changed = dataOf(await publisher.change(first.id, { text: unique("Changed") }));
    await relay.drain();
    expect(bodiesAt(endpoint).at(-1)).toMatchObject({
      type: "post.updated",
      sequence: 2,
      applicationId: publisher.application.id,
      profileId: publisher.profileId,
      data: { post: changed },
    });
    relay.advance(11 * MINUTE);
    await enqueueDuePosts(relay.services);
    await publisher.settle(first.id);
    await relay.drain();
    expect(typesAt(endpoint).slice(4).toSorted()).toEqual([
      "leg.succeeded",
      "post.processing",
      "post.succeeded",
    ]);
  });
});

describe("an event", () => {
  test("an event is delivered to the endpoints of its application that subscribe to it, and to no other", async () => {
    const platform = await aPlatform(relay);
    const application = await anApplication(relay, platform);
    const sibling = await anApplication(relay, platform);
    const all = await anEndpoint(relay, receiver, application);
    const some = await anEndpoint(relay, receiver, application, {
      events: ["connection.linked", "post.failed"],
    });
    const others = await anEndpoint(relay, receiver, application, { events: ["post.failed"] });
    const foreign = await anEndpoint(relay, receiver);
    const siblings = await anEndpoint(relay, receiver, sibling);
    const disabled = await anEndpoint(relay, receiver, application);
    const call = { key: application.key, body: { status: "disabled" } };
    dataOf(await relay.call("PATCH", `/v1/webhooks/${disabled.id}`, call));
    await happen(relay, application);
    await relay.drain();
    const received = [all, some, others, foreign, siblings, disabled].map(
      ({ path }) => receiver.received(path).length,
    );
    expect(received).toEqual([1, 1, 0, 0, 0, 0]);
  });

  test("an event is delivered once, however often and by however many processes it is fanned out", async () => {
    const application = await anApplication(relay);
    const platformId = application.platform.id;
    const endpoints = [
      await anEndpoint(relay, receiver, application),
      await anEndpoint(relay, receiver, application),
    ];
    relay.queues.onSend = (message) => ("endpointId" in message ? "keep" : "lose");
    for (let index = 0; index < 5; index += 1) await happen(relay, application);
    const events = await waiting(platformId);
    await Promise.all(
      [relay, instance, relay, instance].map(({ services }) =>
        fanOutEvents(services.webhooks, hintFor(platformId)),
      ),
    );
    // As a handler leaves them that dies before it removes them.
    for (const event of events) await addPending(relay.tables.core, platformId, event);
    await fanOutEvents(relay.services.webhooks, hintFor(platformId));
    expect(await waiting(platformId)).toEqual([]);
    await relay.drain();
    await instance.drain();
    for (const endpoint of endpoints) {
      expect(await deliveriesOf(relay, endpoint)).toHaveLength(5);
      const ids = receiver
        .received(endpoint.path)
        .map(({ headers }) => String(headers["webhook-id"]));
      expect(ids.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    }
  });

  test("an event whose fan-out was interrupted is delivered to the remaining endpoints", async () => {
    const application = await anApplication(relay);
    const platformId = application.platform.id;
    const endpoints = [
      await anEndpoint(relay, receiver, application),
      await anEndpoint(relay, receiver, application),
      await anEndpoint(relay, receiver, application),
    ];
    relay.queues.onSend = (message) => ("endpointId" in message ? "keep" : "lose");
    await happen(relay, application);
    let made = 0;
    const crashing = relay.another();
    replaceIn(crashing.webhooks.stores.pending, (former) => ({
      insertAbsent: async (endpointId, all) => {
        made += 1;
        if (made === 2) throw new Error("the process died");
        return former.insertAbsent(endpointId, all);
      },
    }));
    await expect(fanOutEvents(crashing.webhooks, hintFor(platformId))).rejects.toThrow(
      "fanned out",
    );
    expect(await waiting(platformId)).toHaveLength(1);
    await fanOutEvents(relay.services.webhooks, hintFor(platformId));
    await relay.drain();
    for (const { path } of endpoints) expect(receiver.received(path)).toHaveLength(1);
  });

  test("the sweep finds an event whose hint was lost, after any time", async () => {
    const application = await anApplication(relay);
    const endpoint = await anEndpoint(relay, receiver, application);
    relay.queues.onSend = () => "lose";
    await happen(relay, application);
    for (let run = 0; run < 5; run += 1) {
      relay.advance(MINUTE);
      await sweepStalledLegs(relay.services);
    }
    relay.queues.onSend = () => "keep";
    relay.advance(MINUTE);
    await sweepStalledLegs(relay.services);
    await relay.drain();
    expect(receiver.received(endpoint.path)).toHaveLength(1);
  });

  test.each([
    ["canceled", "DELETE", {}],
    ["updated", "PATCH", { body: { externalId: "changed" } }],
  ])("the event of a post that was %s without a hint is found", async (word, method, more) => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const endpoint = await anEndpoint(relay, receiver, publisher.application);
    const scheduleAt = new Date(relay.clock.now().getTime() + 300 * MINUTE).toISOString();
    const body = { text: unique("Never"), platforms: ["bluesky"], scheduleAt };
    const post = await publisher.accept(body);
    await relay.drain();
    for (let run = 0; run < 5; run += 1) {
      relay.advance(10 * MINUTE);
      await sweepStalledLegs(relay.services);
    }
    relay.queues.onSend = () => "lose";
    dataOf(await publisher.call(method, `/v1/posts/${post.id}`, { ...more }));
    relay.queues.onSend = () => "keep";
    relay.advance(MINUTE);
    await sweepStalledLegs(relay.services);
    await relay.drain();
    expect(typesAt(endpoint)).toEqual(["post.scheduled", `post.${word}`]);
  });

  test("an event without endpoints is logged nevertheless", async () => {
    const application = await anApplication(relay);
    await happen(relay, application);
    await relay.drain();
    expect(await waiting(application.platform.id)).toEqual([]);
    relay.advance(16_000);
    const { key } = application;
    expect(dataOf(await relay.call("GET", "/v1/events", { key }))).toMatchObject([
      { type: "connection.linked" },
    ]);
  });
});

describe("a platform's events", () => {
  const LEASE = "E";

  /** So many events that are pending, without a hint. */
  async function pendingEvents(count = 5) {
    const application = await anApplication(relay);
    const endpoint = await anEndpoint(relay, receiver, application);
    relay.queues.onSend = (message) => ("endpointId" in message ? "keep" : "lose");
    for (let index = 0; index < count; index += 1) await happen(relay, application);
    return { application, endpoint, platformId: application.platform.id };
  }
  const leaseOf = (platformId: string) => relay.tables.core.find(platformId, LEASE);
  const fanOut = (services: Relay["services"], platformId: string) =>
    fanOutEvents(services.webhooks, hintFor(platformId));

  test("a platform's events are left to the process that fans them out, which checks again before it releases them", async () => {
    const { platformId, application, endpoint } = await pendingEvents();
    const { events } = relay.services.webhooks.stores;
    const log = events.log.bind(events);
    let asked = 0;
    events.log = async (logged) => {
      await log(logged);
      if (asked === 2) return;
      asked += 1;
      await happen(instance, application);
      await fanOut(instance.services, platformId);
      // The other one has left the event where it is.
      expect((await waiting(platformId)).length).toBeGreaterThan(0);
      expect(await deliveriesOf(relay, endpoint)).toHaveLength(asked === 1 ? 0 : 5);
    };
    await fanOut(relay.services, platformId);
    events.log = log;
    expect(asked).toBe(2);
    expect(await waiting(platformId)).toEqual([]);
    expect(await leaseOf(platformId)).toBeUndefined();
    expect(await deliveriesOf(relay, endpoint)).toHaveLength(7);
  });

  test("listing a platform's events takes no lease", async () => {
    const { platformId } = await pendingEvents(2);
    const leaseUntil = relay.clock.now().toISOString();
    await relay.tables.core.put(platformId, { rowKey: LEASE, leaseId: "a process", leaseUntil });
    const { pending, state } = await relay.services.webhooks.stores.events.readPending(
      platformId,
      100,
    );
    expect(state.leaseId).toBe("a process");
    expect(await waiting(platformId)).toEqual(pending);
    expect(pending).toHaveLength(2);
  });

  // Right before it lets go, when all reads of its run are over.
  test("events that happen while their process releases the lease get a hint", async () => {
    const { platformId, application, endpoint } = await pendingEvents();
    const { events } = relay.services.webhooks.stores;
    const writeFanOut = events.writeFanOut.bind(events);
    let tries = 0;
    events.writeFanOut = async (...asked) => {
      if (asked[1].leaseId === null) tries += 1;
      if (asked[1].leaseId === null && tries === 1) {
        await happen(instance, application);
        await fanOut(instance.services, platformId);
        expect(await waiting(platformId)).toHaveLength(1);
      }
      return writeFanOut(...asked);
    };
    await fanOut(relay.services, platformId);
    events.writeFanOut = writeFanOut;
    expect(tries).toBeGreaterThan(1);
    expect(await waiting(platformId)).toEqual([]);
    expect(await leaseOf(platformId)).toBeUndefined();
    expect(await deliveriesOf(relay, endpoint)).toHaveLength(6);
  });

  test("a platform's events are taken over from a process that died, also if its lease is damaged", async () => {
    const { platformId } = await pendingEvents();
    const { core } = relay.tables;
    const leaseUntil = new Date(relay.clock.now().getTime() + 10_000).toISOString();
    await core.put(platformId, { rowKey: LEASE, leaseId: "a dead process", leaseUntil });
    await fanOut(relay.services, platformId);
    expect(await waiting(platformId)).toHaveLength(5);
    relay.advance(11_000);
    await fanOut(relay.services, platformId);
    expect(await waiting(platformId)).toEqual([]);
    expect(await leaseOf(platformId)).toBeUndefined();

    const other = await pendingEvents();
    await core.put(other.platformId, { rowKey: LEASE, leaseId: 7, leaseUntil });
    await fanOut(relay.services, other.platformId);
    expect(await waiting(other.platformId)).toEqual([]);
    expect(await leaseOf(other.platformId)).toBeUndefined();
  });

  test("a process whose lease has expired leaves a platform's events to the one that took them over", async () => {
    const { platformId, endpoint } = await pendingEvents();
    const { events } = relay.services.webhooks.stores;
    const { core } = relay.tables;
    const log = events.log.bind(events);
    const leaseUntil = new Date(relay.clock.now().getTime() + 60_000).toISOString();
    events.log = async (logged) => {
      await log(logged);
      await core.put(platformId, { rowKey: LEASE, leaseId: "another process", leaseUntil });
    };
    await fanOut(relay.services, platformId);
    events.log = log;
    expect((await leaseOf(platformId))?.row["leaseId"]).toBe("another process");
    expect(await deliveriesOf(relay, endpoint)).toHaveLength(5);
  });

  test("events are fanned out although one of them can't be, and its failure leaves no lease behind", async () => {
    const { platformId, endpoint } = await pendingEvents();
    const [, bad] = await waiting(platformId);
    const { events } = relay.services.webhooks.stores;
    const log = events.log.bind(events);
    let looks = 0;
    events.log = async (logged) => {
      if (logged.some(({ id }) => id === bad?.id)) throw new Error("not this one");
      // Asked to look again, it does not try that one for ever.
      if ((looks += 1) < 3) await events.askHolder(platformId);
      await log(logged);
    };
    await expect(fanOut(relay.services, platformId)).rejects.toThrow("fanned out");
    events.log = log;
    expect((await waiting(platformId)).map(({ id }) => id)).toEqual([bad?.id]);
    expect(await leaseOf(platformId)).toBeUndefined();
    expect(await deliveriesOf(relay, endpoint)).toHaveLength(4);
  });

  test("a platform's events are free immediately after a claim with an unknown outcome", async () => {
    const { platformId } = await pendingEvents();
    const { events } = relay.services.webhooks.stores;
    const writeFanOut = events.writeFanOut.bind(events);
    events.writeFanOut = async (...asked) => {
      const etag = await writeFanOut(...asked);
      if (asked[1].leaseId === null) return etag;
      throw new Error("no answer");
    };
    await expect(fanOut(relay.services, platformId)).rejects.toThrow("no answer");
    events.writeFanOut = writeFanOut;
    expect(await leaseOf(platformId)).toBeUndefined();
    await fanOut(instance.services, platformId);
    expect(await waiting(platformId)).toEqual([]);
  });

  test("events of which none can be read leave no lease behind", async () => {
    const { platformId } = await pendingEvents();
    const { endpoints } = relay.services.webhooks.stores;
    const listAll = endpoints.listAll.bind(endpoints);
    endpoints.listAll = () => Promise.reject(new Error("storage is away"));
    await expect(fanOut(relay.services, platformId)).rejects.toThrow("away");
    endpoints.listAll = listAll;
    expect(await leaseOf(platformId)).toBeUndefined();
    await fanOut(relay.services, platformId);
    expect(await waiting(platformId)).toEqual([]);
  });
});
