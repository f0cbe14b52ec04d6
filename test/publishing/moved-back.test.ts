import { expect, test } from "vitest";
import { updatePost } from "../../src/shared/publishing/schedule/change-scheduled.ts";
import type { Services } from "../../src/shared/compose.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, settlePost, submitPost, unique } from "../setup/publisher.ts";
import type { Relay } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { enqueueDuePosts } from "../setup/walks.ts";

const MINUTE = 60_000;
let relay: Relay;

useSandboxedRelay((started) => {
  relay = started.relay;
});

/** A process that stands still after it has committed: what it does to wakes then waits for the gate. */
function stalledAfterCommit(services: Services, gate: Promise<void>): Services {
  let hasCommitted = false;
  const wakes = new Proxy(services.wakes, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...given: unknown[]): Promise<unknown> => {
        if (hasCommitted) await gate;
        return (await Reflect.apply(value, target, given)) as unknown;
      };
    },
  });
  const wallets = new Proxy(services.wallets, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...given: unknown[]): Promise<unknown> => {
        const answer = (await Reflect.apply(value, target, given)) as unknown;
        if (name === "commit") hasCommitted = true;
        return answer;
      };
    },
  });
  return { ...services, wakes, wallets };
}

/** A process that stands still before it commits, when its due row is written. */
function stalledBeforeCommit(
  services: Services,
  { reached, gate }: { readonly reached: () => void; readonly gate: Promise<void> },
): Services {
  const wallets = new Proxy(services.wallets, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...given: unknown[]): Promise<unknown> => {
        if (name === "commit") {
          reached();
          await gate;
        }
        return (await Reflect.apply(value, target, given)) as unknown;
      };
    },
  });
  return { ...services, wallets };
}

test("a change that brings the old time back keeps its row while it is slow to commit", async () => {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { key, headers, owner } = publisher;
  const at = (ms: number) => new Date(relay.clock.now().getTime() + ms).toISOString();
  const scheduleAt = at(15 * MINUTE);
  const body = { text: unique("Moved"), platforms: ["bluesky"], scheduleAt };
  const { id: postId } = dataOf(await submitPost(relay, publisher, body));
  await relay.call("PATCH", `/v1/posts/${postId}`, {
    key,
    headers,
    body: { scheduleAt: at(90 * MINUTE) },
  });
  relay.advance(14 * MINUTE);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: isThere, resolve: reached } = Promise.withResolvers<void>();
  const scope = {
    requestId: "request",
    ip: "",
    caller: { kind: "system", worker: "test" },
    ...owner,
  } as const;
  const back = updatePost(stalledBeforeCommit(relay.services, { reached, gate }), scope, {
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
  expect(await settlePost(relay, publisher, postId)).toMatchObject({ status: "succeeded" });
});

test("a change that is slow to end takes nothing from a later one that brings the old time back", async () => {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { key, headers, owner } = publisher;
  const at = (ms: number) => new Date(relay.clock.now().getTime() + ms).toISOString();
  const scheduleAt = at(10 * MINUTE);
  const body = { text: unique("Moved"), platforms: ["bluesky"], scheduleAt };
  const { id: postId } = dataOf(await submitPost(relay, publisher, body));
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const scope = {
    requestId: "request",
    ip: "",
    caller: { kind: "system", worker: "test" },
    ...owner,
  } as const;
  const moved = updatePost(stalledAfterCommit(relay.services, gate), scope, {
    postId,
    change: { scheduleAt: at(60 * MINUTE) },
  });
  const readTime = async () =>
    dataOf(await relay.call("GET", `/v1/posts/${postId}`, { key, headers })).scheduleAt;
  await expect.poll(readTime).not.toBe(scheduleAt);
  const back = await relay.call("PATCH", `/v1/posts/${postId}`, {
    key,
    headers,
    body: { scheduleAt },
  });
  expect(dataOf(back).scheduleAt).toBe(scheduleAt);
  open();
  await moved;
  for (let minute = 0; minute < 13; minute += 1) {
    relay.advance(MINUTE);
    await enqueueDuePosts(relay.services);
    await relay.drain();
  }
  expect(await settlePost(relay, publisher, postId)).toMatchObject({ status: "succeeded" });
});
