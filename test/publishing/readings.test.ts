import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { mediaReader } from "../../src/shared/media/media-reader.ts";
import { publishLegs } from "../../src/shared/publishing/publish/publish-leg.ts";
import { PublishHint } from "../../src/shared/publishing/post-queue.ts";
import type { Services } from "../../src/shared/compose.ts";
import { Stop } from "../../src/shared/runtime/process.ts";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { FILES_HOST, serveFiles, whole, type FileServer } from "../media/file-server.ts";
import { flag } from "../media/pictures.ts";
import { dataOf } from "../setup/factories.ts";
import {
  aPublisher,
  readBalance,
  readPost,
  settlePost,
  submitPost,
  unique,
  type Publisher,
} from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { sweepStalledLegs } from "../setup/walks.ts";

const LEASE_MS = 121_000;
const AT = `https://${FILES_HOST}`;

let sandbox: Sandbox;
let files: FileServer;
let relay: Relay;

beforeAll(async () => {
  const photo = await flag(600, 400).jpeg().toBuffer();
  files = await serveFiles({ "/one.jpg": whole(photo), "/two.jpg": whole(photo, '"two"') });
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
async function submitted(publisher: Publisher, names = ["one.jpg"]) {
  relay.queues.onSend = () => "lose";
  const post = dataOf(
    await submitPost(relay, publisher, {
      text: unique("Deadly"),
      platforms: ["mastodon"],
      mediaUrls: names.map((name) => `${AT}/${name}`),
    }),
  );
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
    reading = "facts",
  }: {
    before?: () => Promise<void>;
    services?: Services;
    reading?: "facts" | "fit";
  } = {},
): Promise<void> {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const spy = vi.spyOn(mediaReader, reading).mockImplementation(never(resolve));
  const hint = PublishHint().parse({ v: 1, ...publisher.owner, postId, networks: ["mastodon"] });
  void publishLegs(services, hint);
  await begun;
  await before();
  spy.mockRestore();
  relay.advance(LEASE_MS);
}

/** Time passes, and the sweeper finds what is left. */
async function swept(publisher: Publisher, postId: string) {
  relay.advance(LEASE_MS);
  await sweepStalledLegs(relay.services);
  return settlePost(relay, publisher, postId);
}

describe("a file that ends the process that reads it", () => {
  test.each(["facts", "fit"] as const)(
    "ends its leg with the second time, for nothing, and the customer is told (%s)",
    async (reading) => {
      const publisher = await aPublisher(relay, ["mastodon"]);
      const { id } = await submitted(publisher, ["two.jpg", "one.jpg"]);
      await dieReading(publisher, id, { reading });
      await dieReading(publisher, id, { reading });
      const post = await swept(publisher, id);
      expect(post).toMatchObject({
        status: "failed",
        legs: [
          {
            error: { code: "media_rejected", rule: "mastodon.media.crash", mediaIndex: 0 },
            retryAvailable: false,
            tokensCharged: 0,
          },
        ],
      });
      expect(await readBalance(relay, publisher)).toMatchObject({ tokenReserved: 0 });
      const { key } = publisher;
      const events = dataOf(await relay.call("GET", "/v1/events", { key }));
      relay.advance(20_000);
      const later = dataOf(await relay.call("GET", "/v1/events", { key }));
      const told = [...events, ...later].filter(
        ({ type }: { type: string }) => type === "leg.failed",
      );
      expect(told.length).toBeGreaterThan(0);
    },
  );

  test("is found although the one before it is read well each time", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await submitted(publisher, ["one.jpg", "two.jpg"]);
    const facts = mediaReader.facts.bind(mediaReader);
    const hint = PublishHint().parse({
      v: 1,
      ...publisher.owner,
      postId: id,
      networks: ["mastodon"],
    });
    for (let life = 0; life < 2; life += 1) {
      const { promise: begun, resolve } = Promise.withResolvers<void>();
      let asked = 0;
      const spy = vi.spyOn(mediaReader, "facts").mockImplementation(async (...given) => {
        asked += 1;
        return asked === 1 ? await facts(...given) : await never(resolve)();
      });
      void publishLegs(relay.services, hint);
      await begun;
      spy.mockRestore();
      relay.advance(LEASE_MS);
    }
    const post = await swept(publisher, id);
    expect(post.legs[0].error).toMatchObject({ rule: "mastodon.media.crash", mediaIndex: 1 });
  });

  test("is read again when its reading went well in between", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await submitted(publisher);
    await dieReading(publisher, id);
    // Read to its end; the network is down.
    const { outbound: real } = relay.services;
    const outbound: Services["outbound"] = {
      request: (request) =>
        request.url.startsWith(AT)
          ? real.request(request)
          : Promise.reject(new Error("out of memory")),
      open: (request) => real.open(request),
      browserUrl: (url) => real.browserUrl(url),
      close: () => Promise.resolve(),
    };
    const hint = PublishHint().parse({
      v: 1,
      ...publisher.owner,
      postId: id,
      networks: ["mastodon"],
    });
    await expect(publishLegs({ ...relay.services, outbound }, hint)).rejects.toThrow();
    relay.advance(LEASE_MS);
    await dieReading(publisher, id);
    expect(await swept(publisher, id)).toMatchObject({ status: "succeeded" });
  });
});

describe("a good file", () => {
  test("is published however often the process is told to stop while it reads it", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await submitted(publisher);
    for (let deployment = 0; deployment < 4; deployment += 1) {
      const services = { ...relay.services, stop: new Stop() };
      await dieReading(publisher, id, { services, before: () => services.stop.begin(soon()) });
    }
    expect(await swept(publisher, id)).toMatchObject({ status: "succeeded" });
  });

  test("is published however often it comes to a process that was told to stop before", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await submitted(publisher);
    const hint = PublishHint().parse({
      v: 1,
      ...publisher.owner,
      postId: id,
      networks: ["mastodon"],
    });
    for (let deployment = 0; deployment < 4; deployment += 1) {
      const services = { ...relay.services, stop: new Stop() };
      await services.stop.begin(soon());
      await publishLegs(services, hint);
    }
    expect(await swept(publisher, id)).toMatchObject({ status: "succeeded" });
  });

  test("leaves no note behind, and costs a post of one image two writes at the most", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await submitted(publisher);
    const { posts } = relay.services;
    const noted: string[] = [];
    const replace = posts.replaceLegIfUnchanged.bind(posts);
    vi.spyOn(posts, "replaceLegIfUnchanged").mockImplementation((place, leg, etag) => {
      noted.push(JSON.stringify(leg.readings));
      return replace(place, leg, etag);
    });
    expect(await swept(publisher, id)).toMatchObject({ status: "succeeded" });
    expect(noted.filter((note) => note === '{"0":1}')).toHaveLength(1);
    expect(noted.at(-1)).toBe("{}");
    expect(noted.length).toBeLessThanOrEqual(4);
  });

  test("whose server takes its time is not noted as being read meanwhile", async () => {
    const publisher = await aPublisher(relay, ["mastodon"]);
    const { id } = await submitted(publisher);
    const post = await readPost(relay, publisher, id);
    expect(post.status).toBe("processing");
    const { promise, resolve } = Promise.withResolvers<void>();
    const { outbound: real } = relay.services;
    const outbound: Services["outbound"] = {
      request: (request) => real.request(request),
      open: never(resolve),
      browserUrl: (url) => real.browserUrl(url),
      close: () => Promise.resolve(),
    };
    const hint = PublishHint().parse({
      v: 1,
      ...publisher.owner,
      postId: id,
      networks: ["mastodon"],
    });
    for (let life = 0; life < 3; life += 1) {
      void publishLegs({ ...relay.services, outbound }, hint);
      await promise;
      await delay(50);
      relay.advance(LEASE_MS);
    }
    expect(await swept(publisher, id)).toMatchObject({ status: "succeeded" });
  });
});
