import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import {
  DEMO_FACEBOOK_APP,
  DEMO_PAGE,
  DEMO_USER,
  FRIEND_USER,
  GUEST_PAGE,
  PORTFOLIO,
  PORTFOLIO_PAGE,
  SECOND_PAGE,
} from "../../dev/networks/facebook/state.ts";
import { useSandbox } from "./client.ts";
import type { CallOptions, Reply } from "./client.ts";

const at = useSandbox();
const GRAPH = "graph.facebook.com";
const CALLBACK = "http://localhost:7071/api/v1/connect/callback/facebook";
const SCOPE = "pages_show_list,pages_read_engagement,pages_manage_posts,business_management";
const MEDIA = "https://media.sandbox.test";
const CLIP = readFileSync(new URL("../../dev/networks/media/clip.mp4", import.meta.url));

let page: string;
let user: string;

beforeEach(() => {
  const issued = at.sandbox.networks.facebook.issueToken();
  [page, user] = [issued.pageToken, issued.userToken];
});

const graph = (path: string, options: CallOptions = {}): Promise<Reply> =>
  at.call(GRAPH, `/v26.0${path}`, { token: page, ...options });
const post = (path: string, json: Record<string, unknown>): Promise<Reply> => graph(path, { json });
const feed = (json: Record<string, unknown>) => post(`/${DEMO_PAGE}/feed`, json);
const photo = async (json: Record<string, unknown> = {}) =>
  String(
    (await post(`/${DEMO_PAGE}/photos`, { url: `${MEDIA}/photo.jpg`, published: false, ...json }))
      .json["id"],
  );
const shown = () => at.sandbox.posts("facebook");

function errorOf(reply: Reply): Record<string, unknown> {
  return reply.json["error"] as Record<string, unknown>;
}

function dataOf(reply: Reply): Record<string, unknown>[] {
  return reply.json["data"] as Record<string, unknown>[];
}

describe("the dialog", () => {
  const dialog = (change: Record<string, string> = {}) =>
    `/v26.0/dialog/oauth?${new URLSearchParams({
      client_id: DEMO_FACEBOOK_APP.id,
      redirect_uri: CALLBACK,
      response_type: "code",
      state: "the-state",
      scope: SCOPE,
      ...change,
    }).toString()}`;
  const decide = async (form: Record<string, string>) => {
    const reply = await at.call(null, dialog(), { form });
    expect(reply.status).toBe(303);
    return new URL(reply.headers.get("location") ?? "").searchParams;
  };
  const exchange = (form: Record<string, string>) =>
    at.call(
      GRAPH,
      `/v26.0/oauth/access_token?${new URLSearchParams({
        client_id: DEMO_FACEBOOK_APP.id,
        client_secret: DEMO_FACEBOOK_APP.secret,
        redirect_uri: CALLBACK,
        ...form,
      }).toString()}`,
    );
  const code = async (form: Record<string, string> = {}) =>
    (await decide({ decision: "allow", ...form })).get("code") ?? "";

  test("a person agrees, the code becomes a long-lived token and every page its own one", async () => {
    const asked = await at.call(null, dialog());
    for (const word of ["Dana Demo", "Demo Bakery", "pages_manage_posts"])
      expect(asked.text).toContain(word);
    const answer = await decide({ decision: "allow" });
    expect(answer.get("state")).toBe("the-state");
    const short = await exchange({ code: answer.get("code") ?? "" });
    expect(Number(short.json["expires_in"])).toBeLessThan(3 * 3600);
    const long = await exchange({
      grant_type: "fb_exchange_token",
      fb_exchange_token: String(short.json["access_token"]),
    });
    expect(long.json).toMatchObject({ token_type: "bearer", expires_in: 5_184_000 });
    const token = String(long.json["access_token"]);
    const rights = dataOf(await graph("/me/permissions", { token }));
    expect(rights).toContainEqual({ permission: "pages_manage_posts", status: "granted" });
    const pages = dataOf(await graph("/me/accounts?fields=id,name,tasks,access_token", { token }));
    expect(pages.map(({ id }) => id)).toEqual([DEMO_PAGE, SECOND_PAGE, PORTFOLIO_PAGE, GUEST_PAGE]);
    expect(pages[3]).toMatchObject({ name: "Bakers' Guild", tasks: ["ANALYZE"] });
    const own = String(pages[0]?.["access_token"]);
    expect((await graph("/me?fields=id,name", { token: own })).json["id"]).toBe(DEMO_PAGE);
  });

  test("who cancels is sent back with access_denied and the state", async () => {
    const answer = await decide({ decision: "deny" });
    expect(Object.fromEntries(answer)).toMatchObject({
      error: "access_denied",
      error_reason: "user_denied",
      state: "the-state",
    });
  });

  test("what is unticked is declined, and pages that were not chosen stay unseen", async () => {
    const form = {
      asked: "yes",
      may_pages_show_list: "yes",
      may_pages_read_engagement: "yes",
      [`page_${SECOND_PAGE}`]: "yes",
    };
    const token = String((await exchange({ code: await code(form) })).json["access_token"]);
    expect(dataOf(await graph("/me/permissions", { token }))).toContainEqual({
      permission: "pages_manage_posts",
      status: "declined",
    });
    const pages = dataOf(await graph("/me/accounts", { token }));
    expect(pages.map(({ id }) => id)).toEqual([SECOND_PAGE]);
  });

  test.each([
    ["an unknown app", { client_id: "1" }, "Invalid App ID"],
    ["a foreign http address", { redirect_uri: "http://example.com/" }, "URL blocked"],
    ["an unknown permission", { scope: "publish_stream" }, "Invalid Scopes: publish_stream"],
  ])("%s ends on an error page, not at the app", async (_name, change, message) => {
    const reply = await at.call(null, dialog(change));
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(message);
  });

  test.each([
    ["for another redirect address", { redirect_uri: `${CALLBACK}/` }, 100, 36008],
    ["with a wrong secret", { client_secret: "wrong" }, 1, undefined],
    ["at an unknown app", { client_id: "1" }, 101, undefined],
    ["that nobody gave out", { code: "made-up" }, 100, undefined],
  ])("a code %s is refused", async (_name, change, number, subcode) => {
    const reply = await exchange({ code: await code(), ...change });
    expect(reply.status).toBe(400);
    expect(errorOf(reply)["code"]).toBe(number);
    expect(errorOf(reply)["error_subcode"]).toBe(subcode);
  });

  test("a code works once and for ten minutes", async () => {
    const used = await code();
    expect((await exchange({ code: used })).status).toBe(200);
    expect(errorOf(await exchange({ code: used }))["error_subcode"]).toBe(36009);
    const late = await code();
    at.sandbox.advance(600_000);
    expect(errorOf(await exchange({ code: late }))["error_subcode"]).toBe(36007);
  });

  test("a person without pages gets an empty list", async () => {
    const token = String(
      (await exchange({ code: await code({ account: FRIEND_USER }) })).json["access_token"],
    );
    expect(dataOf(await graph("/me/accounts", { token }))).toEqual([]);
  });
});

describe("tokens", () => {
  test("a portfolio's page is listed only with business_management, and readable by id without", async () => {
    at.sandbox.networks.facebook.declinePermission("business_management");
    const listed = dataOf(await graph("/me/accounts", { token: user }));
    expect(listed.map(({ id }) => id)).not.toContain(PORTFOLIO_PAGE);
    const single = await graph(`/${PORTFOLIO_PAGE}?fields=id,access_token,tasks`, { token: user });
    expect(single.json).toMatchObject({ id: PORTFOLIO_PAGE });
    expect(errorOf(await graph("/me/businesses", { token: user }))["code"]).toBe(200);
  });

  test("a portfolio names its pages to who may manage it", async () => {
    const businesses = dataOf(await graph("/me/businesses", { token: user }));
    expect(businesses).toEqual([{ id: PORTFOLIO, name: "Demo Holding" }]);
    const owned = dataOf(await graph(`/${PORTFOLIO}/owned_pages?fields=id`, { token: user }));
    expect(owned).toEqual([{ id: PORTFOLIO_PAGE }]);
  });

  test("lists come in pages, and the next one is where paging.next says", async () => {
    const first = await graph("/me/accounts?fields=id&limit=3", { token: user });
    expect(dataOf(first)).toHaveLength(3);
    const next = new URL((first.json["paging"] as { next: string }).next);
    expect(next.host).toBe(GRAPH);
    const second = await at.call(GRAPH, next.pathname + next.search);
    expect(dataOf(second)).toEqual([{ id: GUEST_PAGE }]);
    expect(second.json["paging"]).not.toHaveProperty("next");
  });

  test("accounts can be asked for as a field of the person", async () => {
    const path = "/me?fields=id,accounts.limit(1){id,picture{url}}";
    const { json } = await graph(path, { token: user });
    expect(json["accounts"]).toMatchObject({
      data: [{ id: DEMO_PAGE, picture: { data: { url: expect.stringContaining(DEMO_PAGE) } } }],
    });
  });

  test("a page token out of a long-lived one has no end, and debug_token says so", async () => {
    const app = `${DEMO_FACEBOOK_APP.id}|${DEMO_FACEBOOK_APP.secret}`;
    const look = () =>
      at.call(
        GRAPH,
        `/debug_token?${new URLSearchParams({ input_token: page, access_token: app }).toString()}`,
      );
    expect((await look()).json["data"]).toMatchObject({
      app_id: DEMO_FACEBOOK_APP.id,
      user_id: DEMO_USER,
      profile_id: DEMO_PAGE,
      is_valid: true,
      expires_at: 0,
    });
    at.sandbox.advance(400 * 24 * 3_600_000);
    expect((await feed({ message: "still there" })).status).toBe(200);
    at.sandbox.networks.facebook.revokeToken();
    expect((await look()).json["data"]).toMatchObject({ is_valid: false });
  });

  test("a proof is checked when it is sent, and demanded when the app says so", async () => {
    const proof = createHmac("sha256", DEMO_FACEBOOK_APP.secret).update(page).digest("hex");
    expect((await graph(`/me?appsecret_proof=${proof}`)).status).toBe(200);
    expect(errorOf(await graph("/me?appsecret_proof=00"))["message"]).toContain("appsecret_proof");
    at.sandbox.networks.facebook.requireProof(true);
    expect(errorOf(await graph("/me"))["type"]).toBe("GraphMethodException");
    expect((await graph(`/me?appsecret_proof=${proof}`)).status).toBe(200);
  });

  const facebook = () => at.sandbox.networks.facebook;
  test.each([
    ["revoked", () => facebook().revokeToken(), 190, 460],
    ["expired", () => facebook().expireToken(), 190, 463],
    ["of a lost role", () => facebook().loseRole(DEMO_PAGE), 190, 492],
    [
      "without the permission",
      () => facebook().declinePermission("pages_manage_posts"),
      200,
      undefined,
    ],
    ["of a restricted page", () => facebook().restrictPage(DEMO_PAGE, true), 368, 4854002],
  ])("a token %s can't publish", async (_name, change, number, subcode) => {
    change();
    const error = errorOf(await feed({ message: "hello" }));
    expect(error["code"]).toBe(number);
    expect(error["error_subcode"]).toBe(subcode);
    expect(error["fbtrace_id"]).toMatch(/^A/);
    expect(shown()).toHaveLength(0);
  });

  test.each([
    ["no token", undefined, 104],
    ["a token that is none", "EAAnonsense", 190],
  ])("%s is refused", async (_name, token, number) => {
    const options = token === undefined ? {} : { token };
    const reply = await at.call(GRAPH, "/v26.0/me", options);
    expect(reply.status).toBe(401);
    expect(errorOf(reply)["code"]).toBe(number);
  });

  test("a user token can't publish, and a page token only on its own page", async () => {
    const path = `/${DEMO_PAGE}/feed`;
    expect(errorOf(await graph(path, { token: user, json: { message: "x" } }))["code"]).toBe(210);
    expect(errorOf(await post(`/${SECOND_PAGE}/feed`, { message: "x" }))["error_subcode"]).toBe(33);
  });

  test("somebody without the task CREATE_CONTENT can't publish", async () => {
    const token = at.sandbox.networks.facebook.issueToken({ pageId: GUEST_PAGE }).pageToken;
    const reply = await graph(`/${GUEST_PAGE}/feed`, { token, json: { message: "x" } });
    expect(errorOf(reply)["code"]).toBe(200);
  });

  test("removing the app ends every token of the person", async () => {
    const removed = await graph(`/${DEMO_USER}/permissions`, { method: "DELETE", token: user });
    expect(removed.json).toEqual({ success: true });
    for (const token of [user, page])
      expect(errorOf(await graph("/me", { token }))["error_subcode"]).toBe(458);
  });
});

describe("versions", () => {
  test.each([
    ["/v19.0/me", 2635],
    ["/v99.0/me", 2500],
    ["/me", 2500],
    ["/me/accounts", 2500],
  ])("%s is refused", async (path, number) => {
    expect(errorOf(await at.call(GRAPH, path, { token: page }))["code"]).toBe(number);
  });
});

describe("posts", () => {
  test("a text goes live with the fields that were asked for", async () => {
    const reply = await graph(`/${DEMO_PAGE}/feed?fields=id,permalink_url`, {
      json: { message: "Fresh bread #today" },
    });
    const { id, permalink_url: url } = reply.json as { id: string; permalink_url: string };
    expect(id).toMatch(new RegExp(`^${DEMO_PAGE}_\\d+$`));
    expect(shown()).toMatchObject([{ id, url, text: "Fresh bread #today", card: null }]);
    expect((await at.call("www.facebook.com", new URL(url).pathname)).text).toContain(
      "Fresh bread",
    );
    const short = await at.call("www.facebook.com", `/${id}`);
    expect(short.headers.get("location")).toBe(url);
  });

  test("a link becomes a card, and form-encoded bodies are as good as JSON", async () => {
    const form = { message: "Read", link: "https://links.sandbox.test/article" };
    const reply = await graph(`/${DEMO_PAGE}/feed`, { form });
    expect(reply.status).toBe(200);
    expect(shown()[0]?.card?.title).toContain("lake at dawn");
  });

  test("photos are uploaded unseen and then shown in one post, with their alt texts", async () => {
    const ids = [
      await photo({ alt_text_custom: "A lake" }),
      await photo({ url: `${MEDIA}/photo-2.jpg` }),
    ];
    expect(shown()).toHaveLength(0);
    const attached_media = ids.map((id) => ({ media_fbid: id }));
    const { id } = (await feed({ message: "Two", attached_media })).json;
    expect(shown()).toMatchObject([{ id, media: [{ alt: "A lake" }, { alt: null }] }]);
    const fields =
      "id,message,created_time,permalink_url,attachments{media_type,target{id},subattachments{target{id}}}";
    const listed = dataOf(await graph(`/${DEMO_PAGE}/published_posts?fields=${fields}`));
    expect(listed).toMatchObject([
      {
        id,
        message: "Two",
        attachments: {
          data: [
            {
              media_type: "album",
              subattachments: { data: ids.map((photoId) => ({ target: { id: photoId } })) },
            },
          ],
        },
      },
    ]);
  });

  test("attached media may be written as Meta's form examples do", async () => {
    const form = { message: "One", "attached_media[0]": `{"media_fbid":"${await photo()}"}` };
    expect((await graph(`/${DEMO_PAGE}/feed`, { form })).status).toBe(200);
    expect(shown()[0]?.media).toHaveLength(1);
  });

  test("a photo is shown once and lives a day unshown", async () => {
    const attached_media = [{ media_fbid: await photo() }];
    expect((await feed({ attached_media })).status).toBe(200);
    expect(errorOf(await feed({ attached_media }))["error_subcode"]).toBe(1366051);
    const old = [{ media_fbid: await photo() }];
    at.sandbox.advance(24 * 3_600_000);
    expect(errorOf(await feed({ attached_media: old }))["code"]).toBe(100);
  });

  test.each([
    ["/missing.jpg", 324, 2069019],
    ["/not-an-image.jpg", 324, 2069019],
    ["/redirect-inside.jpg", 324, 2069019],
    ["/photo.webp", 100, 1366046],
    ["/huge.jpg", 100, 1366046],
  ])("%s is no photo for Facebook", async (path, number, subcode) => {
    const json = { url: MEDIA + path, published: false };
    const error = errorOf(await post(`/${DEMO_PAGE}/photos`, json));
    expect([error["code"], error["error_subcode"]]).toEqual([number, subcode]);
  });

  test("an address outside the sandbox is not dialled", async () => {
    const json = { url: "https://example.com/photo.jpg", published: false };
    expect(errorOf(await post(`/${DEMO_PAGE}/photos`, json))["code"]).toBe(324);
  });

  test.each([
    ["nothing", {}, 1349125],
    ["a link to Facebook itself", { link: "https://www.facebook.com/x" }, 1609008],
    ["a link that is none", { link: "nowhere" }, 2061006],
  ])("%s is refused", async (_name, json, subcode) => {
    expect(errorOf(await feed(json))["error_subcode"]).toBe(subcode);
  });

  test("a text beyond 63 206 characters is refused", async () => {
    expect((await feed({ message: "x".repeat(63_207) })).status).toBe(400);
    expect((await feed({ message: "x".repeat(63_206) })).status).toBe(200);
  });

  test("the same text again is a 506 for ten minutes, unless that is switched off", async () => {
    await feed({ message: "again" });
    expect(errorOf(await feed({ message: "again" }))["code"]).toBe(506);
    at.sandbox.advance(600_001);
    expect((await feed({ message: "again" })).status).toBe(200);
    at.sandbox.networks.facebook.refuseDuplicates(false);
    expect((await feed({ message: "again" })).status).toBe(200);
  });

  test("the list of posts starts where since says, and drafts are not in it", async () => {
    await feed({ message: "early" });
    at.sandbox.advance(60_000);
    const since = Math.floor((Date.now() + 59_000) / 1000);
    await feed({ message: "late" });
    await feed({ message: "draft", published: false });
    const listed = dataOf(await graph(`/${DEMO_PAGE}/published_posts?since=${since}`));
    expect(listed.map(({ message }) => message)).toEqual(["late"]);
    expect(shown()).toHaveLength(2);
  });

  test("an unknown field or object is refused in Graph's words", async () => {
    expect(errorOf(await graph("/me?fields=shoe_size"))["message"]).toContain(
      "nonexisting field (shoe_size)",
    );
    expect(errorOf(await graph("/123"))["error_subcode"]).toBe(33);
    expect(errorOf(await graph("/me?fields=id{"))["code"]).toBe(2500);
  });
});

describe("videos", () => {
  const start = async (edge = "video_reels") => {
    const { video_id: id, upload_url: url } = (
      await post(`/${DEMO_PAGE}/${edge}`, { upload_phase: "start" })
    ).json as { video_id: string; upload_url: string };
    return { id, url: new URL(url) };
  };
  const upload = (url: URL, headers: Record<string, string>, body?: Buffer) =>
    at.call(url.host, url.pathname, {
      method: "POST",
      headers: { authorization: `OAuth ${page}`, ...headers },
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
    });
  const status = async (id: string) =>
    (await graph(`/${id}?fields=status,permalink_url`)).json as {
      status: Record<string, string | Record<string, unknown>>;
      permalink_url?: string;
    };
  const finish = (id: string, more: Record<string, unknown> = {}, edge = "video_reels") =>
    post(`/${DEMO_PAGE}/${edge}`, {
      video_id: id,
      upload_phase: "finish",
      video_state: "PUBLISHED",
      description: "A reel",
      ...more,
    });
  const whole = { offset: "0", file_size: String(CLIP.length) };

  test("a reel is uploaded, finished, processed and only then seen", async () => {
    const { id, url } = await start();
    expect((await status(id)).status["video_status"]).toBe("uploading");
    expect((await upload(url, whole, CLIP)).json).toEqual({ success: true });
    expect((await status(id)).status["video_status"]).toBe("upload_complete");
    expect((await finish(id)).json).toMatchObject({ success: true });
    expect(shown()).toHaveLength(0);
    expect((await status(id)).status["video_status"]).toBe("processing");
    const ready = await status(id);
    expect(ready.status).toMatchObject({
      video_status: "ready",
      publishing_phase: { status: "complete", publish_status: "published" },
    });
    expect(ready.permalink_url).toBe(`/reel/${id}/`);
    expect(shown()).toMatchObject([
      { form: "reel", text: "A reel", media: [{ kind: "video", bytes: CLIP.length }] },
    ]);
    expect((await finish(id)).status).toBe(200);
    expect(shown()).toHaveLength(1);
  });

  test("Meta pulls a file by its address, and an upload goes on where it was cut", async () => {
    const pulled = await start();
    await upload(pulled.url, { file_url: `${MEDIA}/clip.mp4` });
    expect((await status(pulled.id)).status["video_status"]).toBe("upload_complete");
    const { id, url } = await start();
    await upload(url, whole, CLIP.subarray(0, 5000));
    expect((await status(id)).status["uploading_phase"]).toMatchObject({
      status: "in_progress",
      bytes_transfered: 5000,
    });
    const wrong = await upload(url, { ...whole, offset: "4000" }, CLIP.subarray(4000));
    expect(wrong).toMatchObject({
      status: 400,
      json: { debug_info: { type: "OffsetInvalidError" } },
    });
    await upload(url, { ...whole, offset: "5000" }, CLIP.subarray(5000));
    expect((await status(id)).status["video_status"]).toBe("upload_complete");
  });

  test("an upload wants the page's token as OAuth, and an address that can be fetched", async () => {
    const { id, url } = await start();
    const bearer = { authorization: `Bearer ${page}`, ...whole };
    expect((await upload(url, bearer, CLIP)).status).toBe(401);
    await upload(url, { file_url: `${MEDIA}/missing.mp4` });
    expect((await status(id)).status).toMatchObject({
      video_status: "upload_failed",
      uploading_phase: { status: "error" },
    });
    expect(errorOf(await finish(id))["code"]).toBe(6000);
  });

  test("what is no video ends in an error and is never seen", async () => {
    const { id, url } = await start();
    const text = Buffer.from("no video at all");
    await upload(url, { offset: "0", file_size: String(text.length) }, text);
    expect((await finish(id)).status).toBe(200);
    await status(id);
    expect((await status(id)).status).toMatchObject({
      video_status: "error",
      processing_phase: { status: "error" },
    });
    expect(shown()).toHaveLength(0);
  });

  test.each([
    ["media_processing_failed", 200, "error"],
    ["media_rejected", 400, "upload_complete"],
  ])("[fail:%s] in a reel's description", async (code, answer, state) => {
    const { id, url } = await start();
    await upload(url, whole, CLIP);
    expect((await finish(id, { description: `x [fail:${code}]` })).status).toBe(answer);
    for (let look = 0; look < 2; look += 1) await status(id);
    expect((await status(id)).status["video_status"]).toBe(state);
    expect(shown()).toHaveLength(0);
  });

  test("a video in the feed is one call", async () => {
    const reply = await graph(`/${DEMO_PAGE}/videos?fields=id,permalink_url`, {
      json: { file_url: `${MEDIA}/clip.mp4`, description: "A clip", title: "Clip" },
    });
    const { id } = reply.json as { id: string };
    await status(id);
    await status(id);
    expect(shown()).toMatchObject([{ text: "A clip", media: [{ title: "Clip" }] }]);
    const missing = await post(`/${DEMO_PAGE}/videos`, { file_url: `${MEDIA}/missing.mp4` });
    expect(errorOf(missing)["code"]).toBe(389);
  });

  test("stories of both kinds are listed with what they show", async () => {
    const photoId = await photo();
    const first = await post(`/${DEMO_PAGE}/photo_stories`, { photo_id: photoId });
    expect(first.json).toMatchObject({ success: true });
    const again = await post(`/${DEMO_PAGE}/photo_stories`, { photo_id: photoId });
    expect(errorOf(again)["error_subcode"]).toBe(1366051);
    const { id, url } = await start("video_stories");
    await upload(url, whole, CLIP);
    const { post_id } = (await finish(id, {}, "video_stories")).json;
    for (let look = 0; look < 2; look += 1) await status(id);
    const listed = dataOf(await graph(`/${DEMO_PAGE}/stories?since=1`));
    expect(listed).toMatchObject([
      { post_id, media_type: "video", media_id: id, status: "published" },
      { media_type: "photo", media_id: photoId },
    ]);
    expect(shown().map(({ form }) => form)).toEqual(["story", "story"]);
    at.sandbox.advance(24 * 3_600_000);
    expect(dataOf(await graph(`/${DEMO_PAGE}/stories`))[0]).toMatchObject({ status: "archived" });
  });

  test("the thirty-first reel of a day is refused, with the wait in the header", async () => {
    at.sandbox.networks.facebook.setQuotaUsed(DEMO_PAGE, 30);
    const { id, url } = await start();
    await upload(url, whole, CLIP);
    const refused = await finish(id);
    expect(errorOf(refused)["code"]).toBe(80001);
    const use = JSON.parse(refused.headers.get("x-business-use-case-usage") ?? "{}") as Record<
      string,
      Record<string, unknown>[]
    >;
    expect(use[DEMO_PAGE]?.[0]?.["estimated_time_to_regain_access"]).toBe(1440);
    at.sandbox.advance(24 * 3_600_000);
    expect((await finish(id)).status).toBe(200);
  });
});

describe("magic words", () => {
  test.each([
    ["network_unavailable", 500, 2, undefined],
    ["rate_limited", 400, 80001, undefined],
    ["quota_exceeded", 400, 80001, undefined],
    ["permission_missing", 403, 200, undefined],
    ["account_restricted", 400, 368, 4854002],
    ["duplicate_content", 400, 506, undefined],
    ["content_rejected", 400, 368, 1346003],
    ["link_rejected", 400, 100, 1609005],
    ["text_too_long", 400, 100, undefined],
    ["invalid_request", 400, 100, undefined],
  ])("[fail:%s] is said in Graph's words", async (code, status, number, subcode) => {
    const reply = await feed({ message: `x [fail:${code}]` });
    expect(reply.status).toBe(status);
    expect([errorOf(reply)["code"], errorOf(reply)["error_subcode"]]).toEqual([number, subcode]);
    expect(shown()).toHaveLength(0);
  });

  test("[fail:connection_needs_reauth] ends the token for good", async () => {
    expect(errorOf(await feed({ message: "x [fail:connection_needs_reauth]" }))["code"]).toBe(190);
    expect(errorOf(await feed({ message: "y" }))["error_subcode"]).toBe(460);
  });

  test("[drop-answer] and [error-after] publish; the post is found in the list", async () => {
    await expect(feed({ message: "one [drop-answer]" })).rejects.toThrow("fetch failed");
    expect((await feed({ message: "two [error-after]" })).status).toBe(502);
    const listed = dataOf(await graph(`/${DEMO_PAGE}/published_posts`));
    expect(listed.map(({ message }) => message)).toEqual([
      "two [error-after]",
      "one [drop-answer]",
    ]);
  });

  test("[processing:2] in an alt text hides the photo from two looks", async () => {
    const id = await photo({ alt_text_custom: "a lake [processing:2]" });
    const statuses: number[] = [];
    for (let look = 0; look < 3; look += 1) statuses.push((await graph(`/${id}`)).status);
    expect(statuses).toEqual([400, 400, 200]);
  });
});

test("accounts, tokens and posts are kept as JSON and read back", async () => {
  await feed({ message: "kept" });
  const { facebook } = at.sandbox.networks;
  const dumped: unknown = JSON.parse(JSON.stringify(facebook.dump()));
  facebook.reset();
  expect(shown()).toHaveLength(0);
  facebook.restore(dumped);
  expect(shown()).toMatchObject([{ text: "kept" }]);
  expect((await graph("/me")).status).toBe(200);
});

test("calls are counted in Meta's headers", async () => {
  const reply = await graph("/me");
  expect(JSON.parse(reply.headers.get("x-app-usage") ?? "")).toHaveProperty("call_count");
  expect(reply.headers.get("x-business-use-case-usage")).toContain(DEMO_PAGE);
});

test("an unshown photo may be asked for its fields at once", async () => {
  const reply = await graph(`/${DEMO_PAGE}/photos?fields=id,width,height`, {
    json: { url: `${MEDIA}/photo.jpg`, published: false },
  });
  expect(reply.json).toMatchObject({ width: 1200, height: 800 });
});

test.each([
  ["revokeToken", {}, 460],
  ["expireToken", {}, 463],
  ["loseRole", { pageId: DEMO_PAGE }, 492],
])("%s is a switch over HTTP", async (control, json, subcode) => {
  const reply = await at.call(null, `/_sandbox/controls/facebook/${control}`, { json });
  expect(reply.status).toBe(200);
  expect(errorOf(await graph("/me"))["error_subcode"]).toBe(subcode);
});

test("the log keeps tokens and proofs to itself", async () => {
  await at.call(GRAPH, `/v26.0/me?access_token=${page}&appsecret_proof=secret-proof`);
  const { text } = await at.call(null, "/_sandbox/requests");
  expect(text).toContain("/v26.0/me");
  expect(text).not.toContain(page);
  expect(text).not.toContain("secret-proof");
});
