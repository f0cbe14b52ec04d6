import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { useSandbox } from "./client.ts";
import type { Reply } from "./client.ts";

const at = useSandbox();
const HOST = "mastodon.sandbox.test";
const PDS = "pds.sandbox.test";
const RKEY = "3mbd3542k2222";
const PHOTO = readFileSync(new URL("../../dev/networks/media/photo.jpg", import.meta.url));

let token: string;
let session: { did: string; accessJwt: string; refreshJwt: string };

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
  test("[drop-answer] publishes and cuts the first answer; the identical repeat is answered", async () => {
    await expect(publish("hello [drop-answer]")).rejects.toThrow("fetch failed");
    expect(at.sandbox.posts()).toHaveLength(1);
    expect((await publish("hello [drop-answer]")).status).toBe(200);
    expect(at.sandbox.posts()).toMatchObject([{ edits: 0 }]);
  });

  test("[drop-before] cuts the first attempt before anything happens", async () => {
    await expect(publish("hello [drop-before]")).rejects.toThrow("fetch failed");
    expect(at.sandbox.posts()).toHaveLength(0);
    expect((await publish("hello [drop-before]")).status).toBe(200);
  });

  test("[error-after] publishes behind an HTML 502 page, once", async () => {
    const first = await publish("hello [error-after]");
    expect(first).toMatchObject({ status: 502, json: {} });
    expect(first.headers.get("content-type")).toContain("text/html");
    expect(at.sandbox.posts()).toHaveLength(1);
    expect((await publish("hello [error-after]")).status).toBe(200);
    expect(at.sandbox.posts()).toHaveLength(1);
  });

  test("[html-502] answers a page before anything happens, once", async () => {
    expect((await publish("hello [html-502]")).status).toBe(502);
    expect(at.sandbox.posts()).toHaveLength(0);
    expect((await publish("hello [html-502]")).status).toBe(200);
  });

  test("[fail:network_unavailable] is a 503 for as long as it is in the text", async () => {
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect((await publish("hello [fail:network_unavailable]")).status).toBe(503);
    expect(at.sandbox.posts()).toHaveLength(0);
  });

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

  test("[fail:connection_needs_reauth] ends the authorisation for good", async () => {
    const refused = await publish("hello [fail:connection_needs_reauth]");
    expect([400, 401]).toContain(refused.status);
    expect((await publish("another")).status).toBe(refused.status);
    expect(at.sandbox.posts()).toHaveLength(0);
  });

  test("a word that is none changes nothing", async () => {
    expect((await publish("hello [dropped] [fail] world")).status).toBe(200);
  });
});

describe("a failure is said in the network's own words", () => {
  test.each([
    ["rate_limited", 429, "Too many requests"],
    ["permission_missing", 403, "This action is outside the authorized scopes"],
    ["account_restricted", 403, "Your login is currently disabled"],
    ["content_rejected", 403, "This action is not allowed"],
    ["text_too_long", 422, "Validation failed: Text character limit of 500 exceeded"],
    ["media_rejected", 422, "Validation failed: File content type is invalid"],
    ["invalid_request", 422, "Validation failed: The sandbox refuses this (invalid_request)"],
  ])("mastodon: %s", async (code, status, error) => {
    expect(await onMastodon(`hello [fail:${code}]`)).toMatchObject({ status, json: { error } });
  });

  test.each([
    ["rate_limited", 429, "RateLimitExceeded"],
    ["permission_missing", 403, "ScopeMissingError"],
    ["account_restricted", 401, "AccountTakedown"],
    ["text_too_long", 400, "InvalidRequest"],
    ["media_rejected", 400, "InvalidRequest"],
    ["media_processing_failed", 400, "BlobNotFound"],
    ["invalid_request", 400, "InvalidRequest"],
  ])("bluesky: %s", async (code, status, error) => {
    expect(await onBluesky(`hello [fail:${code}]`)).toMatchObject({ status, json: { error } });
  });

  test("a wait ends when the headers say", async () => {
    const short = await onMastodon("hello [fail:rate_limited]");
    const wait = Date.parse(short.headers.get("x-ratelimit-reset") ?? "") - Date.now();
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThan(60_000);
    const long = await onBluesky("hello [fail:quota_exceeded]");
    const until = Number(long.headers.get("ratelimit-reset")) * 1000;
    expect(until - Date.now()).toBeGreaterThan(3_600_000);
  });

  test("after connection_needs_reauth a bluesky session can't be refreshed, and a new log-in works", async () => {
    await onBluesky("hello [fail:connection_needs_reauth]");
    const refreshed = await at.call(PDS, "/xrpc/com.atproto.server.refreshSession", {
      method: "POST",
      token: session.refreshJwt,
    });
    expect(refreshed).toMatchObject({ status: 400, json: { error: "ExpiredToken" } });
    session = (await logIn()).json as typeof session;
    expect((await onBluesky("hello")).status).toBe(200);
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

describe("media", () => {
  function upload(description: string): Promise<Reply> {
    const form = new FormData();
    form.set("file", new File([PHOTO], "photo.jpg", { type: "image/jpeg" }));
    form.set("description", description);
    return at.call(HOST, "/api/v2/media", { token, body: form });
  }
  const look = (id: unknown) => at.call(HOST, `/api/v1/media/${String(id)}`, { token });

  test("[processing:3] in an alt text needs three looks", async () => {
    const reply = await upload("a lake [processing:3]");
    expect(reply).toMatchObject({ status: 202, json: { url: null } });
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await look(reply.json["id"])).status);
    expect(statuses).toEqual([206, 206, 200]);
  });

  test("[processing:2] in a post makes its files wait once", async () => {
    const { id } = (await upload("a lake")).json;
    const attach = () =>
      at.call(HOST, "/api/v1/statuses", {
        token,
        json: { status: "x [processing:2]", media_ids: [id] },
      });
    expect((await attach()).json["error"]).toContain("not finished processing");
    expect((await look(id)).status).toBe(206);
    expect((await look(id)).status).toBe(200);
    expect((await attach()).status).toBe(200);
  });

  test("[fail:media_processing_failed] shows when the file is looked at", async () => {
    const reply = await upload("a lake [fail:media_processing_failed]");
    expect(reply.status).toBe(202);
    expect(await look(reply.json["id"])).toMatchObject({
      status: 422,
      json: { error: "Error processing thumbnail for uploaded media" },
    });
  });
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

  test("refuse a refresh and an upload in the words of each", async () => {
    at.sandbox.fault("bluesky", "refreshSession", "fail:connection_needs_reauth");
    const refreshed = await at.call(PDS, "/xrpc/com.atproto.server.refreshSession", {
      method: "POST",
      token: session.refreshJwt,
    });
    expect(refreshed).toMatchObject({ status: 400, json: { error: "ExpiredToken" } });
    at.sandbox.fault("bluesky", "uploadBlob", "fail:media_rejected");
    const upload = await at.call(PDS, "/xrpc/com.atproto.repo.uploadBlob", {
      token: session.accessJwt,
      body: new Uint8Array(PHOTO),
      headers: { "content-type": "image/jpeg" },
    });
    expect(upload).toMatchObject({ status: 413, json: { error: "PayloadTooLarge" } });
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
  ])("with %s are refused with the reason", async (_name, json, message) => {
    const reply = await fault(json);
    expect(reply.status).toBe(400);
    expect(reply.json["error"]).toContain(message);
  });

  test("are gone when they are cleared", async () => {
    at.sandbox.fault("mastodon", "*", "fail:network_unavailable", 5);
    expect((await onMastodon("hello")).status).toBe(503);
    await fault({ clear: true });
    expect((await onMastodon("hello")).status).toBe(200);
  });

  test("of a network expire tokens over HTTP, and unknown ones are a 404", async () => {
    const expire = await at.call(null, "/_sandbox/controls/bluesky/expireAccessTokens", {
      json: {},
    });
    expect(expire.status).toBe(200);
    expect((await onBluesky("hello")).json["error"]).toBe("ExpiredToken");
    expect((await at.call(null, "/_sandbox/controls/bluesky/explode", { json: {} })).status).toBe(
      404,
    );
    const incomplete = await at.call(null, "/_sandbox/controls/bluesky/revokeAppPasswords", {
      json: {},
    });
    expect(incomplete).toMatchObject({ status: 400, json: { error: '"handle" is missing' } });
  });
});
