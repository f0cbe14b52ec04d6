import { readFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { workers } from "../../src/functions/workers.ts";
import { aLinkedAccount, anApplication, aPlatform, aProfile } from "../setup/factories.ts";
import { publisherOf, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { saveLinked } from "../setup/stored.ts";

const HELD_HOST = "held.example.com";
const POSTS = 80;

/** The calls that the slow server has not answered yet. */
let held: ServerResponse[] = [];
const slow = createServer((_request, response) => void held.push(response));
let relay: Relay;
beforeAll(async () => {
  slow.listen(0, "127.0.0.1");
  await once(slow, "listening");
  const origin = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  relay = await startRelay({
    settings: {
      OUTBOUND_HOST_MAP: JSON.stringify({ [HELD_HOST]: origin }),
      OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
    },
  });
});
afterAll(async () => {
  await relay.stop();
  slow.closeAllConnections();
  slow.close();
});

/** A profile for each post, with an account of its own at the slow server: legs of one account wait for each other. */
async function publishers(): Promise<readonly Publisher[]> {
  const application = await anApplication(relay, await aPlatform(relay, { tokens: 2_000 }));
  return Promise.all(
    Array.from({ length: POSTS }, async (_, index) => {
      const { id: profileId } = await aProfile(relay, application);
      const publisher = publisherOf(relay, application, profileId);
      const origin = `https://${HELD_HOST}`;
      await saveLinked(
        relay.services,
        publisher.owner,
        "mastodon",
        aLinkedAccount(`slow${index}@${HELD_HOST}`, {
          instanceUrl: origin,
          credentials: { origin, accessToken: "t", clientId: "c", clientSecret: "s" },
        }),
      );
      return publisher;
    }),
  );
}

/** How many messages of a queue the host gives to a process at a time. */
async function messagesOfHost(): Promise<number> {
  const { extensions } = JSON.parse(await readFile("host.json", "utf8"));
  return extensions.queues.batchSize + extensions.queues.newBatchThreshold;
}

test("a platform whose networks are slow leaves the host's messages to others, and loses no post", async () => {
  const all = await publishers();
  const posts = await Promise.all(
    all.map(async (publisher, index) => {
      const body = { text: `Bread ${index}`, platforms: ["mastodon"] };
      return { publisher, id: (await publisher.accept(body)).id as string };
    }),
  );
  const running = new Set<Promise<void>>();
  const handleDue = () => {
    for (let due = relay.queues.takeDue(); due !== undefined; due = relay.queues.takeDue()) {
      const { queue, message } = due;
      const worker = workers.find((known) => known.queue === queue);
      const work = worker?.handle(relay.services, message) ?? Promise.resolve();
      running.add(work);
      void work.then(() => running.delete(work));
    }
  };
  // Those of the burst are spread over some seconds.
  for (let second = 0; second < 10; second += 1) {
    handleDue();
    relay.advance(1_000);
    await new Promise((done) => setTimeout(done, 50));
  }
  await vi.waitFor(() => expect(held.length).toBeGreaterThan(30), 10_000);
  expect(held.length).toBeLessThanOrEqual((await messagesOfHost()) - 10);

  const answering = setInterval(() => {
    for (const response of held)
      response
        .writeHead(401, { "content-type": "application/json" })
        .end('{"error":"The access token is invalid"}');
    held = [];
    relay.advance(1_000);
    handleDue();
  }, 20);
  for (const { publisher, id } of posts)
    await vi.waitFor(async () => expect((await publisher.read(id)).status).toBe("failed"), 20_000);
  clearInterval(answering);
  await Promise.all(running);
});

test("walks leave the queue's messages to deliveries, and come back later", async () => {
  const hinted: object[] = [];
  relay.queues.onSend = (message) => {
    hinted.push(message);
    return "lose";
  };
  const over = Promise.withResolvers<never>();
  const rows = vi
    .spyOn(relay.services.background.stores.walks, "find")
    .mockReturnValue(over.promise);
  const worker = workers.find(({ queue }) => queue === "webhooks");
  const walk = { v: 1, kind: "walk", name: "purge-events" };
  const many = Array.from({ length: 40 }, () => walk);
  const running = many.map(async (message) => worker?.handle(relay.services, message));
  await vi.waitFor(() => expect(hinted).toHaveLength(32));
  expect(rows).toHaveBeenCalledTimes(8);
  over.reject(new Error("over"));
  await Promise.allSettled(running);
  rows.mockRestore();
  relay.queues.onSend = () => "keep";
});
