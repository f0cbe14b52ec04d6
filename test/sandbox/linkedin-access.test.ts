import { describe, expect, test } from "vitest";
import {
  DEMO_LINKEDIN_APP,
  DEMO_LINKEDIN_ORG_APP,
  DEMO_MEMBER,
  DEMO_ORGANIZATION,
  FRIEND_MEMBER,
} from "../../dev/networks/linkedin/state.ts";
import {
  API,
  DAY_MS,
  ORGANIZATION,
  PERSON,
  VERSIONED,
  WWW,
  body,
  errorOf,
  useLinkedIn,
} from "./linkedin-calls.ts";

let member: string;
let organization: string;

const { at, speakAsMember, rest, post, shown, initialize } = useLinkedIn((fresh) => {
  ({ member, organization } = fresh);
});

const CALLBACK = "http://localhost:7071/api/v1/connect/callback/linkedin";

describe("consent", () => {
  const page = (change: Record<string, string> = {}) =>
    `/oauth/v2/authorization?${new URLSearchParams({
      response_type: "code",
      client_id: DEMO_LINKEDIN_APP.id,
      redirect_uri: CALLBACK,
      state: "the-state",
      scope: "openid profile w_member_social",
      ...change,
    }).toString()}`;
  const decide = async (form: Record<string, string>, change: Record<string, string> = {}) => {
    const reply = await at.call(null, page(change), { form });
    expect(reply.status).toBe(303);
    return new URL(reply.headers.get("location") ?? "").searchParams;
  };
  const token = (form: Record<string, string>) =>
    at.call(WWW, "/oauth/v2/accessToken", {
      form: {
        grant_type: "authorization_code",
        redirect_uri: CALLBACK,
        client_id: DEMO_LINKEDIN_APP.id,
        client_secret: DEMO_LINKEDIN_APP.secret,
        ...form,
      },
    });
  const code = async (change: Record<string, string> = {}) =>
    (await decide({ decision: "allow" }, change)).get("code") ?? "";
  const asOrganization = {
    client_id: DEMO_LINKEDIN_ORG_APP.id,
    scope: "w_organization_social r_organization_social rw_organization_admin",
  };
  const { id: client_id, secret: client_secret } = DEMO_LINKEDIN_ORG_APP;

  test("a member agrees, and the token names and posts for them", async () => {
    expect((await at.call(null, page())).text).toContain("Dana Demo");
    const answer = await decide({ decision: "allow" });
    expect(answer.get("state")).toBe("the-state");
    const reply = await token({ code: answer.get("code") ?? "" });
    expect(reply.json).toMatchObject({
      expires_in: 5_184_000,
      scope: "openid,profile,w_member_social",
      token_type: "Bearer",
    });
    expect(reply.json).not.toHaveProperty("refresh_token");
    speakAsMember(String(reply.json["access_token"]));
    expect(member.length).toBeGreaterThan(1000);
    const me = await at.call(API, "/v2/userinfo", { token: member });
    expect(me.json).toMatchObject({ sub: DEMO_MEMBER, name: "Dana Demo" });
    expect(me.json).not.toHaveProperty("email");
    expect((await post()).status).toBe(201);
  });

  test.each([
    ["deny", "user_cancelled_authorize"],
    ["no_login", "user_cancelled_login"],
  ])("who presses %s is sent back with %s and the state", async (decision, error) => {
    const answer = await decide({ decision });
    expect([answer.get("error"), answer.get("state")]).toEqual([error, "the-state"]);
  });

  test("a scope of a product that the app has not ends at the app", async () => {
    const answer = await decide({}, { scope: "w_organization_social" });
    expect(answer.get("error")).toBe("unauthorized_scope_error");
  });

  test.each([
    ["an unknown app", { client_id: "x" }],
    ["no redirect address", { redirect_uri: "" }],
  ])("%s ends on an error page", async (_name, change) => {
    expect((await at.call(null, page(change))).status).toBe(400);
  });

  test.each([
    ["for another redirect address", { redirect_uri: `${CALLBACK}/` }, 400, "invalid_request"],
    ["with a wrong secret", { client_secret: "wrong" }, 401, "invalid_client"],
    ["of another app", { client_id, client_secret }, 400, "invalid_request"],
    ["with another grant type", { grant_type: "password" }, 400, "unsupported_grant_type"],
  ])("a code %s is refused", async (_name, change, status, error) => {
    const reply = await token({ code: await code(), ...change });
    expect(reply).toMatchObject({ status, json: { error } });
  });

  test("a code works once and for half an hour", async () => {
    const used = await code();
    expect((await token({ code: used })).status).toBe(200);
    expect((await token({ code: used })).status).toBe(400);
    const late = await code();
    at.sandbox.advance(30 * 60_000);
    expect((await token({ code: late })).status).toBe(400);
  });

  test("asking for other scopes ends the older tokens", async () => {
    const first = String((await token({ code: await code() })).json["access_token"]);
    await token({ code: await code({ scope: "openid profile email w_member_social" }) });
    expect(errorOf(await post({}, first))).toEqual([401, "REVOKED_ACCESS_TOKEN"]);
  });

  test("an approved app refreshes for a year, counted from the consent", async () => {
    const sent = { code: await code(asOrganization), client_id, client_secret };
    const { json } = await token(sent);
    expect(json).toMatchObject({ refresh_token_expires_in: 31_536_000 });
    const refresh = () =>
      token({
        grant_type: "refresh_token",
        refresh_token: String(json["refresh_token"]),
        client_id,
        client_secret,
      });
    at.sandbox.advance(100 * DAY_MS);
    const again = await refresh();
    expect(again.json).toMatchObject({ expires_in: 5_184_000 });
    expect(again.json["refresh_token_expires_in"]).toBeLessThan(266 * 24 * 3600);
    at.sandbox.advance(300 * DAY_MS);
    expect(await refresh()).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
  });
});

describe("access", () => {
  test.each([
    ["no version", { "linkedin-version": "" }, [400, "VERSION_MISSING"]],
    ["a sunset version", { "linkedin-version": "202501" }, [426, "NONEXISTENT_VERSION"]],
    ["a version to come", { "linkedin-version": "203001" }, [426, "NONEXISTENT_VERSION"]],
    ["the first protocol", { "x-restli-protocol-version": "1.0.0" }, [400, "ILLEGAL_ARGUMENT"]],
  ])("%s is refused", async (_name, headers, error) => {
    expect(errorOf(await rest("/posts", { json: body(), headers }))).toEqual(error);
  });

  test("a URN in the path must be encoded", async () => {
    const { urn } = await initialize("image", ORGANIZATION, organization);
    const plain = await rest(`/images/${urn}`, { token: organization });
    expect(errorOf(plain)).toEqual([400, "ILLEGAL_ARGUMENT"]);
    const encoded = `/images/${encodeURIComponent(urn)}`;
    expect((await rest(encoded, { token: organization })).status).toBe(200);
  });

  const linkedin = () => at.sandbox.networks.linkedin;
  test.each([
    ["revoked", () => linkedin().revokeToken(), "REVOKED_ACCESS_TOKEN"],
    ["expired", () => linkedin().expireToken(), "EXPIRED_ACCESS_TOKEN"],
  ])("a token that was %s is a 401", async (_name, change, code) => {
    change();
    expect(errorOf(await post())).toEqual([401, code]);
  });

  test("a token lives sixty days", async () => {
    at.sandbox.advance(60 * DAY_MS);
    expect(errorOf(await post())).toEqual([401, "EXPIRED_ACCESS_TOKEN"]);
  });

  test("no token, and one that is none, are a 401", async () => {
    const none = await at.call(API, "/rest/posts", { json: body(), headers: VERSIONED });
    expect(errorOf(none)).toEqual([401, "EMPTY_ACCESS_TOKEN"]);
    expect(errorOf(await post({}, "nonsense"))).toEqual([401, "INVALID_ACCESS_TOKEN"]);
  });

  test.each([
    ["another member", `urn:li:person:${FRIEND_MEMBER}`],
    ["an organization, with a member's token", ORGANIZATION],
  ])("nobody posts as %s", async (_name, author) => {
    expect(errorOf(await post({ author }))).toEqual([403, "ACCESS_DENIED"]);
    expect(shown()).toHaveLength(0);
  });

  test("who lost the role posts no more for the organization", async () => {
    expect((await post({ author: ORGANIZATION }, organization)).status).toBe(201);
    linkedin().loseRole(DEMO_ORGANIZATION);
    const refused = await post({ author: ORGANIZATION, commentary: "x" }, organization);
    expect(errorOf(refused)).toEqual([403, "ACCESS_DENIED"]);
  });

  test("organizations are found by the member's role, names and all", async () => {
    linkedin().addOrganization({ name: "Baking Weekly", role: "ANALYST" });
    const find = "/organizationAcls?q=roleAssignee&state=APPROVED";
    const { json } = await rest(find, { token: organization });
    expect(json["elements"]).toMatchObject([
      { organization: ORGANIZATION, role: "ADMINISTRATOR", roleAssignee: PERSON },
      { role: "ANALYST", state: "APPROVED" },
    ]);
    const one = await rest(`/organizations/${DEMO_ORGANIZATION}`, { token: organization });
    expect(one.json).toMatchObject({ localizedName: "Demo Bakery Ltd", vanityName: "demo-bakery" });
    expect(errorOf(await rest(find))).toEqual([403, "ACCESS_DENIED"]);
    const userinfo = await at.call(API, "/v2/userinfo", { token: organization });
    expect(userinfo.status).toBe(403);
  });
});
