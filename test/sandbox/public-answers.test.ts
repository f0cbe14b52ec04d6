import { beforeEach, describe, expect, test } from "vitest";
import { DEMO_PAGE } from "../../sandbox/facebook/state.ts";
import { DEMO_ACCOUNT } from "../../sandbox/instagram/state.ts";
import { DEMO_MEMBER } from "../../sandbox/linkedin/state.ts";
import { PUBLIC_ANSWERS } from "../../sandbox/public-answers.ts";
import { useSandbox } from "./client.ts";
import type { CallOptions, Reply } from "./client.ts";
import {
  LINKEDIN_HEADERS,
  blueskySession,
  instagramToken,
  linkedInToken,
  pageToken,
} from "./linked.ts";

const at = useSandbox();

test("the front page lists every public answer", async () => {
  const { text } = await at.call(null, "/");
  for (const { name } of PUBLIC_ANSWERS) expect(text).toContain(`[answer:${name}]`);
});

test("a switch takes the public answers of its own network alone", () => {
  expect(() => at.sandbox.fault("facebook", "remove", "answer:gone-33")).not.toThrow();
  expect(() => at.sandbox.fault("mastodon", "remove", "answer:gone-33")).toThrow("no fault");
});

describe("Facebook", () => {
  let token: string;
  const graph = (path: string, options: CallOptions = {}): Promise<Reply> =>
    at.call("graph.facebook.com", `/v26.0${path}`, { token, ...options });
  const post = async (message: string): Promise<Reply> =>
    await graph(`/${DEMO_PAGE}/feed`, { json: { message } });

  beforeEach(async () => {
    token = await pageToken((...args) => at.call(...args));
  });

  test.each([
    ["gone-33", 33, undefined],
    ["gone-1705", 1705, undefined],
    ["gone-10", 10, undefined],
    ["gone-100", 100, undefined],
    ["gone-803", undefined, 803],
  ])("says by %s that the post had been deleted", async (name, ofRemoval, ofRead) => {
    const { id } = (await post(`Hello [answer:${name}]`)).json;
    expect((await graph(`/${String(id)}?fields=id`)).status).toBe(200);
    const removal = await graph(`/${String(id)}`, { method: "DELETE" });
    const codeOf = ({ json }: Reply) => (json["error"] as { code: number } | undefined)?.code;
    expect(codeOf(removal)).toBe(ofRemoval);
    expect(at.sandbox.posts()).toEqual([]);
    const read = await graph(`/${String(id)}?fields=id`);
    const gone = name === "gone-10" || name === "gone-100" ? ofRemoval : 100;
    expect([read.status, codeOf(read)]).toEqual([400, ofRead ?? gone]);
    expect((await graph(`/${DEMO_PAGE}?fields=id`)).status).toBe(200);
  });

  test("counts the attempts that a word is for", async () => {
    const text = "Hello [answer:posted-already:1]";
    expect((await post(text)).json).toMatchObject({ error: { code: 368 } });
    expect((await post(text)).status).toBe(200);
  });

  test("puts the waits of other limits into the header of use", async () => {
    const { json, headers } = await post("Hello [answer:usage-of-others]");
    expect(json).toMatchObject({ error: { code: 80_001 } });
    const usage = JSON.parse(headers.get("x-business-use-case-usage") ?? "") as object;
    const waits = Object.entries(usage).map(([id, uses]) => [
      id,
      (uses as { estimated_time_to_regain_access: number }[]).map(
        (use) => use.estimated_time_to_regain_access,
      ),
    ]);
    expect(waits).toEqual([
      ["1234567890", [300, 0]],
      [DEMO_PAGE, [2]],
    ]);
  });
});

describe("Instagram", () => {
  let token: string;
  const graph = (path: string, options: CallOptions = {}): Promise<Reply> =>
    at.call("graph.instagram.com", `/v26.0${path}`, { token, ...options });
  const container = async (caption: string): Promise<string> => {
    const form = { image_url: "https://media.sandbox.test/portrait.jpg", caption };
    return String((await graph(`/${DEMO_ACCOUNT}/media`, { form })).json["id"]);
  };

  beforeEach(async () => {
    token = await instagramToken((...args) => at.call(...args));
  });

  test.each([
    ["unreadable", { code: 100, error_subcode: 33 }],
    ["unreadable-10", { code: 10 }],
  ])("publishes a container that %s hides", async (name, error) => {
    const creation_id = await container(`Hello [answer:${name}]`);
    expect((await graph(`/${creation_id}?fields=status_code`)).json).toMatchObject({ error });
    const form = { creation_id };
    const { id } = (await graph(`/${DEMO_ACCOUNT}/media_publish`, { form })).json;
    expect(at.sandbox.posts()).toHaveLength(1);
    expect((await graph(`/${String(id)}?fields=permalink`)).json).toMatchObject({ error });
    expect((await graph(`/${DEMO_ACCOUNT}/media`)).json["data"]).toEqual([{ id }]);
  });

  test("refuses the requests of one account, and not those of others", async () => {
    const read = () => graph(`/${DEMO_ACCOUNT}/content_publishing_limit`);
    const switchOn = (account: string) =>
      at.call(null, "/_sandbox/faults", {
        json: {
          network: "instagram",
          route: "contentPublishingLimit",
          fault: "answer:unsupported-request",
          account,
        },
      });
    await switchOn("another");
    expect((await read()).status).toBe(200);
    await switchOn(DEMO_ACCOUNT);
    const message = "Unsupported request - method type: get";
    expect((await read()).json).toMatchObject({ error: { message, type: "IGApiException" } });
    expect((await read()).status).toBe(200);
  });
});

describe("LinkedIn", () => {
  test.each([
    ["app-day", "APPLICATION DAY limit"],
    ["throttled", "throttle limit for calls"],
  ])("answers %s to posts, and to whom is linked by a switch", async (name, words) => {
    const token = await linkedInToken((...args) => at.call(...args));
    const json = {
      author: `urn:li:person:${DEMO_MEMBER}`,
      commentary: String.raw`Hello \[answer:${name}\]`,
      visibility: "PUBLIC",
      distribution: { feedDistribution: "MAIN_FEED" },
      lifecycleState: "PUBLISHED",
    };
    const options = { token, json, headers: LINKEDIN_HEADERS };
    const refused = await at.call("api.linkedin.com", "/rest/posts", options);
    expect([refused.status, refused.json["serviceErrorCode"]]).toEqual([429, 101]);
    expect(refused.json["message"]).toContain(words);
    at.sandbox.fault("linkedin", "userinfo", `answer:${name}`);
    const userinfo = () => at.call("api.linkedin.com", "/v2/userinfo", { token });
    expect([(await userinfo()).status, (await userinfo()).status]).toEqual([429, 200]);
    expect(at.sandbox.posts()).toEqual([]);
  });
});

describe("Bluesky", () => {
  test("has servers that know accounts by their DID alone", async () => {
    const { did } = await blueskySession((...args) => at.call(...args));
    at.sandbox.fault("bluesky", "createSession", "answer:did-only", 2);
    const logIn = (identifier: string) =>
      at.call("bsky.social", "/xrpc/com.atproto.server.createSession", {
        json: { identifier, password: "demo-demo-demo-demo" },
      });
    expect((await logIn("demo.bsky.social")).status).toBe(401);
    expect((await logIn(did)).status).toBe(200);
  });

  test.each([
    ["video-audience", 400, undefined],
    ["video-audience-401", 401, undefined],
    ["video-audience-job", 400, ""],
  ])("wants another audience for videos by %s", async (name, status, jobId) => {
    at.sandbox.fault("bluesky", "uploadVideo", `answer:${name}`);
    const path = "/xrpc/app.bsky.video.uploadVideo?did=did:plc:a&name=a.mp4";
    const reply = await at.call("video.bsky.app", path, { body: new Uint8Array([1]) });
    expect([reply.status, reply.json["jobId"]]).toEqual([status, jobId]);
    expect(reply.json["message"]).toMatch(/^invalid token: invalid token audience "did:web:/);
  });
});

describe("Mastodon", () => {
  const HOST = "mastodon.sandbox.test";
  const issue = () =>
    at.sandbox.networks.mastodon.issueToken({ host: HOST, username: "demo" }).accessToken;
  const post = (status: string, media_ids: readonly string[] = []) =>
    at.call(HOST, "/api/v1/statuses", { token: issue(), json: { status, media_ids } });

  test.each([
    ["invalid-credentials", 403, '{"error":"Invalid credentials."}'],
    ["challenge", 403, "Just a moment..."],
    ["blocked", 403, "Sorry, you have been blocked"],
    ["text-wanted", 422, '"code":"mastodon_api_submit_post"'],
    ["scope-pleroma", 403, "Insufficient permissions: write:statuses."],
    ["scope-gotosocial", 403, "Forbidden: token has insufficient scope permission"],
    ["scope-pixelfed", 403, "Invalid scope(s) provided."],
    ["scope-oauth", 403, "insufficient_scope"],
    ["moved", 403, "Forbidden: your account has Moved or is currently Moving"],
    ["too-long", 400, "status too long, 6000 characters provided but limit is 5000"],
  ])("refuses a post by %s", async (name, status, words) => {
    const reply = await post(`Hello [answer:${name}]`);
    expect([reply.status, reply.headers.get("cf-mitigated")]).toEqual([
      status,
      name === "challenge" ? "challenge" : null,
    ]);
    expect(reply.text).toContain(words);
    expect(at.sandbox.posts()).toEqual([]);
  });

  test("hides a whole server behind a challenge", async () => {
    at.sandbox.fault("mastodon", "instance", "answer:challenge", 2);
    const reply = await at.call(HOST, "/api/v1/instance");
    expect([reply.status, reply.headers.get("content-type")]).toEqual([
      403,
      "text/html; charset=UTF-8",
    ]);
  });

  test("makes a post and answers without its files", async () => {
    const reply = await post("Hello [answer:without-media]");
    expect([reply.status, reply.json["media_attachments"]]).toEqual([200, []]);
    expect(at.sandbox.posts()).toHaveLength(1);
  });
});
