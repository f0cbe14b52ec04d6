import { expect, test } from "vitest";
import { startPost } from "../../src/shared/publishing/schedule/start-post.ts";
import type { Services } from "../../src/shared/compose.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { replaceIn } from "../setup/replace-in.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const MINUTE = 60_000;
/** More than Bluesky takes, not more than Mastodon does. */
const LONG = "and so on ".repeat(35);

const { relay, visible } = useSandboxedRelay();

const ahead = (ms: number) => new Date(relay.clock.now().getTime() + ms).toISOString();

async function schedule(publisher: Publisher, more: object = {}) {
  const text = unique("Changed");
  const body = { text, platforms: ["bluesky"], scheduleAt: ahead(10 * MINUTE), ...more };
  return { text, post: await publisher.accept(body) };
}

/** A process in which something happens between its judging of a post and its starting of it. */
function interrupted(happen: () => Promise<unknown>): Services {
  const services = relay.another();
  replaceIn(services.ledger.partitions, (former) => ({
    commit: async (...given) => {
      await happen();
      return former.commit(...given);
    },
  }));
  return services;
}

/** Starts the post in a process that is overtaken by a change of it. */
async function startOvertaken(
  publisher: Publisher,
  post: { readonly id: string; readonly scheduleAt: string },
  happen: () => Promise<unknown>,
): Promise<void> {
  const hint = { ...publisher.owner, postId: post.id, dueAt: post.scheduleAt } as const;
  await startPost(interrupted(happen).publishing, hint);
}

test("a network that is added while the post starts is paid for and published, and the post ends", async () => {
  const publisher = await aPublisher(relay);
  const { text, post } = await schedule(publisher);
  const before = await publisher.balance();
  relay.advance(10 * MINUTE);
  await startOvertaken(publisher, post, async () => {
    const change = { platforms: ["bluesky", "mastodon"] };
    expect((await publisher.change(post.id, change)).status).toBe(200);
  });
  expect(await publisher.settle(post.id)).toMatchObject({
    status: "succeeded",
    tokens: { reserved: 0, charged: 20, released: 0 },
  });
  expect(visible(text)).toHaveLength(2);
  expect(await publisher.balance()).toMatchObject({
    tokenBalance: before.tokenBalance - 20,
    tokenReserved: 0,
  });
});

test("a network that is removed while the post starts is not published", async () => {
  const publisher = await aPublisher(relay);
  const { text, post } = await schedule(publisher, { platforms: ["bluesky", "mastodon"] });
  relay.advance(10 * MINUTE);
  await startOvertaken(publisher, post, () =>
    publisher.change(post.id, { platforms: ["mastodon"] }),
  );
  expect(await publisher.settle(post.id)).toMatchObject({
    status: "succeeded",
    tokens: { charged: 10 },
  });
  expect(visible(text)).toHaveLength(1);
});

test("a post that is moved while it starts waits for its new time", async () => {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const { text, post } = await schedule(publisher);
  relay.advance(10 * MINUTE);
  const scheduleAt = ahead(30 * MINUTE);
  await startOvertaken(publisher, post, () => publisher.change(post.id, { scheduleAt }));
  await relay.drain();
  expect(await publisher.read(post.id)).toMatchObject({ status: "scheduled" });
  expect(visible(text)).toHaveLength(0);
});

test("a leg that failed from the start is not retried before its post starts, nor after it was canceled", async () => {
  const publisher = await aPublisher(relay);
  const { text, post } = await schedule(publisher, {
    text: unique(LONG),
    platforms: ["bluesky", "mastodon"],
  });
  for (const status of ["scheduled", "canceled"]) {
    if (status === "canceled") await publisher.cancel(post.id);
    expect(await publisher.call("POST", `/v1/posts/${post.id}/retry`)).toMatchObject({
      status: 409,
      body: { error: { code: "nothing_to_retry" } },
    });
    await relay.drain();
    expect(await publisher.read(post.id)).toMatchObject({ status });
  }
  expect(visible(text)).toHaveLength(0);
});

test("a leg that a change makes fail is reported immediately", async () => {
  const publisher = await aPublisher(relay);
  const { post } = await schedule(publisher, { platforms: ["bluesky", "mastodon"] });
  await relay.drain();
  await publisher.change(post.id, { text: unique(LONG) });
  await relay.drain();
  relay.advance(16_000);
  const { key, owner } = publisher;
  const events = dataOf(await relay.call("GET", "/v1/events?limit=100", { key }));
  expect(events).toContainEqual(expect.objectContaining({ type: "leg.failed" }));
  expect(await relay.services.webhooks.stores.events.listPending(owner.platformId, 1)).toEqual([]);
});
