import { beforeEach, describe, expect, test } from "vitest";
import { useSandbox } from "./client.ts";
import type { Reply } from "./client.ts";

const at = useSandbox();
const HOST = "mastodon.sandbox.test";
const PDS = "pds.sandbox.test";
const RKEY = "3mbd3542k2222";

let token: string;
let session: { did: string; accessJwt: string };

beforeEach(async () => {
  const grant = { host: HOST, username: "demo" };
  token = at.sandbox.networks.mastodon.issueToken(grant).accessToken;
  session = (await logIn()).json as typeof session;
});

function logIn(): Promise<Reply> {
  return at.call("bsky.social", "/xrpc/com.atproto.server.createSession", {
    json: { identifier: "demo.bsky.social", password: "demo-demo-demo-demo" },
  });
}

function onMastodon(status: string, key = "leg"): Promise<Reply> {
  const headers = { "idempotency-key": key };
  return at.call(HOST, "/api/v1/statuses", { token, headers, json: { status } });
}

function onBluesky(text: string, rkey = RKEY): Promise<Reply> {
  const record = { $type: "app.bsky.feed.post", text, createdAt: "2026-11-20T09:00:00Z" };
  return at.call(PDS, "/xrpc/com.atproto.repo.putRecord", {
    token: session.accessJwt,
    json: { repo: session.did, collection: record.$type, rkey, record },
  });
}

const publishers = [
  ["mastodon", onMastodon],
  ["bluesky", onBluesky],
] as const;

describe.each(publishers)("on %s", (_network, publish) => {
  test("[fail:network_unavailable:2] lets the third attempt through", async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1)
      statuses.push((await publish("hello [fail:network_unavailable:2]")).status);
    expect(statuses).toEqual([503, 503, 200]);
  });

  test("attempts at another post are counted on their own", async () => {
    await expect(publish("hello [drop-before]", "3mbd3542k2222")).rejects.toThrow("fetch failed");
    await expect(publish("other [drop-before]", "3mbd3542k2322")).rejects.toThrow("fetch failed");
    expect((await publish("hello [drop-before]", "3mbd3542k2222")).status).toBe(200);
  });

  test("a word that is none changes nothing", async () => {
    expect((await publish("hello [dropped] [fail] world")).status).toBe(200);
  });
});

test("[slow:1] answers after a second", async () => {
  const started = performance.now();
  expect((await onMastodon("hello [slow:1]")).status).toBe(200);
  expect(performance.now() - started).toBeGreaterThan(950);
});

test("[hang] publishes and leaves the first attempt without an answer", async () => {
  const waiting = new AbortController();
  const hanging = fetch(`${at.sandbox.url}/api/v1/statuses`, {
    method: "POST",
    signal: waiting.signal,
    headers: {
      "x-forwarded-host": HOST,
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": "leg",
    },
    body: JSON.stringify({ status: "hello [hang]" }),
  });
  const outcome = hanging.then(
    () => "answered",
    () => "given up",
  );
  while (at.sandbox.posts().length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect((await onMastodon("hello [hang]")).status).toBe(200);
  waiting.abort();
  expect(await outcome).toBe("given up");
  expect(at.sandbox.posts()).toHaveLength(1);
});

describe("switches", () => {
  const fault = (json: unknown) => at.call(null, "/_sandbox/faults", { json });

  test("hit the next calls of one route, over HTTP and in the process", async () => {
    expect(
      (await fault({ network: "bluesky", route: "createSession", fault: "fail:rate_limited" }))
        .status,
    ).toBe(200);
    expect((await logIn()).status).toBe(429);
    expect((await logIn()).status).toBe(200);
    at.sandbox.fault("bluesky", "createSession", "drop-before", 2);
    await expect(logIn()).rejects.toThrow("fetch failed");
    await expect(logIn()).rejects.toThrow("fetch failed");
    expect((await logIn()).status).toBe(200);
  });

  test.each([
    ["an unknown network", { network: "myspace", route: "*", fault: "drop-before" }, "no network"],
    [
      "an unknown route",
      { network: "bluesky", route: "posts", fault: "drop-before" },
      "no route of bluesky",
    ],
    [
      "an unknown fault",
      { network: "bluesky", route: "*", fault: "explode" },
      "no fault of the sandbox",
    ],
    ["no count", { network: "bluesky", route: "*", fault: "hang", times: 0 }, '"times"'],
    ["nothing", {}, '"network" is missing'],
  ])("switches with %s are refused with the reason", async (_name, json, message) => {
    const reply = await fault(json);
    expect(reply.status).toBe(400);
    expect(reply.json["error"]).toContain(message);
  });

  test("switches are gone when they are cleared", async () => {
    at.sandbox.fault("mastodon", "*", "fail:network_unavailable", 5);
    expect((await onMastodon("hello")).status).toBe(503);
    await fault({ clear: true });
    expect((await onMastodon("hello")).status).toBe(200);
  });
});
