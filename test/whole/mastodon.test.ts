import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  aCustomer,
  balanceOf,
  endedPost,
  ledgerOf,
  legOf,
  linkMastodon,
  publish,
  readPost,
} from "./customer.ts";
import type { Customer } from "./customer.ts";
import { casesOf, IS_LONG } from "../setup/long-check.ts";
import { startInterceptor } from "./interceptor.ts";
import type { Interceptor } from "./interceptor.ts";
import { eventually, startRelayProcess } from "./relay-process.ts";
import type { RelayProcess } from "./relay-process.ts";
import { startWorld } from "./world.ts";
import type { World } from "./world.ts";

const STRICT = "mastodon.sandbox.test";
/** Keeps no idempotency keys and forgets an upload as such once it has it, like several servers in the field. */
const LENIENT = "gotosocial.sandbox.test";
/** Servers that keep no keys, each in its own way. */
const WITHOUT_KEYS = [LENIENT, "akkoma.sandbox.test", "small.sandbox.test"];
/** Instances of their own for what ends an authorisation: Mastodon gives an account one token for all its links. */
const REVOKED = "revoked.sandbox.test";
const DISABLED = "disabled.sandbox.test";
const HALF_A_MINUTE_MS = 35_000;
const PHOTO = "https://media.sandbox.test/photo.jpg";
const CLIP = "https://media.sandbox.test/clip.mp4";

let world: World;
/** In front of the sandbox: sees what is sent to the first two instances. */
let observer: Interceptor;
let relay: RelayProcess;

beforeAll(async () => {
  world = await startWorld();
  const map = JSON.parse(world.settings["OUTBOUND_HOST_MAP"] ?? "{}") as Record<string, string>;
  for (const host of [REVOKED, DISABLED]) map[host] = world.sandbox.url;
  observer = await startInterceptor(world.sandbox.url);
  for (const host of [STRICT, LENIENT]) map[host] = observer.url;
  relay = await startRelayProcess({
    settings: { ...world.settings, OUTBOUND_HOST_MAP: JSON.stringify(map) },
  });
});

afterAll(async () => {
  await Promise.all([relay?.stop(), world?.stop(), observer?.stop()]);
});

async function linkedCustomer(instance: string): Promise<Customer> {
  const customer = await aCustomer(relay, world);
  await linkMastodon(relay, customer, instance);
  return customer;
}

async function publishOn(customer: Customer, body: Readonly<Record<string, unknown>>) {
  const accepted = await publish(relay, customer, { platforms: ["mastodon"], ...body });
  expect(accepted.status).toBe(202);
  return String(accepted.body.data.id);
}

function statusesSaying(text: string, instance = STRICT) {
  return world.sandbox
    .posts("mastodon")
    .filter((status) => status.text === text && status.host === instance);
}

function callsTo(method: string, path: RegExp): number[] {
  return world.sandbox
    .requests()
    .filter((request) => request.method === method && path.test(request.path))
    .map(({ status }) => Number(status));
}

/** Published once, on the instance where its leg says, and paid for once. */
async function expectPublishedOnce(customer: Customer, postId: string, text: string) {
  const post = await endedPost(relay, customer, postId);
  const leg = legOf(post, "mastodon");
  expect(leg).toMatchObject({ status: "succeeded", error: null, tokensCharged: 10 });
  const { hostname } = new URL(leg.url);
  expect(statusesSaying(text, hostname).map(({ id }) => id)).toEqual([leg.networkPostId]);
  const entries = (await ledgerOf(relay, customer)).filter((entry) => entry.postId === postId);
  expect(entries.map(({ type, tokens }) => [type, tokens])).toEqual([
    ["reserve", 10],
    ["settle", -10],
  ]);
  return leg;
}

/** The Idempotency-Keys with which a post was sent until it was published, one for each attempt. */
async function keysSent(customer: Customer, text: string): Promise<unknown[]> {
  const before = observer.calls.length;
  await expectPublishedOnce(customer, await publishOn(customer, { text }), text);
  return observer.calls
    .slice(before)
    .filter(({ method, path }) => method === "POST" && path === "/api/v1/statuses")
    .map(({ headers }) => headers["idempotency-key"]);
}

describe.each(
  casesOf([
    ["a lenient compatible server", LENIENT],
    ["Mastodon itself", STRICT],
  ]),
)("on %s", (_, instance) => {
  let customer: Customer;

  beforeAll(async () => {
    customer = await linkedCustomer(instance);
  });

  test("a post goes out with its words, its picture and the alt text", async () => {
    const text = "Fresh rolls from seven o'clock 🥐 #bakery";
    const options = { visibility: "unlisted", language: "en", spoilerText: "Hunger" };
    const postId = await publishOn(customer, {
      text,
      mediaUrls: [PHOTO],
      altTexts: ["Rolls in a basket"],
      platformOptions: { mastodon: options },
    });
    const leg = await expectPublishedOnce(customer, postId, text);
    expect(new URL(leg.url).hostname).toBe(instance);
    expect(statusesSaying(text, instance)[0]).toMatchObject({
      visibility: "unlisted",
      languages: ["en"],
      contentWarning: "Hunger",
      media: [{ kind: "image", mimeType: "image/jpeg", alt: "Rolls in a basket" }],
    });
  });

  test.each(
    casesOf([
      ["an answer that is lost", "[drop-answer]"],
      ["an error page in place of the answer", "[error-after]"],
      ["an answer that never comes", "[hang]"],
    ]),
  )("after %s the post is found and not sent again", async (what, word) => {
    expect(await keysSent(customer, `After ${what} ${word}`)).toHaveLength(1);
  });

  test.runIf(IS_LONG)("a lost answer to a post with a picture makes one post with it", async () => {
    const text = "A picture [drop-answer]";
    const postId = await publishOn(customer, { text, mediaUrls: [PHOTO] });
    await expectPublishedOnce(customer, postId, text);
    expect(statusesSaying(text, instance)[0]?.media).toHaveLength(1);
  });

  test("a kill -9 while the answer is awaited makes one post after the restart", async () => {
    const text = "The lights went out [hang]";
    const postId = await publishOn(customer, { text });
    await eventually("the status", () => statusesSaying(text, instance)[0]);
    await relay.kill9();
    await relay.restart();
    await expectPublishedOnce(customer, postId, text);
  }, 180_000);
});

/** Attempts that the network did not get, or did not act on: nobody but the network can tell. */
const WITHOUT_EFFECT = [
  "A request that is lost [drop-before]",
  "An error page in place of the effect [html-502]",
  "An outage [fail:network_unavailable:1]",
];

describe("what Mastodon does and other servers do not", () => {
  let customer: Customer;
  /** Another post must never come under the key of one before. */
  const keysSeen: unknown[] = [];

  beforeAll(async () => {
    customer = await linkedCustomer(STRICT);
  });

  test.each(
    casesOf<[string, number]>([
      ["An outage of two attempts [fail:network_unavailable:2]", 3],
      ...WITHOUT_EFFECT.map((text): [string, number] => [text, 2]),
    ]),
  )("%s: sent %s times, at once and under one key", async (text, times) => {
    const keys = await keysSent(customer, text);
    expect(keys).toHaveLength(times);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^\S{8,}$/);
    expect(keysSeen).not.toContain(keys[0]);
    keysSeen.push(keys[0]);
  });

  test.runIf(IS_LONG)(
    "a video is polled until it is processed, one look at a time, and posted once",
    async () => {
      world.sandbox.clearFaults();
      const [uploads, looks] = [
        callsTo("POST", /media/).length,
        callsTo("GET", /v1\/media/).length,
      ];
      const text = "The oven in the morning";
      const postId = await publishOn(customer, { text, mediaUrls: [CLIP] });
      await expectPublishedOnce(customer, postId, text);
      expect(callsTo("POST", /media/).slice(uploads)).toEqual([202]);
      expect(callsTo("GET", /v1\/media/).slice(looks)).toEqual([206, 200]);
    },
  );

  test.runIf(IS_LONG)(
    "files that turn out unfinished when the post is sent are waited for and not uploaded again",
    async () => {
      const uploads = callsTo("POST", /media/).length;
      const text = "Patience [processing:1]";
      const postId = await publishOn(customer, { text, mediaUrls: [PHOTO] });
      await expectPublishedOnce(customer, postId, text);
      expect(callsTo("POST", /media/).slice(uploads)).toEqual([200]);
    },
  );
});

describe("where no key tells a repeat from a second post", () => {
  test("nothing is sent again while the first attempt may be under way, and later one post goes out", async () => {
    // Each on a server of its own: a new post of another leg might be the one that is looked for.
    const legs = await Promise.all(
      WITHOUT_EFFECT.map(async (text, at) => {
        const instance = WITHOUT_KEYS[at] ?? LENIENT;
        const customer = await linkedCustomer(instance);
        // That a list lacks a post proves something where it shows another one.
        const earlier = `Before everything else, on ${instance}`;
        await expectPublishedOnce(customer, await publishOn(customer, { text: earlier }), earlier);
        return { customer, instance, text, id: await publishOn(customer, { text }) };
      }),
    );
    for (const { customer, id } of legs) {
      const waiting = await eventually("the leg that waits", async () => {
        const leg = legOf(await readPost(relay, customer, id), "mastodon");
        const waitMs = Date.parse(leg.nextAttemptAt ?? "") - Date.now();
        return waitMs > 15_000 ? leg : undefined;
      });
      expect(waiting.status).toBe("publishing");
    }
    for (const { text, instance } of legs) expect(statusesSaying(text, instance)).toEqual([]);
    world.sandbox.advance(HALF_A_MINUTE_MS);
    await relay.restartLater(HALF_A_MINUTE_MS);
    for (const { customer, id, text } of legs) await expectPublishedOnce(customer, id, text);
  }, 180_000);
});

describe("a post that the network refuses", () => {
  let customer: Customer;

  beforeAll(async () => {
    customer = await linkedCustomer(STRICT);
  });

  /** The magic word stands in a text; the leg's end is what the contract says of its code. */
  test.each(
    casesOf([
      ["text_too_long", "text_too_long", false],
      ["text_invalid", "text_invalid", false],
      ["media_rejected", "media_rejected", false],
      ["content_rejected", "content_rejected", false],
      ["quota_exceeded", "quota_exceeded", true],
      ["invalid_request", "invalid_request", false],
    ]),
  )("[fail:%s] ends as %s, unpaid, retryable: %s", async (word, code, retryAvailable) => {
    const before = await balanceOf(relay, customer);
    const text = `No [fail:${word}]`;
    const post = await endedPost(relay, customer, await publishOn(customer, { text }));
    expect(post.status).toBe("failed");
    expect(post.tokens).toEqual({ reserved: 0, charged: 0, released: 10 });
    expect(legOf(post, "mastodon")).toMatchObject({
      status: "failed",
      attempts: 1,
      error: { code },
      retryAvailable,
      tokensCharged: 0,
    });
    expect(statusesSaying(text)).toEqual([]);
    expect(await balanceOf(relay, customer)).toEqual(before);
  });

  test("a throttle is waited out as long as the network asks, and nothing is lost meanwhile", async () => {
    const text = "Slowly [fail:rate_limited:1]";
    const postId = await publishOn(customer, { text });
    const waiting = await eventually("the throttled leg", async () => {
      const leg = legOf(await readPost(relay, customer, postId), "mastodon");
      return leg.nextAttemptAt === null ? undefined : leg;
    });
    expect(waiting.status).toBe("pending");
    const waitMs = Date.parse(waiting.nextAttemptAt) - Date.parse(waiting.lastAttemptAt);
    // The sandbox's window ends in 30 s.
    expect(waitMs).toBeGreaterThan(25_000);
    expect(waitMs).toBeLessThan(45_000);
    expect(statusesSaying(text)).toEqual([]);
  });

  test.each(
    casesOf([
      ["connection_needs_reauth", REVOKED],
      ["account_restricted", DISABLED],
    ]),
  )(
    "[fail:%s] marks the connection, and linking it again makes a retry possible",
    async (code, instance) => {
      const own = await linkedCustomer(instance);
      const text = `Who goes there? [fail:${code}:1]`;
      const post = await endedPost(relay, own, await publishOn(own, { text }));
      expect(legOf(post, "mastodon")).toMatchObject({ error: { code }, retryAvailable: false });
      const path = `/v1/profiles/${own.profileId}/connections`;
      const { body } = await relay.call("GET", path, { bearer: own.key });
      expect(body.data).toMatchObject([{ platform: "mastodon", status: "needs_reauth" }]);
      await linkMastodon(relay, own, instance);
      expect(legOf(await readPost(relay, own, post.id), "mastodon").retryAvailable).toBe(true);
      const retried = await relay.call("POST", `/v1/posts/${post.id}/retry`, {
        bearer: own.key,
        headers: { "x-profile-id": own.profileId },
        body: {},
      });
      expect(retried.status).toBe(202);
      expect((await endedPost(relay, own, post.id)).status).toBe("succeeded");
      expect(statusesSaying(text, instance)).toHaveLength(1);
    },
  );
});
