import { readFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { workers } from "../../src/functions/workers.ts";
import { WorkShares } from "../../src/shared/limits/limits.ts";
import { PATIENCE_MS } from "../setup/bounds.ts";
import { aLinkedAccount, anApplication, aPlatform, aProfile } from "../setup/factories.ts";
import { publisherOf, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { saveLinked } from "../setup/stored.ts";

const HELD_HOST = "held.example.com";
const QUICK_HOST = "quick.example.com";
const POSTS = 80;

function refuse(response: ServerResponse): void {
  response
    .writeHead(401, { "content-type": "application/json" })
    .end('{"error":"The access token is invalid"}');
}

/** The calls that the slow server has not answered yet. */
const held: ServerResponse[] = [];
const slow = createServer((_request, response) => void held.push(response));
const quick = createServer((_request, response) => refuse(response));
let relay: Relay;
beforeAll(async () => {
  const origins = [slow, quick].map(async (server) => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  const [slowOrigin, quickOrigin] = await Promise.all(origins);
  relay = await startRelay({
    settings: {
      OUTBOUND_HOST_MAP: JSON.stringify({ [HELD_HOST]: slowOrigin, [QUICK_HOST]: quickOrigin }),
      OUTBOUND_ALLOW_CIDRS: "127.0.0.1/32",
    },
  });
});
afterAll(async () => {
  await relay.stop();
  for (const server of [slow, quick]) {
    server.closeAllConnections();
    server.close();
  }
});

/** Profiles of a new platform with an account each: legs of one account wait for each other. */
async function publishers(host: string, count: number): Promise<readonly Publisher[]> {
  const application = await anApplication(relay, await aPlatform(relay, { tokens: 2_000 }));
  const origin = `https://${host}`;
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const { id: profileId } = await aProfile(relay, application);
      const publisher = publisherOf(relay, application, profileId);
      await saveLinked(
        relay.services,
        publisher.owner,
        "mastodon",
        aLinkedAccount(`user${index}@${host}`, {
          instanceUrl: origin,
          credentials: { origin, accessToken: "t", clientId: "c", clientSecret: "s" },
        }),
      );
      return publisher;
    }),
  );
}

/** Accepts a post of each, one after the other: posts that are accepted together share a message. */
async function accept(all: readonly Publisher[]) {
  const posts: { readonly publisher: Publisher; readonly id: string }[] = [];
  for (const [index, publisher] of all.entries()) {
    const body = { text: `Bread ${index}`, platforms: ["mastodon"] };
    posts.push({ publisher, id: (await publisher.accept(body)).id as string });
  }
  return posts;
}

interface QueueLimits {
  readonly batchSize: number;
  readonly newBatchThreshold: number;
}

/** Takes messages as the host does: batches of 32, while no more than `newBatchThreshold` are worked on. */
class QueuesOfHost {
  readonly #limits: QueueLimits;
  readonly #running = new Set<Promise<void>>();

  private constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  static async open(): Promise<QueuesOfHost> {
    return new QueuesOfHost(JSON.parse(await readFile("host.json", "utf8")).extensions.queues);
  }

  poll(): void {
    if (this.#running.size > this.#limits.newBatchThreshold) return;
    for (let taken = 0; taken < this.#limits.batchSize; taken += 1) {
      const due = relay.queues.takeDue();
      if (due === undefined) return;
      const worker = workers.find(({ queue }) => queue === due.queue);
      const work = worker?.handle(relay.services, due.message) ?? Promise.resolve();
      this.#running.add(work);
      void work.then(() => this.#running.delete(work));
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#running);
  }
}

test("a platform whose networks are slow leaves the host's messages to others, and loses no post", async () => {
  const host = await QueuesOfHost.open();
  const posts = await accept(await publishers(HELD_HOST, POSTS));
  const polling = setInterval(() => {
    relay.advance(20);
    host.poll();
  }, 20);
  onTestFinished(() => clearInterval(polling));
  await vi.waitFor(() => expect(held).toHaveLength(48), PATIENCE_MS);

  const others = await accept(await publishers(QUICK_HOST, 20));
  for (const { publisher, id } of others)
    await vi.waitFor(
      async () => expect((await publisher.read(id)).status).toBe("failed"),
      PATIENCE_MS,
    );
  expect(held).toHaveLength(48);

  const answering = setInterval(() => {
    for (const response of held.splice(0)) refuse(response);
    relay.advance(1_000);
  }, 20);
  onTestFinished(() => clearInterval(answering));
  for (const { publisher, id } of posts)
    await vi.waitFor(
      async () => expect((await publisher.read(id)).status).toBe("failed"),
      PATIENCE_MS,
    );
  clearInterval(answering);
  clearInterval(polling);
  await host.end();
});

test("a burst of quick work is not sent back", async () => {
  const { newBatchThreshold } = JSON.parse(await readFile("host.json", "utf8")).extensions.queues;
  const shares = new WorkShares();
  const again = vi.fn(async () => {});
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, (running += 1));
    await new Promise((done) => setImmediate(done));
    running -= 1;
  };
  const share = { owner: "one", now: new Date() };
  const burst = Array.from({ length: newBatchThreshold + 32 }, async () => {
    const giveBack = await shares.acquire(share, again);
    if (giveBack === undefined) return;
    await work();
    giveBack();
  });
  await Promise.all(burst);
  expect(again).not.toHaveBeenCalled();
  expect(most).toBe(48);
});

test("work that fails gives its slot back", async () => {
  const { publishing, background, webhooks } = relay.services;
  const fail = async (): Promise<never> => Promise.reject(new Error("storage is away"));
  const ids = { platformId: "pf_1", profileId: "pr_1", postId: "po_1" };
  const read = [
    vi.spyOn(publishing.stores.posts, "findToPublish").mockImplementation(fail),
    vi.spyOn(background.stores.walks, "find").mockImplementation(fail),
    vi.spyOn(webhooks.work.drains, "run").mockImplementation(fail),
  ];
  const messages = [
    { kind: "legs", ...ids, networks: ["mastodon"] },
    { kind: "walk", name: "purge-events" },
    { kind: "deliveries", endpointId: "we_1" },
  ];
  for (const [index, message] of messages.entries()) {
    const worker = workers.find(({ queue }) => queue === (index === 0 ? "publishing" : "webhooks"));
    for (let count = 0; count < 50; count += 1)
      await expect(worker?.handle(relay.services, { v: 1, ...message })).rejects.toThrow("away");
    expect(read[index]).toHaveBeenCalledTimes(50);
  }
  for (const one of read) one.mockRestore();
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
  await vi.waitFor(() => expect(hinted).toHaveLength(32), PATIENCE_MS);
  expect(rows).toHaveBeenCalledTimes(8);
  over.reject(new Error("over"));
  await Promise.allSettled(running);
  rows.mockRestore();
  relay.queues.onSend = () => "keep";
});
