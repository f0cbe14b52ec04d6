import { describe, expect, test } from "vitest";
import { countRequests } from "../../bench/request-counter.ts";
import { resultsOf, scheduled } from "../../src/shared/webhooks/deliveries/pending-store.ts";
import {
  NEW_STATE,
  type EndpointState,
} from "../../src/shared/webhooks/endpoints/endpoint-health-store.ts";
import { NO_RESULTS } from "../../src/shared/webhooks/endpoints/endpoint.ts";
import { anApplication, dataOf } from "../setup/factories.ts";
import { startRelay } from "../setup/relay.ts";
import { enqueueDueDeliveries } from "../setup/walks.ts";
import { ok, startReceiver, status } from "./receiver.ts";
import { anEndpoint, deliveriesOf, happen, readEndpoint, type TestEndpoint } from "./subscriber.ts";
import { forFile, forTest } from "../setup/for-file.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const OK = { state: "ok", failuresInARow: 0, failingSince: null, nextTryAt: null };

describe("the health in an endpoint's row", () => {
  const NOW = Date.parse("2026-03-04T10:00:00.000Z");
  const time = (seconds: number) => new Date(NOW + seconds * SECOND).toISOString();
  const retry = (seconds: number) => scheduled("dlv_01KJW2M3E8W0R7QK9V3C5T1XAB", time(seconds));
  const fresh = { ...retry(-1), isNew: true };
  const failing = { failures: 2, failingSince: time(-9) };
  const waiting = { failures: 5, failingSince: time(-9), openedAt: time(-2), probeAt: time(28) };
  const health = (
    state: Partial<EndpointState>,
    timed: readonly number[] = [],
    untried: readonly (typeof fresh)[] = [],
  ) => {
    const work = { state: { ...NEW_STATE, ...state }, etag: undefined, untried };
    return resultsOf({ ...work, timed: timed.map(retry) }, new Date(NOW)).health;
  };

  test("health is ok while nothing has failed since the last success, even with pending deliveries", () => {
    expect(
      resultsOf({ state: NEW_STATE, etag: undefined, timed: [], untried: [] }, new Date(NOW)),
    ).toEqual(NO_RESULTS);
    expect(health({ lastSuccessAt: time(-1), lastFailureAt: time(-5) }, [3], [fresh])).toEqual(OK);
  });

  test("health is failing before new deliveries wait, and names the next retry", () => {
    const { failingSince } = failing;
    const shown = { state: "failing", failuresInARow: 2, failingSince };
    expect(health(failing, [4])).toEqual({ ...shown, nextTryAt: time(4) });
    expect(health(failing, [4], [fresh])).toEqual({ ...shown, nextTryAt: time(-1) });
    expect(health(failing)).toEqual({ ...shown, nextTryAt: null });
  });

  test("health is waiting with the first due retry or probe, if there are pending deliveries", () => {
    const { failingSince } = waiting;
    const shown = { state: "waiting", failuresInARow: 5, failingSince };
    expect(health(waiting, [4], [fresh])).toEqual({ ...shown, nextTryAt: time(4) });
    expect(health(waiting, [300], [fresh])).toEqual({ ...shown, nextTryAt: time(28) });
    expect(health(waiting, [300])).toEqual({ ...shown, nextTryAt: time(300) });
    expect(health(waiting)).toEqual({ ...shown, nextTryAt: null });
  });
});

const receiver = forFile(() => startReceiver());
const relay = forTest(() => startRelay({ settings: receiver.settings, emulatedTables: true }));

async function tell({ application }: TestEndpoint, times: number): Promise<void> {
  for (let index = 0; index < times; index += 1) await happen(relay, application);
  await relay.drain();
}

const call = ({ id, application: { key } }: TestEndpoint, method: "PATCH" | "DELETE", body = {}) =>
  relay.call(method, `/v1/webhooks/${id}`, { key, ...(method === "PATCH" && { body }) });

/** An endpoint whose latest deliveries failed. */
async function failed(times: number): Promise<TestEndpoint> {
  const endpoint = await anEndpoint(relay, receiver);
  receiver.behave(endpoint.path, status(500));
  await tell(endpoint, times);
  return endpoint;
}

describe("the health of an endpoint", () => {
  test("an endpoint's health follows its deliveries: ok, failing, waiting, and ok after a success", async () => {
    const endpoint = await anEndpoint(relay, receiver);
    await tell(endpoint, 1);
    expect((await readEndpoint(relay, endpoint)).health).toEqual(OK);

    receiver.behave(endpoint.path, status(500));
    await tell(endpoint, 1);
    const first = await readEndpoint(relay, endpoint);
    const [retried] = await deliveriesOf(relay, endpoint);
    expect(first.health).toEqual({
      state: "failing",
      failuresInARow: 1,
      failingSince: first.lastFailureAt,
      nextTryAt: retried.nextAttemptAt,
    });

    await tell(endpoint, 4);
    await tell(endpoint, 3);
    const later = await readEndpoint(relay, endpoint);
    const { failingSince } = first.health;
    expect(later.health).toMatchObject({ state: "waiting", failuresInARow: 5, failingSince });
    const times = (await deliveriesOf(relay, endpoint))
      .filter(({ nextAttemptAt }) => nextAttemptAt !== null)
      .map(({ nextAttemptAt }) => Date.parse(nextAttemptAt));
    expect(Date.parse(later.health.nextTryAt)).toBe(Math.min(...times));

    receiver.behave(endpoint.path, ok);
    relay.advance(10 * SECOND);
    await enqueueDueDeliveries(relay.services);
    await relay.drain();
    expect((await readEndpoint(relay, endpoint)).health).toEqual(OK);
  });

  test("the health of a disabled endpoint names no next attempt, and is ok when the endpoint is made active", async () => {
    const endpoint = await failed(2);
    const { health } = await readEndpoint(relay, endpoint);
    const disabled = dataOf(await call(endpoint, "PATCH", { status: "disabled" }));
    expect(disabled.health).toEqual({ ...health, nextTryAt: null });
    expect((await readEndpoint(relay, endpoint)).health).toEqual(disabled.health);
    expect(dataOf(await call(endpoint, "PATCH", { status: "active" })).health).toEqual(OK);
  });

  test("every answer with an endpoint has its health", async () => {
    const endpoint = await failed(1);
    const { health } = await readEndpoint(relay, endpoint);
    const { id, application } = endpoint;
    expect(health.state).toBe("failing");
    expect(dataOf(await call(endpoint, "PATCH", { description: "Orders" })).health).toEqual(health);
    const path = `/v1/webhooks/${id}/rotate-secret`;
    expect(dataOf(await relay.call("POST", path, { key: application.key })).health).toEqual(health);
    expect(dataOf(await call(endpoint, "DELETE")).health).toEqual(health);
  });

  test("health costs the list one read per endpoint, and one more where many retries are scheduled", async () => {
    const application = await anApplication(relay);
    const endpoints = [];
    for (let count = 0; count < 4; count += 1)
      endpoints.push(await anEndpoint(relay, receiver, application));
    const [first] = endpoints;
    if (first === undefined) throw new Error("there are four");
    const list = async () => {
      const { key } = application;
      const count = await countRequests(async () => {
        await relay.call("GET", "/v1/webhooks", { key });
      });
      return Object.entries(count.readsOf).find(([place]) => place.endsWith("deliveries"))?.[1];
    };
    await tell(first, 40);
    await list();
    expect(await list()).toBe(4);
    receiver.behave(first.path, status(500));
    await tell(first, 40);
    relay.advance(MINUTE);
    expect(await list()).toBe(5);
  });
});
