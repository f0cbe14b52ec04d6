import { describe, expect, test } from "vitest";
import {
  CREATOR_ACCOUNT,
  DEMO_ACCOUNT,
  DEMO_INSTAGRAM_APP,
  PERSONAL_ACCOUNT,
} from "../../dev/networks/instagram/state.ts";
import { DAY_MS, GRAPH, MEDIA, codesOf, dataOf, errorOf, useInstagram } from "./instagram-calls.ts";

let token: string;

const { at, speakWith, graph, container } = useInstagram((fresh) => {
  token = fresh.token;
});

const CALLBACK = "http://localhost:7071/api/v1/connect/callback/instagram";
const SCOPE = "instagram_business_basic,instagram_business_content_publish";

describe("consent", () => {
  const page = (change: Record<string, string> = {}) =>
    `/oauth/authorize?${new URLSearchParams({
      client_id: DEMO_INSTAGRAM_APP.id,
      redirect_uri: CALLBACK,
      response_type: "code",
      state: "the-state",
      scope: SCOPE,
      ...change,
    }).toString()}`;
  const decide = async (form: Record<string, string>) => {
    const reply = await at.call(null, page(), { form });
    expect(reply.status).toBe(303);
    const location = reply.headers.get("location") ?? "";
    expect(location.endsWith("#_")).toBe(true);
    return new URL(location).searchParams;
  };
  const code = async (form: Record<string, string> = {}) =>
    (await decide({ decision: "allow", ...form })).get("code") ?? "";
  const exchange = (form: Record<string, string>) =>
    at.call("api.instagram.com", "/oauth/access_token", {
      form: {
        client_id: DEMO_INSTAGRAM_APP.id,
        client_secret: DEMO_INSTAGRAM_APP.secret,
        grant_type: "authorization_code",
        redirect_uri: CALLBACK,
        ...form,
      },
    });
  const longToken = (short: string) =>
    at.call(
      GRAPH,
      `/access_token?${new URLSearchParams({
        grant_type: "ig_exchange_token",
        client_secret: DEMO_INSTAGRAM_APP.secret,
        access_token: short,
      }).toString()}`,
    );

  test("a person agrees and the code becomes a token of sixty days", async () => {
    expect((await at.call(null, page())).text).toContain("@demo.bakery");
    const answer = await decide({ decision: "allow" });
    expect(answer.get("state")).toBe("the-state");
    const [short] = dataOf(await exchange({ code: answer.get("code") ?? "" }));
    expect(short).toMatchObject({ user_id: DEMO_ACCOUNT, permissions: SCOPE });
    const long = await longToken(String(short?.["access_token"]));
    expect(long.json).toMatchObject({ token_type: "bearer", expires_in: 5_184_000 });
    speakWith(String(long.json["access_token"]));
    const me = await graph("/me?fields=user_id,username,name,account_type,profile_picture_url");
    expect(me.json).toMatchObject({
      user_id: DEMO_ACCOUNT,
      username: "demo.bakery",
      account_type: "BUSINESS",
    });
    expect(me.json["id"]).not.toBe(DEMO_ACCOUNT);
  });

  test("the flat shape of the exchange is a switch away", async () => {
    at.sandbox.networks.instagram.setTokenShape("flat");
    const reply = await exchange({ code: await code() });
    expect(reply.json).toMatchObject({ user_id: DEMO_ACCOUNT, permissions: SCOPE.split(",") });
    expect(reply.json).not.toHaveProperty("data");
  });

  test("who cancels is sent back with access_denied", async () => {
    const answer = Object.fromEntries(await decide({ decision: "deny" }));
    expect(answer).toMatchObject({ error: "access_denied", error_reason: "user_denied" });
  });

  test("an unticked permission is not granted", async () => {
    const [short] = dataOf(await exchange({ code: await code({ asked: "yes" }) }));
    expect(short).toMatchObject({ permissions: "instagram_business_basic" });
    speakWith(String(short?.["access_token"]));
    expect(errorOf(await container({ image_url: `${MEDIA}/photo.jpg` }))["code"]).toBe(10);
  });

  test("a personal account's token is refused as no Instagram Business", async () => {
    const [short] = dataOf(await exchange({ code: await code({ account: PERSONAL_ACCOUNT }) }));
    speakWith(String(short?.["access_token"]));
    const reply = await graph("/me?fields=user_id");
    expect(reply.status).toBe(403);
    expect(errorOf(reply)["message"]).toContain("not an Instagram Business");
  });

  test.each([
    ["a Facebook app id", { client_id: "120000000000001" }, "Invalid platform app"],
    ["a foreign http address", { redirect_uri: "http://example.com/" }, "Invalid redirect_uri"],
    ["a scope of old", { scope: "business_basic" }, "Invalid scope"],
    ["another response type", { response_type: "token" }, "Invalid response_type"],
  ])("%s ends on an error page", async (_name, change, message) => {
    const reply = await at.call(null, page(change));
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(message);
  });

  test.each([
    ["for another redirect address", { redirect_uri: `${CALLBACK}/` }],
    ["with a wrong secret", { client_secret: "wrong" }],
    ["of another app", { client_id: "1" }],
    ["that nobody gave out", { code: "made-up" }],
    ["with another grant type", { grant_type: "password" }],
  ])("a code %s is refused", async (_name, change) => {
    const reply = await exchange({ code: await code(), ...change });
    expect(reply).toMatchObject({ status: 400, json: { error_type: "OAuthException", code: 400 } });
    expect(reply.json["error_message"]).not.toBe("");
  });

  test("a code works once and for an hour, and only as a form", async () => {
    const used = await code();
    const json = { client_id: DEMO_INSTAGRAM_APP.id, code: used };
    expect((await at.call("api.instagram.com", "/oauth/access_token", { json })).status).toBe(400);
    expect((await exchange({ code: used })).status).toBe(200);
    expect((await exchange({ code: used })).status).toBe(400);
    const late = await code();
    at.sandbox.advance(3_600_000);
    expect((await exchange({ code: late })).status).toBe(400);
  });

  test("a long-lived token is not exchanged again", async () => {
    expect((await longToken(token)).status).toBe(400);
  });

  test("Mastodon's page at the same path goes on working", async () => {
    const reply = await at.call("mastodon.sandbox.test", "/oauth/authorize?client_id=x");
    expect(reply.text).toContain("unknown client");
  });
});

describe("tokens", () => {
  const refresh = () =>
    at.call(GRAPH, `/refresh_access_token?grant_type=ig_refresh_token&access_token=${token}`);

  test("are refreshed when a day old, and not before", async () => {
    expect(errorOf(await refresh())["message"]).toContain("24 hours");
    at.sandbox.advance(DAY_MS);
    const reply = await refresh();
    expect(reply.json).toMatchObject({ expires_in: 5_184_000 });
    expect(reply.json["access_token"]).not.toBe(token);
  });

  test("end after sixty days, and are not refreshed then", async () => {
    at.sandbox.advance(60 * DAY_MS);
    expect(codesOf(await graph("/me"))).toEqual([190, 463]);
    expect(codesOf(await refresh())).toEqual([190, 463]);
  });

  const instagram = () => at.sandbox.networks.instagram;
  test.each([
    ["revoked", () => instagram().revokeToken(), [190, 460]],
    ["expired", () => instagram().expireToken(), [190, 463]],
    [
      "without the permission",
      () => instagram().declinePermission("instagram_business_content_publish"),
      [10, undefined],
    ],
    [
      "of a restricted account",
      () => instagram().restrictAccount(DEMO_ACCOUNT, true),
      [25, 2207050],
    ],
  ])("that are %s can't publish", async (_name, change, codes) => {
    change();
    expect(codesOf(await container({ image_url: `${MEDIA}/photo.jpg` }))).toEqual(codes);
  });

  test("are of no use on another account's path, nor with the id that belongs to the app", async () => {
    const form = { image_url: `${MEDIA}/photo.jpg` };
    const scoped = at.sandbox.networks.instagram.accounts[0]?.scopedId ?? "";
    for (const id of [CREATOR_ACCOUNT, scoped])
      expect(codesOf(await graph(`/${id}/media`, { form }))).toEqual([100, 33]);
    expect((await graph("/me/media", { form })).status).toBe(200);
  });

  test.each(["/v19.0/me", "/me", "/v99.0/me"])("a call to %s is refused", async (path) => {
    expect((await at.call(GRAPH, path, { token })).status).toBe(400);
  });
});
