import { expect, test } from "vitest";
import { updatePost } from "../../src/shared/publishing/schedule/change-scheduled.ts";
import type { Services } from "../../src/shared/compose.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { replaceIn, runAround } from "../setup/replace-in.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { enqueueDuePosts } from "../setup/walks.ts";

const MINUTE = 60_000;

const { relay } = useSandboxedRelay();

/** A process that pauses after it has committed: what it does to wakes then waits for the gate. */
function stalledAfterCommit(gate: Promise<void>): Services {
  const services = relay.another();
  let hasCommitted = false;
  runAround(services.webhooks.wakes, async (_name, run) => {
    if (hasCommitted) await gate;
    return run();
  });
  replaceIn(services.ledger.partitions, (former) => ({
    commit: async (...given) => {
      const answer = await former.commit(...given);
      hasCommitted = true;
      return answer;
    },
  }));
  return services;
}

/** A process that pauses before it commits, when its due row is written. */
function stalledBeforeCommit(reached: () => void, gate: Promise<void>): Services {
  const services = relay.another();
  replaceIn(services.ledger.partitions, (former) => ({
    commit: async (...given) => {
      reached();
      await gate;
      return former.commit(...given);
    },
  }));
  return services;
}

test("a change that brings the old time back keeps its row while it is slow to commit", async () => {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { owner } = publisher;
  const at = (ms: number) => new Date(relay.clock.now().getTime() + ms).toISOString();
  const scheduleAt = at(15 * MINUTE);
  const body = { text: unique("Moved"), platforms: ["bluesky"], scheduleAt };
  const { id: postId } = await publisher.accept(body);
  await publisher.change(postId, { scheduleAt: at(90 * MINUTE) });
  relay.advance(14 * MINUTE);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: isThere, resolve: reached } = Promise.withResolvers<void>();
  const scope = {
    requestId: "request",
    ip: "",
    caller: { kind: "system", worker: "test" },
    ...owner,
  } as const;
  const back = updatePost(stalledBeforeCommit(reached, gate).publishing, scope, {
    postId,
    change: { scheduleAt },
  });
  await isThere;
  relay.advance(MINUTE);
  await enqueueDuePosts(relay.services);
  await relay.drain();
  open();
  // The hint of the change is lost: nothing but the row stands for the post.
  relay.queues.onSend = () => "lose";
  await back;
  relay.queues.onSend = () => "keep";
  for (let minute = 0; minute < 13; minute += 1) {
    relay.advance(MINUTE);
    await enqueueDuePosts(relay.services);
    await relay.drain();
  }
  expect(await publisher.settle(postId)).toMatchObject({ status: "succeeded" });
});

test("a change that is slow to end takes nothing from a later one that brings the old time back", async () => {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { owner } = publisher;
  const at = (ms: number) => new Date(relay.clock.now().getTime() + ms).toISOString();
  const scheduleAt = at(10 * MINUTE);
  const body = { text: unique("Moved"), platforms: ["bluesky"], scheduleAt };
  const { id: postId } = await publisher.accept(body);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const scope = {
    requestId: "request",
    ip: "",
    caller: { kind: "system", worker: "test" },
    ...owner,
  } as const;
  const moved = updatePost(stalledAfterCommit(gate).publishing, scope, {
    postId,
    change: { scheduleAt: at(60 * MINUTE) },
  });
  const readTime = async () => (await publisher.read(postId)).scheduleAt;
  await expect.poll(readTime).not.toBe(scheduleAt);
  const back = await publisher.change(postId, { scheduleAt });
  expect(dataOf(back).scheduleAt).toBe(scheduleAt);
  open();
  await moved;
  for (let minute = 0; minute < 13; minute += 1) {
    relay.advance(MINUTE);
    await enqueueDuePosts(relay.services);
    await relay.drain();
  }
  expect(await publisher.settle(postId)).toMatchObject({ status: "succeeded" });
});
