import { describe, expect, test } from "vitest";
import { instagram } from "../../src/shared/networks/instagram/index.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import {
  type Script,
  NOW,
  answer,
  htmlPage,
  lost,
  refusedToConnect,
  sentForm,
} from "./scripted-tools.ts";
import { DAY, GRAPH, at, credentials, error, tools } from "./instagram-script.ts";

describe("linking an Instagram account", () => {
  const { link } = instagram;
  const redirectUri = "https://relay.example/v1/connect/callback/instagram";
  const TOKEN = "POST https://api.instagram.com/oauth/access_token";
  const LONG = "GET https://graph.instagram.com/access_token";
  const ME = `GET ${GRAPH}/me`;
  const LIMIT = `GET ${GRAPH}/42/content_publishing_limit`;
  const scopes = ["instagram_business_basic", "instagram_business_content_publish"];
  const me = {
    id: "1",
    user_id: "42",
    username: "bakery",
    name: "Bakery",
    profile_picture_url: "https://img.example/a.jpg",
    account_type: "BUSINESS",
  };
  const script = (overrides: Script["http"] = {}): Script => ({
    http: {
      [TOKEN]: answer(200, {
        data: [{ access_token: "short", user_id: 1, permissions: scopes.join(",") }],
      }),
      [LONG]: answer(200, { access_token: "long", token_type: "bearer", expires_in: 5_184_000 }),
      [ME]: answer(200, me),
      [LIMIT]: answer(200, {
        data: [{ quota_usage: 2, config: { quota_total: 100, quota_duration: 86_400 } }],
      }),
      ...overrides,
    },
  });
  const finish = async (
    overrides: Script["http"] = {},
    params: Record<string, string> = { code: "code-1#_", state: "s" },
  ) => {
    const used = tools(script(overrides));
    const callback = { params, codeVerifier: "v", redirectUri, flow: {} };
    return { outcome: await link.finish(callback, used), used };
  };

  test("asks at Instagram for what publishing needs", async () => {
    const oauth = { redirectUri, state: "state-1", codeChallenge: "challenge" };
    const started = await link.start({}, oauth, tools());
    if (started.kind === "failed") throw new Error(started.code);
    const url = new URL(started.url);
    expect(url.origin + url.pathname).toBe("https://www.instagram.com/oauth/authorize");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "app-1",
      redirect_uri: redirectUri,
      response_type: "code",
      scope: scopes.join(","),
      state: "state-1",
    });
  });

  test.each([
    ["with a list around it", { data: [{ access_token: "short", permissions: scopes }] }],
    ["flat", { access_token: "short", user_id: "1", permissions: scopes.join(", ") }],
    ["without permissions", { access_token: "short", user_id: "1" }],
  ])("makes a token of sixty days of the code's, which comes %s", async (_what, body) => {
    const { outcome, used } = await finish({ [TOKEN]: answer(200, body) });
    expect(outcome).toEqual({
      kind: "linked",
      linked: {
        account: {
          id: "42",
          username: "bakery",
          displayName: "Bakery",
          avatarUrl: "https://img.example/a.jpg",
          url: "https://www.instagram.com/bakery/",
          kind: "business",
        },
        credentials: {
          userId: "42",
          accessToken: "long",
          authVariant: "instagram_login",
          issuedAt: NOW.toISOString(),
          expiresAt: at(60 * DAY),
        },
        instanceUrl: null,
        scopes,
        limits: { postsPerDayMax: 100 },
        expiresAt: at(60 * DAY),
        grantId: "1",
      },
    });
    expect(sentForm(used.calls[0])).toEqual({
      client_id: "app-1",
      client_secret: "secret-1",
      grant_type: "authorization_code",
      redirect_uri: redirectUri,
      code: "code-1",
    });
    expect(Object.fromEntries(new URL(used.calls[1]?.url ?? "").searchParams)).toEqual({
      grant_type: "ig_exchange_token",
      client_secret: "secret-1",
      access_token: "short",
    });
    expect(used.calls[2]?.headers?.["authorization"]).toBe("Bearer long");
  });

  test.each([
    ["BUSINESS", "business"],
    ["Business", "business"],
    ["Media_Creator", "creator"],
    ["SOMETHING_NEW", "professional"],
    [null, "professional"],
  ])(
    "links an account of the type %s as %s, with a list around it or without",
    async (type, kind) => {
      const account = { ...me, account_type: type, name: null, profile_picture_url: 7 };
      for (const body of [account, { data: [account] }])
        expect((await finish({ [ME]: answer(200, body) })).outcome).toMatchObject({
          kind: "linked",
          linked: { account: { kind, avatarUrl: null } },
        });
    },
  );

  test("links without a quota where none is told", async () => {
    for (const reply of [lost, error(10), answer(200, { data: [] })])
      expect((await finish({ [LIMIT]: reply })).outcome).toMatchObject({
        kind: "linked",
        linked: { limits: {} },
      });
  });

  const refusedToken = (message: string, status = 400) =>
    answer(status, { error_type: "OAuthException", code: status, error_message: message });
  const notBusiness = error(10, undefined, 403, "(#10) The user is not an Instagram Business");

  test.each<[string, Script["http"], string]>([
    [
      "publishing was not allowed",
      { [TOKEN]: answer(200, { access_token: "short", permissions: scopes[0] }) },
      "permission_missing",
    ],
    [
      "the account is a personal one",
      { [ME]: answer(200, { ...me, account_type: "PERSONAL" }) },
      "account_kind_unsupported",
    ],
    ["its token says so", { [ME]: notBusiness }, "account_kind_unsupported"],
    ["its exchange says so", { [LONG]: notBusiness }, "account_kind_unsupported"],
    [
      "its code says so",
      { [TOKEN]: refusedToken("The account must be a professional account") },
      "account_kind_unsupported",
    ],
    [
      "the code was used before",
      { [TOKEN]: refusedToken("This authorization code has been used") },
      "access_denied",
    ],
    [
      "our secret is wrong",
      { [TOKEN]: refusedToken("Error validating client secret.") },
      "service_refused",
    ],
    [
      "our app takes the accounts of its testers alone",
      { [TOKEN]: refusedToken("Insufficient developer role") },
      "service_refused",
    ],
    ["there were too many calls", { [TOKEN]: refusedToken("Wait", 429) }, "rate_limited"],
    ["Instagram is away", { [TOKEN]: lost }, "network_unavailable"],
    ["Instagram fails", { [LONG]: answer(500, "") }, "network_unavailable"],
    ["the new token is not known yet", { [LONG]: error(190) }, "network_unavailable"],
    ["the new token is not known everywhere", { [ME]: error(190) }, "network_unavailable"],
    ["Instagram answers with a page", { [ME]: htmlPage(502) }, "network_unavailable"],
    ["the account is restricted", { [ME]: error(25, 2207050) }, "account_restricted"],
  ])("links nothing when %s", async (_what, http, code) => {
    expect((await finish(http)).outcome).toMatchObject({ kind: "failed", code });
  });

  test.each<[Record<string, string>, string]>([
    [{ error: "access_denied", error_reason: "user_denied" }, "access_denied"],
    [{ code: "#_" }, "input_invalid"],
    [{}, "input_invalid"],
  ])("says what came back with the browser: %j", async (params, code) => {
    expect((await finish({}, params)).outcome).toMatchObject({ kind: "failed", code });
  });

  test("calls nobody when it is unlinked, for Instagram has no call for it", async () => {
    await expect(instagram.revoke()).resolves.toBeUndefined();
  });
});

describe("an Instagram token", () => {
  const REFRESH = "GET https://graph.instagram.com/refresh_access_token";
  const token = (ageDays: number, leftDays: number) => ({
    ...credentials,
    issuedAt: at(-ageDays * DAY),
    expiresAt: at(leftDays * DAY),
  });
  const renewed = answer(200, { access_token: "new", token_type: "bearer", expires_in: 5_184_000 });
  const freshen = (data: NetworkData, http: NonNullable<Script["http"]> = {}) =>
    instagram.freshen(data, null, tools({ http }));

  test.each([
    ["young", 0.9, 59.1],
    ["young, though it ends soon", 0.9, 5],
    ["a day old", 1, 59],
    ["of half its life", 30, 30],
  ])("an Instagram token is left alone when it is %s", async (_what, age, left) => {
    expect(await freshen(token(age, left))).toEqual({ kind: "usable" });
  });

  test.each([
    ["beyond half its life", 31, 29],
    ["old, whatever is left", 31, 40],
    ["a day old and ends within thirty days", 1, 29],
  ])("an Instagram token is renewed when it is %s", async (_what, age, left) => {
    const used = tools({ http: { [REFRESH]: renewed } });
    expect(await instagram.freshen(token(age, left), null, used)).toEqual({
      kind: "refreshed",
      credentials: {
        ...credentials,
        accessToken: "new",
        issuedAt: NOW.toISOString(),
        expiresAt: at(60 * DAY),
      },
      expiresAt: at(60 * DAY),
    });
    expect(Object.fromEntries(new URL(used.calls[0]?.url ?? "").searchParams)).toEqual({
      grant_type: "ig_refresh_token",
      access_token: "token",
    });
  });

  test("an Instagram token that has ended is not even tried", async () => {
    expect(await freshen(token(60, 0))).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  test.each([lost, refusedToConnect, answer(500, ""), error(4), error(100), error(1)])(
    "stays usable while it can't be renewed (%#)",
    async (reply) => {
      expect(await freshen(token(31, 29), { [REFRESH]: reply })).toEqual({ kind: "usable" });
      expect(await freshen(token(59.999, 0.001), { [REFRESH]: reply })).toMatchObject({
        kind: "try_later",
      });
    },
  );

  test("an Instagram token that is renewed without a permission that publishing needs is refused", async () => {
    const reply = (permissions: unknown) =>
      answer(200, { access_token: "new", expires_in: 5_184_000, permissions });
    const renew = (permissions: unknown) =>
      freshen(token(31, 29), { [REFRESH]: reply(permissions) });
    expect(await renew("instagram_business_basic")).toMatchObject({
      kind: "rejected",
      failure: { code: "permission_missing" },
    });
    const both = ["instagram_business_basic", "instagram_business_content_publish"];
    for (const named of [both, both.join(","), null, 7])
      expect(await renew(named)).toMatchObject({ kind: "refreshed" });
  });

  test("an Instagram token that was taken back is found when it is renewed", async () => {
    expect(await freshen(token(31, 29), { [REFRESH]: error(190, 460) })).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });
});
