import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { mediaReader } from "../../src/shared/media/media-reader.ts";
import { CRASHES_MAX } from "../../src/shared/publishing/call.ts";
import { publishLegs } from "../../src/shared/publishing/publish/publish-legs.ts";
import type { Services } from "../../src/shared/compose.ts";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import { FILES_HOST, serveFiles, whole, type FileServer } from "../media/file-server.ts";
import { flag } from "../media/pictures.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { sweepStalledLegs } from "../setup/walks.ts";

const LEASE_MS = 121_000;
const AT = `https://${FILES_HOST}`;

let sandbox: Sandbox;
let files: FileServer;
let relay: Relay;

beforeAll(async () => {
  const photo = await flag(600, 400).jpeg().toBuffer();
  files = await serveFiles({ "/one.jpg": whole(photo) });
  sandbox = await startSandbox({ now: () => relay?.clock.now().getTime() ?? Date.now() });
  const hosts = Object.fromEntries(sandbox.hosts.map((host) => [host, sandbox.url]));
  relay = await startRelay({
    settings: {
      ...files.settings,
      OUTBOUND_HOST_MAP: JSON.stringify({ ...hosts, [FILES_HOST]: files.origin }),
    },
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await relay.stop();
  await sandbox.stop();
  await files.close();
});

/** A post whose hint is lost: a test's own workers take its leg. */
async function submitted(publisher: Publisher) {
  relay.queues.onSend = () => "lose";
  const post = await publisher.accept({
    text: unique("Deadly"),
    platforms: ["mastodon"],
    mediaUrls: [`${AT}/one.jpg`],
  });
  relay.queues.onSend = () => "keep";
  return post;
}

const soon = () => new Date(relay.clock.now().getTime() + 10_000);

/** Never comes back, and says when it is asked. */
function never(begun: () => void): () => Promise<never> {
  return () => {
    begun();
    return new Promise(() => undefined);
  };
}

/**
 * A worker takes the leg and its process ends while a file is read: for everybody else it is as if it had never come
 * back. `before`: what the process still gets to do.
 */
async function dieReading(
  publisher: Publisher,
  postId: string,
  {
    before = () => Promise.resolve(),
    services = relay.services,
  }: {
    before?: () => Promise<void>;
    services?: Services;
  } = {},
): Promise<void> {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const spy = vi.spyOn(mediaReader, "facts").mockImplementation(never(resolve));
  const hint = { ...publisher.owner, postId, networks: ["mastodon"] } as const;
  void publishLegs(services.publishing, hint);
  await begun;
  await before();
  spy.mockRestore();
  relay.advance(LEASE_MS);
}

/** Time passes, and the sweeper finds what is left. */
async function swept(publisher: Publisher, postId: string) {
  relay.advance(LEASE_MS);
  await sweepStalledLegs(relay.services);
  return publisher.settle(postId);
}

test("a file that ends every process that reads it fails its leg, which is not charged", async () => {
  const publisher = await aPublisher(relay, ["mastodon"]);
  const { id } = await submitted(publisher);
  for (let death = 0; death < CRASHES_MAX; death += 1) await dieReading(publisher, id);
  expect(await swept(publisher, id)).toMatchObject({
    status: "failed",
    legs: [{ error: { code: "internal_error" }, tokensCharged: 0 }],
  });
  expect(await publisher.balance()).toMatchObject({ tokenReserved: 0 });
});

describe("a good file", () => {
  test("a good file is published however often the process has to stop while it reads the file", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await submitted(publisher);
    for (let deployment = 0; deployment < 4; deployment += 1) {
      const services = relay.another();
      await dieReading(publisher, id, {
        services,
        before: () => services.background.work.stop.begin(soon()),
      });
    }
    expect(await swept(publisher, id)).toMatchObject({ status: "succeeded" });
  });

  test("a good file is published however often its leg comes to a process that is about to stop", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await submitted(publisher);
    const hint = { ...publisher.owner, postId: id, networks: ["mastodon"] } as const;
    for (let deployment = 0; deployment < 4; deployment += 1) {
      const services = relay.another();
      await services.background.work.stop.begin(soon());
      await publishLegs(services.publishing, hint);
    }
    expect(await swept(publisher, id)).toMatchObject({ status: "succeeded" });
  });

  test("a good file is published although its server never answered three workers that died", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await submitted(publisher);
    const post = await publisher.read(id);
    expect(post.status).toBe("processing");
    const { promise, resolve } = Promise.withResolvers<void>();
    const { outbound: real } = relay.services.connections;
    const outbound: Services["connections"]["outbound"] = {
      request: (request) => real.request(request),
      open: never(resolve),
      browserUrl: (url) => real.browserUrl(url),
      close: () => Promise.resolve(),
    };
    const hint = { ...publisher.owner, postId: id, networks: ["mastodon"] } as const;
    for (let life = 0; life < 3; life += 1) {
      void publishLegs(relay.another({ outbound }).publishing, hint);
      await promise;
      await delay(50);
      relay.advance(LEASE_MS);
    }
    expect(await swept(publisher, id)).toMatchObject({ status: "succeeded" });
  });
});
