import { describe, expect, test } from "vitest";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import { type Script, NOW, answer, htmlPage, lost } from "./scripted-tools.ts";
import {
  DAY_MS,
  POST,
  TOKEN,
  ago,
  later,
  leg,
  member,
  memberApp,
  renewable,
  revoked,
  tools,
} from "./linkedin-script.ts";

describe("LinkedIn credentials", () => {
  const freshen = (credentials: NetworkData, script: Script = {}) => {
    const scripted = tools(script);
    return linkedin.freshen(credentials, null, scripted);
  };
  const ending = (minutes: number) => ({
    ...renewable,
    accessExpiresAt: later(minutes * 60_000).toISOString(),
  });
  const renewal = answer(200, { access_token: "new", expires_in: 5_184_000 });

  test.each([
    ["a fresh token", member],
    ["a fresh token that could be renewed", renewable],
    ["a token of the last week that can't be renewed", { ...ending(60), refreshToken: undefined }],
  ])("LinkedIn credentials are left alone with %s", async (_what, credentials) => {
    const scripted = tools();
    expect(await linkedin.freshen(credentials, null, scripted)).toEqual({ kind: "usable" });
    expect(scripted.calls).toEqual([]);
  });

  test.each([
    ["no refresh token", { ...ending(9), refreshToken: undefined }],
    ["an ended refresh token", { ...ending(9), refreshExpiresAt: ago(1).toISOString() }],
  ])("need a new link at the end of the token with %s", async (_what, credentials) => {
    expect(await freshen(credentials)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });

  test("LinkedIn credentials are renewed in the last week; the refresh token stays and ends no later", async () => {
    const scripted = tools({ http: { [TOKEN]: renewal } });
    expect(await linkedin.freshen(ending(6 * 24 * 60), null, scripted)).toEqual({
      kind: "refreshed",
      credentials: {
        ...renewable,
        accessToken: "new",
        accessExpiresAt: later(60 * DAY_MS).toISOString(),
      },
      expiresAt: renewable.refreshExpiresAt,
    });
    expect(scripted.calls[0]?.body).toBe(
      "grant_type=refresh_token&refresh_token=refresh&client_id=member-app&client_secret=member-secret",
    );
  });

  test("take a new refresh token when there is one", async () => {
    const reply = answer(200, {
      access_token: "new",
      expires_in: 100,
      refresh_token: "next",
      refresh_token_expires_in: 50,
    });
    expect(await freshen(ending(5), { http: { [TOKEN]: reply } })).toMatchObject({
      credentials: { refreshToken: "next", refreshExpiresAt: later(50_000).toISOString() },
      expiresAt: later(100_000).toISOString(),
    });
  });

  test.each([
    [answer(400, { error: "invalid_grant" }), "rejected", "connection_needs_reauth"],
    [answer(400, { error: "invalid_request" }), "rejected", "connection_needs_reauth"],
    [answer(401, { error: "invalid_client" }), "rejected", "app_misconfigured"],
    [answer(429, ""), "try_later", "rate_limited"],
    [htmlPage(502), "try_later", "network_unavailable"],
    [lost, "try_later", "network_unavailable"],
  ])("credentials serve until their end (%#)", async (reply, kind, code) => {
    const script = { http: { [TOKEN]: reply } };
    expect(await freshen(ending(60), script)).toEqual({ kind: "usable" });
    expect(await freshen(ending(5), script)).toMatchObject({ kind, failure: { code } });
  });

  test.each(["openid profile", "openid,profile"])(
    "credentials renewed with too few scopes are refused (%s)",
    async (scope) => {
      const reply = answer(200, { access_token: "new", expires_in: 100, scope });
      expect(await freshen(ending(60), { http: { [TOKEN]: reply } })).toMatchObject({
        kind: "rejected",
        failure: { code: "permission_missing", networkCode: "w_member_social" },
      });
    },
  );

  test("LinkedIn credentials of an organization are renewed with its own app, and not without it", async () => {
    const credentials = { ...ending(5), kind: "organization" };
    const scripted = tools({ http: { [TOKEN]: renewal } });
    await linkedin.freshen(credentials, null, scripted);
    expect(scripted.calls[0]?.body).toContain("client_id=org-app&client_secret=org-secret");
    expect(await freshen(credentials, { app: memberApp })).toMatchObject({
      kind: "rejected",
      failure: { code: "app_misconfigured" },
    });
  });

  test("LinkedIn credentials that LinkedIn refuses before their time are renewed once", async () => {
    const scripted = tools({ http: { [POST]: revoked, [TOKEN]: renewal } });
    const attempt = (credentials: NetworkData) =>
      linkedin.calls.publish.perform(leg({}, { credentials, sentAt: NOW }), scripted);
    expect(await attempt(renewable)).toMatchObject({ kind: "try_later", retryAfterSeconds: 0 });
    const fresh = await linkedin.freshen(renewable, null, scripted);
    if (fresh.kind !== "refreshed") throw new Error("not renewed");
    expect(await linkedin.freshen(fresh.credentials, null, scripted)).toEqual({ kind: "usable" });
    expect(await attempt(fresh.credentials)).toMatchObject({
      kind: "rejected",
      failure: { code: "connection_needs_reauth" },
    });
  });
});
