import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../sandbox/server.ts";
import { callAt, useSandbox } from "./client.ts";

const at = useSandbox();
const HOST = "mastodon.sandbox.test";
const MEDIA = "media.sandbox.test";

async function publish(json: Record<string, unknown>): Promise<Record<string, unknown>> {
  const grant = { host: HOST, username: "demo" };
  const token = at.sandbox.networks.mastodon.issueToken(grant).accessToken;
  return (await at.call(HOST, "/api/v1/statuses", { token, json })).json;
}

describe("the front page", () => {
  test("shows a post with its links, and nothing of it runs", async () => {
    await publish({
      status: "<script>alert(1)</script> https://example.com/?a=1&b=2 #news",
      spoiler_text: '"><img src=x>',
    });
    const page = await at.call(null, "/");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(page.text).toContain('href="https://example.com/?a=1&amp;b=2"');
    expect(page.text).toContain("&quot;&gt;&lt;img src=x&gt;");
    expect(page.text).not.toContain("<script");
    expect(page.text).not.toContain("<img src=x");
  });

  test("names the logins and the magic words, and refreshes without a script", async () => {
    const page = await at.call(null, "/");
    for (const word of [
      "demo-demo-demo-demo",
      "[drop-answer]",
      "/photo.jpg",
      'http-equiv="refresh"',
    ])
      expect(page.text).toContain(word);
  });

  test("a link of another scheme is shown as text", async () => {
    const session = await at.call("bsky.social", "/xrpc/com.atproto.server.createSession", {
      json: { identifier: "demo.bsky.social", password: "demo-demo-demo-demo" },
    });
    const features = [{ $type: "app.bsky.richtext.facet#link", uri: "javascript:alert(1)" }];
    const record = {
      text: "click",
      createdAt: "2026-11-20T09:00:00Z",
      facets: [{ index: { byteStart: 0, byteEnd: 5 }, features }],
    };
    const reply = await at.call("bsky.social", "/xrpc/com.atproto.repo.putRecord", {
      token: String(session.json["accessJwt"]),
      json: {
        repo: session.json["did"],
        collection: "app.bsky.feed.post",
        rkey: "3mbd3542k2222",
        record,
      },
    });
    expect(reply.status).toBe(200);
    expect((await at.call(null, "/")).text).not.toContain("javascript:");
  });
});

test("every post has a page, at the network's own address and at the sandbox's", async () => {
  const { url } = await publish({ status: "to be found" });
  const [post] = at.sandbox.posts();
  expect((await at.call(null, post?.page ?? "")).text).toContain("to be found");
  expect((await at.call(HOST, new URL(String(url)).pathname)).text).toContain("to be found");
});

test("the page of uploads says what it lacks, and lends its key to no other origin", async () => {
  const without = await at.call(null, "/uploads");
  expect([without.status, without.text.includes("npm start")]).toEqual([404, true]);
  const heard: string[] = [];
  const relay = createServer((request, response) => {
    heard.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end("{}");
  });
  await once(relay.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void relay.close());
  const baseUrl = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/api`;
  at.sandbox.customer = { baseUrl, apiKey: "key", profileId: "prf_1", curlFile: "demo.curl" };
  expect((await at.call(null, "/uploads")).text).not.toContain("apiKey");
  const call = (path: string, origin: string, method = "POST") =>
    at.call(null, `/uploads/v1/${path}`, { method, headers: { origin } });
  const results = [
    await call("media", "https://evil.example"),
    await call("media/m_1", "null", "DELETE"),
    await call("media/%2e%2e/complete", at.sandbox.url),
    await call("media/m_1/complete", at.sandbox.url),
  ];
  expect(results.map(({ status }) => status)).toEqual([403, 403, 404, 200]);
  expect(heard).toEqual(["POST /api/v1/media/m_1/complete Bearer key"]);
});

test("what was published is told as JSON, by network", async () => {
  await publish({ status: "as JSON" });
  const all = await at.call(null, "/_sandbox/posts");
  expect(all.json["posts"]).toMatchObject([
    { network: "mastodon", host: HOST, text: "as JSON", html: "<p>as JSON</p>", media: [] },
  ]);
  expect((await at.call(null, "/_sandbox/posts?network=bluesky")).json["posts"]).toEqual([]);
});

test("requests are logged without secrets", async () => {
  await publish({ status: "logged" });
  await at.call(HOST, "/oauth/authorize?client_id=c&state=hidden&code=hidden");
  const { text, json } = await at.call(null, "/_sandbox/requests");
  expect(json["requests"]).toMatchObject([
    {
      method: "POST",
      path: "/api/v1/statuses",
      status: 200,
      route: "statuses",
      authorization: "present",
    },
    { method: "GET", host: HOST, status: 401, route: "authorize" },
  ]);
  expect(text).not.toContain("hidden");
});

test("a reset leaves the demo accounts alone", async () => {
  await publish({ status: "gone soon" });
  at.sandbox.networks.mastodon.addAccount(HOST, "visitor");
  expect((await at.call(null, "/_sandbox/reset", { method: "POST" })).status).toBe(200);
  expect(at.sandbox.posts()).toEqual([]);
  expect(at.sandbox.networks.mastodon.accounts.map(({ username }) => username)).not.toContain(
    "visitor",
  );
});

test("the sandbox's switches are out of reach under any other host name", async () => {
  const reply = await fetch(`${at.sandbox.url}/_sandbox/posts`, {
    headers: { "x-forwarded-host": "evil.example" },
  });
  expect(reply.status).toBe(404);
});

test("accounts, tokens, posts and files are there again after a restart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sandbox-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const photo = new File(
    [await readFile(new URL("../../sandbox/media/photo.jpg", import.meta.url))],
    "p",
    {
      type: "image/jpeg",
    },
  );
  const first = await startSandbox({ state: folder });
  const login = { identifier: "demo.bsky.social", password: "demo-demo-demo-demo" };
  const session = await callAt(first.url, "bsky.social", "/xrpc/com.atproto.server.createSession", {
    json: login,
  });
  const token = first.networks.mastodon.issueToken({ host: HOST, username: "demo" }).accessToken;
  const form = new FormData();
  form.set("file", photo);
  const media = await callAt(first.url, HOST, "/api/v2/media", { token, body: form });
  const json = { status: "kept", media_ids: [media.json["id"]] };
  await callAt(first.url, HOST, "/api/v1/statuses", { token, json });
  await first.stop();

  const second = await startSandbox({ state: folder });
  onTestFinished(() => second.stop());
  expect(second.posts()).toMatchObject([{ text: "kept", media: [{ mimeType: "image/jpeg" }] }]);
  const file = await fetch(second.url + (second.posts()[0]?.media[0]?.path ?? ""));
  expect((await file.arrayBuffer()).byteLength).toBe(photo.size);
  const me = await callAt(second.url, HOST, "/api/v1/accounts/verify_credentials", { token });
  expect(me.status).toBe(200);
  const refreshed = await callAt(
    second.url,
    "bsky.social",
    "/xrpc/com.atproto.server.refreshSession",
    {
      method: "POST",
      token: String(session.json["refreshJwt"]),
    },
  );
  expect(refreshed.status).toBe(200);
});

describe("sample media", () => {
  test.each([
    ["/photo.jpg", "image/jpeg", 30_000, 60_000],
    ["/photo-7.jpg", "image/jpeg", 30_000, 60_000],
    ["/portrait.jpg", "image/jpeg", 20_000, 60_000],
    ["/photo.png", "image/png", 20_000, 100_000],
    ["/photo.webp", "image/webp", 10_000, 60_000],
    ["/animation.gif", "image/gif", 20_000, 100_000],
    ["/clip.mp4", "video/mp4", 50_000, 300_000],
    ["/large.jpg", "image/jpeg", 2_000_001, 3_000_000],
  ])("%s is a %s, and HEAD tells its size", async (path, type, min, max) => {
    const head = await at.call(MEDIA, path, { method: "HEAD" });
    const length = Number(head.headers.get("content-length"));
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers.get("content-type")).toBe(type);
    expect(length).toBeGreaterThan(min);
    expect(length).toBeLessThan(max);
    const response = await fetch(`${at.sandbox.url}/_sandbox/media${path}`);
    expect((await response.arrayBuffer()).byteLength).toBe(length);
  });

  test("an article describes itself for a link card, picture included", async () => {
    const page = await at.call("links.sandbox.test", "/article");
    expect(page.text).toContain(
      'property="og:title" content="The lake at dawn: a walk &amp; a photograph"',
    );
    expect(page.text).toContain(
      'property="og:image" content="https://media.sandbox.test/card.jpg"',
    );
  });
});
