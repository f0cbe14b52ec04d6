import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DEMO_FACEBOOK_APP, DEMO_PAGE } from "../../sandbox/facebook/state.ts";
import { DEMO_ACCOUNT, DEMO_INSTAGRAM_APP } from "../../sandbox/instagram/state.ts";
import { DEMO_LINKEDIN_APP, DEMO_MEMBER } from "../../sandbox/linkedin/state.ts";
import { useSandbox } from "./client.ts";
import type { CallOptions, Reply } from "./client.ts";

const at = useSandbox();
const PHOTO = new Uint8Array(
  readFileSync(new URL("../../sandbox/media/photo.jpg", import.meta.url)),
);
const PHOTO_URL = "https://media.sandbox.test/portrait.jpg";
const CALLBACK = "http://localhost:7071/api/v1/connect/callback/network";

/** Agrees on a consent page as a browser does, and returns the code that its app gets. */
async function consent(
  path: string,
  query: Readonly<Record<string, string>>,
  shows: string,
): Promise<string> {
  const asked = { redirect_uri: CALLBACK, response_type: "code", state: "the-state", ...query };
  const page = `${path}?${new URLSearchParams(asked).toString()}`;
  expect((await at.call(null, page)).text).toContain(shows);
  const canceled = await at.call(null, page, { form: { decision: "deny" } });
  const refused = new URL(canceled.headers.get("location") ?? "").searchParams;
  expect([refused.has("error"), refused.get("state")]).toEqual([true, "the-state"]);
  const { status, headers } = await at.call(null, page, { form: { decision: "allow" } });
  expect(status).toBe(303);
  const back = new URL(headers.get("location") ?? "");
  expect(back.searchParams.get("state")).toBe("the-state");
  return back.searchParams.get("code") ?? "";
}

/** Redeems a code, for which the second attempt is refused. */
async function redeem(
  host: string,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const options = { form: { redirect_uri: CALLBACK, grant_type: "authorization_code", ...form } };
  const reply = await at.call(host, path, options);
  expect(reply.status).toBe(200);
  expect((await at.call(host, path, options)).status).toBe(400);
  return reply.json;
}

async function expectShown(text: string, alt: string): Promise<void> {
  const [post, ...others] = at.sandbox.posts();
  expect(others).toEqual([]);
  expect(post).toMatchObject({ text, edits: 0, media: [{ kind: "image", alt }] });
  const file = await fetch(at.sandbox.url + (post?.media[0]?.path ?? ""));
  expect(file.headers.get("content-type")).toBe("image/jpeg");
  expect((await at.call(null, "/")).text).toContain(text);
}

test("on Bluesky an app password logs in, and a record shows an uploaded file once", async () => {
  const xrpc = (method: string, options: CallOptions) =>
    at.call("pds.sandbox.test", `/xrpc/com.atproto.${method}`, options);
  const json = { identifier: "demo.bsky.social", password: "demo-demo-demo-demo" };
  const session = (await xrpc("server.createSession", { json })).json;
  const token = String(session["accessJwt"]);
  const headers = { "content-type": "image/jpeg" };
  const { blob } = (await xrpc("repo.uploadBlob", { token, headers, body: PHOTO })).json;
  const put = (text: string) => {
    const $type = "app.bsky.feed.post";
    const embed = { $type: "app.bsky.embed.images", images: [{ image: blob, alt: "A lake" }] };
    const record = { $type, text, createdAt: "2026-11-20T09:00:00Z", embed };
    const input = { repo: session["did"], collection: $type, rkey: "3mbd3542k2222", record };
    return xrpc("repo.putRecord", { token, json: input });
  };
  const first = await put("Hello");
  expect((await put("Hello")).json).toMatchObject({
    uri: first.json["uri"],
    cid: first.json["cid"],
  });
  expect((await put("x".repeat(301))).status).toBe(400);
  await expectShown("Hello", "A lake");
});

test("on Mastodon an app registers, its code becomes a token, and one key is one status", async () => {
  const host = "mastodon.sandbox.test";
  const scopes = "profile write:statuses write:media";
  const registration = { client_name: "Relay", redirect_uris: [CALLBACK], scopes };
  const app = (await at.call(host, "/api/v1/apps", { json: registration })).json;
  const client = {
    client_id: String(app["client_id"]),
    client_secret: String(app["client_secret"]),
  };
  const query = { client_id: client.client_id, scope: scopes };
  const code = await consent("/oauth/authorize", query, "@demo@mastodon.sandbox.test");
  const token = String((await redeem(host, "/oauth/token", { ...client, code }))["access_token"]);
  const form = new FormData();
  form.set("file", new File([PHOTO], "photo.jpg", { type: "image/jpeg" }));
  form.set("description", "A lake");
  const { id } = (await at.call(host, "/api/v2/media", { token, body: form })).json;
  const post = () =>
    at.call(host, "/api/v1/statuses", {
      token,
      headers: { "idempotency-key": "leg" },
      json: { status: "Hello", media_ids: [id] },
    });
  expect((await post()).json["id"]).toBe((await post()).json["id"]);
  await expectShown("Hello", "A lake");
});

test("on Facebook a person picks Pages, and a Page's token shows an unseen photo in a post", async () => {
  const host = "graph.facebook.com";
  const graph = (token: string, path: string, options: CallOptions = {}): Promise<Reply> =>
    at.call(host, `/v26.0${path}`, { token, ...options });
  const scope = "pages_show_list,pages_read_engagement,pages_manage_posts";
  const { id: client_id, secret: client_secret } = DEMO_FACEBOOK_APP;
  const code = await consent("/v26.0/dialog/oauth", { client_id, scope }, "Demo Bakery");
  const path = "/v26.0/oauth/access_token";
  const answer = await redeem(host, path, { client_id, client_secret, code });
  const accounts = await graph(String(answer["access_token"]), "/me/accounts");
  const pages = accounts.json["data"] as { id: string; access_token: string }[];
  const token = pages.find(({ id }) => id === DEMO_PAGE)?.access_token ?? "";
  const file = { url: PHOTO_URL, published: false, alt_text_custom: "A lake" };
  const photo = (await graph(token, `/${DEMO_PAGE}/photos`, { json: file })).json["id"];
  expect(at.sandbox.posts()).toEqual([]);
  const json = { message: "Hello", attached_media: [{ media_fbid: photo }] };
  const { id } = (await graph(token, `/${DEMO_PAGE}/feed`, { json })).json;
  const listed = await graph(token, `/${DEMO_PAGE}/published_posts?fields=id,message`);
  expect(listed.json["data"]).toEqual([{ id, message: "Hello" }]);
  await expectShown("Hello", "A lake");
});

test("on Instagram a code becomes a token of sixty days, and a container is published once", async () => {
  const host = "graph.instagram.com";
  const scope = "instagram_business_basic,instagram_business_content_publish";
  const { id: client_id, secret: client_secret } = DEMO_INSTAGRAM_APP;
  const code = await consent("/oauth/authorize", { client_id, scope }, "@demo.bakery");
  const short = await redeem("api.instagram.com", "/oauth/access_token", {
    client_id,
    client_secret,
    code,
  });
  const [given] = short["data"] as { access_token: string }[];
  const exchange = { grant_type: "ig_exchange_token", client_secret, ...given };
  const query = new URLSearchParams(exchange).toString();
  const long = await at.call(host, `/access_token?${query}`);
  expect(long.json).toMatchObject({ expires_in: 5_184_000 });
  const token = String(long.json["access_token"]);
  const post = (edge: string, form: Record<string, string>) =>
    at.call(host, `/v26.0/${DEMO_ACCOUNT}/${edge}`, { token, form });
  const fields = { image_url: PHOTO_URL, caption: "Hello", alt_text: "A lake" };
  const container = { creation_id: String((await post("media", fields)).json["id"]) };
  expect((await post("media_publish", container)).status).toBe(200);
  expect((await post("media_publish", container)).status).toBe(400);
  await expectShown("Hello", "A lake");
});

test("on LinkedIn a member's token uploads an image, and a repeat names the post", async () => {
  const { id: client_id, secret: client_secret } = DEMO_LINKEDIN_APP;
  const scope = "openid profile w_member_social";
  const page = "/oauth/v2/authorization";
  const code = await consent(page, { client_id, scope }, "Dana Demo");
  const client = { client_id, client_secret, code };
  const answer = await redeem("www.linkedin.com", "/oauth/v2/accessToken", client);
  const token = String(answer["access_token"]);
  const headers = { "linkedin-version": "202609", "x-restli-protocol-version": "2.0.0" };
  const rest = (path: string, json: unknown) =>
    at.call("api.linkedin.com", `/rest${path}`, { token, headers, json });
  const owner = `urn:li:person:${DEMO_MEMBER}`;
  const started = await rest("/images?action=initializeUpload", {
    initializeUploadRequest: { owner },
  });
  const { image, uploadUrl } = started.json["value"] as { image: string; uploadUrl: string };
  const url = new URL(uploadUrl);
  const upload = { method: "PUT", token, body: PHOTO };
  expect((await at.call(url.host, url.pathname + url.search, upload)).status).toBe(201);
  const body = {
    author: owner,
    commentary: "Hello",
    visibility: "PUBLIC",
    distribution: { feedDistribution: "MAIN_FEED" },
    lifecycleState: "PUBLISHED",
    content: { media: { id: image, altText: "A lake" } },
  };
  const posted = await rest("/posts", body);
  const again = await rest("/posts", body);
  expect([posted.status, again.status]).toEqual([201, 422]);
  expect(again.json["message"]).toContain(posted.headers.get("x-restli-id"));
  await expectShown("Hello", "A lake");
});
