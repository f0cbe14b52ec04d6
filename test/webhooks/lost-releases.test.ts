import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FatedCall } from "../model/machine.ts";
import type { TableFault } from "../model/storage-model.ts";
import { PATIENCE_MS } from "../setup/bounds.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { enqueueDueDeliveries, sweepStalledLegs } from "../setup/walks.ts";
import { startReceiver } from "./receiver.ts";
import { anEndpoint, happen, type TestEndpoint } from "./subscriber.ts";
import { forFile } from "../setup/for-file.ts";

// A lease that can't be given back is given back again, in real time. The relay's clock is stopped meanwhile, so that
// no lease ends by itself.
const SECOND = 1_000;
let relay: Relay;
let fault: (call: FatedCall) => TableFault;

const receiver = forFile(() => startReceiver());
beforeEach(async () => {
  fault = () => "pass";
  relay = await startRelay({ settings: receiver.settings, tableFault: (call) => fault(call) });
});
afterEach(() => relay.stop());

/** Workers take what is due. A worker's error is what its queue sees, and its message is gone. */
async function work(): Promise<void> {
  for (let failed = true; failed;)
    failed = await relay.drain().then(
      () => false,
      () => true,
    );
}

async function arrive({ path }: TestEndpoint, count: number): Promise<void> {
  await vi.waitFor(
    async () => {
      await work();
      expect(receiver.received(path).length).toBeGreaterThanOrEqual(count);
    },
    { timeout: PATIENCE_MS, interval: 100 },
  );
}

test("an endpoint whose lease could not be given back gets its deliveries as soon as storage answers", async () => {
  const endpoint = await anEndpoint(relay, receiver);
  await happen(relay, endpoint.application);
  // From the call to the receiver on, nothing of deliveries can be written or read.
  fault = ({ table }) =>
    table === "deliveries" && receiver.received(endpoint.path).length > 0 ? "lose_request" : "pass";
  await work();
  expect(receiver.received(endpoint.path)).toHaveLength(1);
  fault = () => "pass";
  await happen(relay, endpoint.application);
  await work();
  // The first one, whose outcome was not written, comes once more.
  await arrive(endpoint, 3);
});

test("events whose fan-out could not be given back are fanned out as soon as storage answers", async () => {
  const endpoint = await anEndpoint(relay, receiver);
  // So many that their fan-out takes a lease.
  for (let count = 0; count < 6; count += 1) await happen(relay, endpoint.application);
  let isLeased = false;
  fault = ({ table, method }) => {
    if (table === "events" && method === "POST") isLeased = true;
    return isLeased ? "lose_request" : "pass";
  };
  await work();
  expect(isLeased).toBe(true);
  fault = () => "pass";
  await happen(relay, endpoint.application);
  await arrive(endpoint, 7);
});

test("a delivery that meets an outage is made within a minute of its end", async () => {
  const endpoint = await anEndpoint(relay, receiver);
  await happen(relay, endpoint.application);
  fault = ({ table }) =>
    table === "endpoints" || table === "deliveries" ? "lose_request" : "pass";
  await work();
  relay.advance(40 * SECOND);
  fault = () => "pass";
  await work();
  relay.advance(60 * SECOND);
  await enqueueDueDeliveries(relay.services);
  await sweepStalledLegs(relay.services);
  await work();
  expect(receiver.received(endpoint.path)).toHaveLength(1);
});
