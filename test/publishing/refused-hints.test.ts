import { afterEach, expect, test } from "vitest";
import { aPublisher, unique } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { enqueueDuePosts, sweepStalledLegs } from "../setup/walks.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const { relay, visible } = useSandboxedRelay();
afterEach(() => {
  relay.queues.onSend = () => "keep";
});

/** The timer's run, and what it sent. */
async function tick(): Promise<void> {
  await enqueueDuePosts(relay.services);
  await sweepStalledLegs(relay.services);
  await relay.drain();
}

async function accepted(more: object = {}): Promise<string> {
  const text = unique("Refused hint");
  const publisher = await aPublisher(relay, ["bluesky"]);
  await publisher.accept({ text, platforms: ["bluesky"], ...more });
  return text;
}

test("a due post whose hint was lost, and then refused, is published by the timer's next run", async () => {
  const scheduleAt = new Date(relay.clock.now().getTime() + 2 * MINUTE).toISOString();
  const text = await accepted({ scheduleAt });
  relay.advance(MINUTE);
  relay.queues.onSend = () => "lose";
  await tick();
  // Long enough for the first hint to count as lost.
  relay.advance(2 * MINUTE + SECOND);
  relay.queues.onSend = () => "refuse";
  await tick();
  relay.queues.onSend = () => "keep";
  await tick();
  expect(visible(text)).toHaveLength(1);
});

test.each([35, 50, 95, 115])(
  "a post is in time when one run of the timer has its first hint refused, %i s before",
  async (seconds) => {
    relay.advance(MINUTE - (relay.clock.now().getTime() % MINUTE));
    const dueInMs = 3 * MINUTE + seconds * SECOND;
    const text = await accepted({
      scheduleAt: new Date(relay.clock.now().getTime() + dueInMs).toISOString(),
    });
    let refusedAt = -1;
    for (let run = 0; run * MINUTE < dueInMs; run += 1) {
      relay.queues.onSend = (message) => {
        if (!("dueAt" in message) || (refusedAt >= 0 && refusedAt !== run)) return "keep";
        refusedAt = run;
        return "refuse";
      };
      await tick();
      relay.advance(Math.min(MINUTE, dueInMs - run * MINUTE));
    }
    expect(refusedAt).toBeGreaterThan(0);
    await relay.drain();
    expect(visible(text)).toHaveLength(1);
  },
);

test("a post that is due soon, whose own hint was refused, is published by the timer's next run", async () => {
  const scheduleAt = new Date(relay.clock.now().getTime() + 20 * SECOND).toISOString();
  relay.queues.onSend = () => "refuse";
  const text = await accepted({ scheduleAt });
  relay.queues.onSend = () => "keep";
  relay.advance(21 * SECOND);
  await tick();
  expect(visible(text)).toHaveLength(1);
});

test("a post that was accepted while the queue refused hints is published by the next sweep", async () => {
  relay.queues.onSend = () => "refuse";
  const text = await accepted();
  relay.queues.onSend = () => "keep";
  relay.advance(20 * SECOND);
  await tick();
  expect(visible(text)).toHaveLength(1);
});

test("a leg that waits for another attempt, whose hint was refused, is swept when it may begin", async () => {
  const text = `${unique("Waits")} [fail:network_unavailable:1]`;
  const publisher = await aPublisher(relay, ["bluesky"]);
  await publisher.accept({ text, platforms: ["bluesky"] });
  relay.queues.onSend = () => "refuse";
  await relay.drain();
  relay.queues.onSend = () => "keep";
  expect(visible(text)).toHaveLength(0);
  relay.advance(45 * SECOND);
  await tick();
  expect(visible(text)).toHaveLength(1);
});

test("stalled legs are hinted by the next sweep as long as sweeps are refused", async () => {
  relay.queues.onSend = () => "lose";
  const text = await accepted();
  relay.queues.onSend = () => "refuse";
  for (let run = 0; run < 4; run += 1) {
    relay.advance(MINUTE + SECOND);
    await tick();
  }
  relay.queues.onSend = () => "keep";
  await tick();
  expect(visible(text)).toHaveLength(1);
});

test("a hint that was sent is not sent again by each sweep", async () => {
  relay.queues.onSend = () => "lose";
  await accepted();
  let sent = 0;
  relay.queues.onSend = (message) => {
    if ("networks" in message) sent += 1;
    return "lose";
  };
  for (let run = 0; run < 8; run += 1) {
    relay.advance(MINUTE);
    await tick();
  }
  // After 1, 2, 4 and 8 minutes.
  expect(sent).toBe(4);
});
