import { describe, expect, test } from "vitest";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { type Script, answer, htmlPage, lost } from "./scripted-tools.ts";
import {
  DAY_MS,
  REST,
  TOKEN,
  app,
  denied,
  later,
  member,
  memberApp,
  organization,
  revoked,
  tools,
} from "./linkedin-script.ts";

const USERINFO = "GET https://api.linkedin.com/v2/userinfo";
const ACLS = `GET ${REST}/organizationAcls`;
const ORGANIZATION = (id: number) => `GET ${REST}/organizations/${id}`;

describe("linking a LinkedIn account", () => {
  const { link } = linkedin;
  const redirectUri = "https://relay.example/v1/connect/callback/linkedin";
  const oauth = { redirectUri, state: "state 1", codeChallenge: "challenge" };
  const grant = (scope: string, more: Record<string, unknown> = {}) =>
    answer(200, { access_token: "token", expires_in: 5_184_000, scope, ...more });
  const memberGrant = grant("openid,profile,w_member_social");
  const orgScopes = "w_organization_social r_organization_social rw_organization_admin";
  const acl = (id: number, role = "ADMINISTRATOR") => ({
    organization: `urn:li:organization:${id}`,
    role,
    roleAssignee: "urn:li:person:xyz",
    state: "APPROVED",
  });
  const named = (localizedName: string, vanityName: string) =>
    answer(200, { id: 1, localizedName, vanityName });
  const finish = async (
    kind: string,
    http: NonNullable<Script["http"]>,
    params: Readonly<Record<string, string>> = { code: "code-1", state: "state 1" },
  ) => {
    const scripted = tools({ http });
    const callback = { params, codeVerifier: "verifier", redirectUri, flow: { kind } };
    return { outcome: await link.finish(callback, scripted), scripted };
  };
  const finishOrganizations = (elements: readonly unknown[], http: Script["http"] = {}) =>
    finish("organization", {
      [TOKEN]: grant(orgScopes),
      [ACLS]: answer(200, { elements }),
      [ORGANIZATION(1)]: named("Bakery", "bakery"),
      [ORGANIZATION(2)]: named("Coffee", "coffee"),
      ...http,
    });

  test.each([
    ["", "member-app", "openid profile w_member_social"],
    ["member", "member-app", "openid profile w_member_social"],
    ["organization", "org-app", orgScopes],
  ])("linking as %j leads to LinkedIn for the right app", async (kind, id, scope) => {
    const outcome = await link.start({ kind }, oauth, tools());
    if (outcome.kind !== "redirect") throw new Error("not started");
    const url = new URL(outcome.url);
    expect(url.origin + url.pathname).toBe("https://www.linkedin.com/oauth/v2/authorization");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: id,
      redirect_uri: redirectUri,
      state: "state 1",
      scope,
    });
    expect(outcome.url).not.toMatch(/\+|secret/);
    expect(outcome.flow).toEqual({ kind: kind || "member" });
  });

  test("offers company pages only where their app is configured", async () => {
    const [field] = link.fields;
    expect(field?.isAsked(app)).toBe(true);
    expect(field?.isAsked(memberApp)).toBe(false);
    const without = tools({ app: memberApp });
    for (const [form, given] of [
      [{ kind: "organization" }, without],
      [{ kind: "myspace" }, tools()],
    ] as const)
      expect(await link.start(form, oauth, given)).toMatchObject({ code: "input_invalid" });
    expect(await link.start({}, oauth, without)).toMatchObject({ kind: "redirect" });
  });

  test("exchanges the code, in a form, and links the member", async () => {
    const { outcome, scripted } = await finish("member", {
      [TOKEN]: memberGrant,
      [USERINFO]: answer(200, {
        sub: "AbC",
        name: "Dana Demo",
        given_name: "Dana",
        picture: "https://media.licdn.example/dana.jpg",
      }),
    });
    expect(outcome).toEqual({
      kind: "linked",
      linked: {
        account: {
          id: "urn:li:person:AbC",
          username: "Dana Demo",
          displayName: "Dana Demo",
          avatarUrl: "https://media.licdn.example/dana.jpg",
          url: "",
          kind: "member",
        },
        credentials: { ...member, accessExpiresAt: later(60 * DAY_MS).toISOString() },
        instanceUrl: null,
        scopes: ["openid", "profile", "w_member_social"],
        limits: { kind: "member" },
        expiresAt: later(60 * DAY_MS).toISOString(),
      },
    });
    const [token, userinfo] = scripted.calls;
    expect(token?.headers?.["content-type"]).toBe("application/x-www-form-urlencoded");
    const form = token?.body;
    expect(typeof form === "string" && Object.fromEntries(new URLSearchParams(form))).toEqual({
      grant_type: "authorization_code",
      code: "code-1",
      redirect_uri: redirectUri,
      client_id: "member-app",
      client_secret: "member-secret",
    });
    expect(userinfo?.headers?.["authorization"]).toBe("Bearer token");
  });

  test("keeps a refresh token and tells when it ends, which is when the account must be linked again", async () => {
    const { outcome } = await finish("member", {
      [TOKEN]: grant("openid profile w_member_social", {
        refresh_token: "refresh",
        refresh_token_expires_in: 365 * 24 * 3600,
      }),
      [USERINFO]: answer(200, { sub: "AbC" }),
    });
    expect(outcome).toMatchObject({
      linked: {
        credentials: { refreshToken: "refresh" },
        expiresAt: later(365 * DAY_MS).toISOString(),
      },
    });
  });

  test("lets the user choose among the organizations that may be published for", async () => {
    const { outcome, scripted } = await finishOrganizations(
      [
        acl(1),
        acl(2, "CONTENT_ADMINISTRATOR"),
        acl(3, "ANALYST"),
        acl(4, "DIRECT_SPONSORED_CONTENT_POSTER"),
        { ...acl(5), state: "REQUESTED" },
        { ...acl(6), organization: "urn:li:organizationBrand:6" },
        "nonsense",
      ],
      {
        [ORGANIZATION(3)]: answer(403),
        [ORGANIZATION(4)]: answer(404),
        [ORGANIZATION(6)]: answer(404),
      },
    );
    if (outcome.kind !== "choose") throw new Error("no choice");
    expect(outcome.candidates).toEqual([
      { id: "1", label: "Bakery", hint: "bakery" },
      { id: "2", label: "Coffee", hint: "coffee" },
      { id: "4", label: "LinkedIn 4", hint: "" },
      { id: "6", label: "LinkedIn 6", hint: "" },
      { id: "3", label: "LinkedIn 3", hint: "", isBarred: true },
    ]);
    const roles = scripted.calls.find(({ url }) => url.includes("organizationAcls"));
    expect(roles?.url).toContain("q=roleAssignee&state=APPROVED");
    expect(roles?.headers).toMatchObject({
      authorization: "Bearer token",
      "linkedin-version": "202609",
      "x-restli-protocol-version": "2.0.0",
    });
    const flow = JSON.parse(JSON.stringify(outcome.flow)) as NetworkData;
    expect(await link.choose("6", flow)).toMatchObject({
      linked: {
        account: {
          id: "urn:li:organizationBrand:6",
          url: "https://www.linkedin.com/showcase/6/",
          kind: "organization",
        },
        credentials: { author: "urn:li:organizationBrand:6" },
      },
    });
    expect(await link.choose("2", flow)).toEqual({
      kind: "linked",
      linked: {
        account: {
          id: "urn:li:organization:2",
          username: "coffee",
          displayName: "Coffee",
          avatarUrl: null,
          url: "https://www.linkedin.com/company/coffee/",
          kind: "organization",
        },
        credentials: {
          author: "urn:li:organization:2",
          kind: "organization",
          accessToken: "token",
          accessExpiresAt: later(60 * DAY_MS).toISOString(),
        },
        instanceUrl: null,
        scopes: orgScopes.split(" "),
        limits: { kind: "organization" },
        expiresAt: later(60 * DAY_MS).toISOString(),
        grantId: "organizations of urn:li:person:xyz",
      },
    });
    expect(await link.choose("3", flow)).toMatchObject({ code: "input_invalid" });
  });

  test("asks nothing where there is one organization, whatever its row calls it", async () => {
    const { organization: urn, ...rest } = acl(1);
    const { outcome } = await finishOrganizations([{ ...rest, organizationTarget: urn }]);
    expect(outcome).toMatchObject({ kind: "linked", linked: { account: { username: "bakery" } } });
  });

  test("offers an organization by its number when its name can't be had", async () => {
    const { outcome } = await finishOrganizations([acl(1), acl(2)], {
      [ORGANIZATION(1)]: lost,
      [ORGANIZATION(2)]: answer(404, {}),
    });
    expect(outcome).toMatchObject({
      candidates: [{ label: "LinkedIn 1" }, { label: "LinkedIn 2" }],
    });
  });

  test("reads on after a short page that names the next", async () => {
    const page = (from: number, count: number, links: readonly object[]) =>
      answer(200, {
        elements: Array.from({ length: count }, (_, index) => acl(from + index)),
        paging: { start: 0, count: 100, links },
      });
    const pages = [
      page(1, 97, [{ rel: "next", href: "/rest/organizationAcls" }]),
      page(101, 30, []),
    ];
    const ids = Array.from({ length: 40 }, (_, index) => index + 1);
    const named = ids.map((id) => [
      `GET https://api.linkedin.com/rest/organizations/${id}`,
      answer(404, {}),
    ]);
    const http = { ...Object.fromEntries(named), [ACLS]: pages };
    const { outcome } = await finishOrganizations([], http as never);
    expect(outcome).toMatchObject({ kind: "choose" });
    expect(outcome).not.toHaveProperty("isCut");
    expect(outcome.kind === "choose" && outcome.candidates.length).toBe(127);
  });

  test("reads every page of a long list of organizations, but not for ever", async () => {
    const full = answer(200, { elements: Array.from({ length: 100 }, () => acl(1)) });
    const { scripted, outcome } = await finishOrganizations([], { [ACLS]: full });
    expect(scripted.asked.filter((name) => name === ACLS)).toHaveLength(10);
    expect(outcome).toMatchObject({ kind: "choose", isCut: true });
    expect(
      scripted.calls.map(({ url }) => url).filter((url) => url.includes("start=200")),
    ).toHaveLength(1);
  });

  test.each([
    [{ error: "user_cancelled_login" }, "access_denied"],
    [{ error: "user_cancelled_authorize" }, "access_denied"],
    [{ error: "unauthorized_scope_error" }, "service_refused"],
    [
      {
        error: "invalid_scope",
        error_description: 'Your application has not been authorized for the scope "r_fullprofile"',
      },
      "service_refused",
    ],
    [{ error: "something" }, "access_denied"],
    [{}, "input_invalid"],
  ])("tells about the callback %j", async (params, code) => {
    const { outcome, scripted } = await finish("member", {}, params);
    expect(outcome).toMatchObject({ kind: "failed", code });
    // Anybody may have written it.
    if (code === "service_refused") expect(outcome).toMatchObject({ isUnproven: true });
    expect(scripted.calls).toEqual([]);
  });

  test.each([
    ["member", TOKEN, answer(400, { error: "invalid_request" }), "access_denied"],
    ["member", TOKEN, answer(401, { error: "invalid_client" }), "service_refused"],
    ["member", TOKEN, answer(429, ""), "rate_limited"],
    ["member", TOKEN, htmlPage(502), "network_unavailable"],
    ["member", TOKEN, lost, "network_unavailable"],
    ["member", TOKEN, grant("openid profile"), "permission_missing"],
    ["member", USERINFO, revoked, "network_unavailable"],
    ["member", USERINFO, denied, "service_refused"],
    ["member", USERINFO, answer(200, { name: "nobody" }), "network_unavailable"],
    ["member", USERINFO, answer(429, { message: "APPLICATION DAY limit" }), "service_limited"],
    ["member", USERINFO, answer(429, { serviceErrorCode: 101 }), "service_limited"],
    ["member", USERINFO, lost, "network_unavailable"],
    ["organization", TOKEN, grant("w_organization_social"), "permission_missing"],
    ["organization", ACLS, denied, "service_refused"],
    ["organization", ACLS, answer(426, {}), "service_refused"],
    ["organization", ACLS, lost, "network_unavailable"],
    ["organization", ACLS, answer(200, { elements: [] }), "nothing_to_choose"],
  ])("linking as a %s tells why it failed (%#)", async (kind, call, reply, code) => {
    const { outcome } = await finish(kind, {
      [TOKEN]: kind === "member" ? memberGrant : grant(orgScopes),
      [call]: reply,
    });
    expect(outcome).toMatchObject({ kind: "failed", code });
    expect(JSON.stringify(outcome)).not.toContain("secret");
  });

  test.each([
    [member, "client_id=member-app&client_secret=member-secret&token=token"],
    [organization, "client_id=org-app&client_secret=org-secret&token=token"],
  ])("a link is undone with its own app (%#)", async (credentials, body) => {
    for (const reply of [answer(200, ""), answer(404, ""), lost]) {
      const scripted = tools({
        http: { "POST https://www.linkedin.com/oauth/v2/revoke": reply },
      });
      await linkedin.revoke(credentials, null, scripted);
      expect(scripted.calls[0]?.body).toBe(body);
    }
  });
});
