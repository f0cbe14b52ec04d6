import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
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
import { GRAPH, dataOf, errorOf, useFacebook } from "./facebook-calls.ts";

let page: string;
let user: string;

const { at, graph, post, feed, shown } = useFacebook((fresh) => {
  ({ page, user } = fresh);
});

const CALLBACK = "http://localhost:7071/api/v1/connect/callback/facebook";
const SCOPE = "pages_show_list,pages_read_engagement,pages_manage_posts,business_management";

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
