import { expect, test } from "vitest";
import { startRelay } from "../setup/relay.ts";
import { enqueueDueDeliveries, sweepStalledLegs } from "../setup/walks.ts";
import { startReceiver, status } from "./receiver.ts";
import { anEndpoint, happen } from "./subscriber.ts";
import { forFile, forTest } from "../setup/for-file.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const receiver = forFile(() => startReceiver());
const relay = forTest(() => startRelay({ settings: receiver.settings }));

const isOfEndpoint = (message: object) => "endpointId" in message;

/** The timer's run, and what it sent. */
async function tick(): Promise<void> {
  await enqueueDueDeliveries(relay.services);
  await sweepStalledLegs(relay.services);
  await relay.drain();
}

test("an event whose delivery's hint was refused is delivered by the timer's next run", async () => {
  const endpoint = await anEndpoint(relay, receiver);
  relay.queues.onSend = (message) => (isOfEndpoint(message) ? "refuse" : "keep");
  for (let count = 0; count < 3; count += 1) await happen(relay, endpoint.application);
  await relay.drain();
  relay.queues.onSend = () => "keep";
  expect(receiver.received(endpoint.path)).toHaveLength(0);
  relay.advance(20 * SECOND);
  await tick();
  expect(receiver.received(endpoint.path)).toHaveLength(3);
});

test("an event whose own hint was refused is delivered by the next sweep", async () => {
  const endpoint = await anEndpoint(relay, receiver);
  relay.queues.onSend = () => "refuse";
  await happen(relay, endpoint.application);
  relay.queues.onSend = () => "keep";
  relay.advance(20 * SECOND);
  await tick();
  expect(receiver.received(endpoint.path)).toHaveLength(1);
});

test("another attempt, whose hint was refused, is made by the timer's next run after its time", async () => {
  const endpoint = await anEndpoint(relay, receiver);
  receiver.behave(endpoint.path, status(500));
  await happen(relay, endpoint.application);
  relay.queues.onSend = (message) =>
    isOfEndpoint(message) && "dueAt" in message ? "refuse" : "keep";
  await relay.drain();
  relay.queues.onSend = () => "keep";
  expect(receiver.received(endpoint.path)).toHaveLength(1);
  // The first retry comes after 5 seconds.
  relay.advance(20 * SECOND);
  await tick();
  expect(receiver.received(endpoint.path)).toHaveLength(2);
});

test("an endpoint that sweeps can't hint is hinted by the next one that can", async () => {
  const endpoint = await anEndpoint(relay, receiver);
  relay.queues.onSend = (message) => (isOfEndpoint(message) ? "lose" : "keep");
  await happen(relay, endpoint.application);
  await relay.drain();
  relay.queues.onSend = (message) => (isOfEndpoint(message) ? "refuse" : "keep");
  for (let run = 0; run < 4; run += 1) {
    relay.advance(MINUTE + SECOND);
    await tick();
  }
  relay.queues.onSend = () => "keep";
  await tick();
  expect(receiver.received(endpoint.path)).toHaveLength(1);
});
