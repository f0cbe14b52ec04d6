import { createPublicKey } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aKey, anApplication, aPlatform, aProfile, dataOf, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";

let relay: Relay;
beforeAll(async () => {
  relay = await startRelay();
});
afterAll(() => relay.stop());

describe("GET /v1/me", () => {
  test("shows a key its platform, its application and what is counted there", async () => {
    const platform = await aPlatform(relay, { tokens: 777, name: "Nine Bakers" });
    const app = await anApplication(relay, platform, { name: "Planner" });
    const sibling = await anApplication(relay, platform, { name: "Archive" });
    await aProfile(relay, app);
    await aProfile(relay, sibling);
    await aProfile(relay, sibling);
    const spare = await aKey(relay, app);
    await relay.call("POST", `/v1/keys/${spare.id}/revoke`, { key: app.key });

    const { status, body } = await relay.call("GET", "/v1/me", { key: app.key });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: platform.id,
      name: "Nine Bakers",
      status: "active",
      tokenBalance: 777,
      tokenReserved: 0,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      application: { id: app.id, name: "Planner", status: "active" },
      applications: [
        { id: sibling.id, name: "Archive", status: "active" },
        { id: app.id, name: "Planner", status: "active" },
      ],
      counts: { profiles: 1, activeApiKeys: 1, webhooks: 0, connections: 0, applications: 2 },
      auth: { kind: "api_key", apiKeyId: app.keyId, userId: null, applicationId: app.id },
    });
  });

  test("shows a session the whole platform, or the application it names", async () => {
    const platform = await aPlatform(relay, { tokens: 0 });
    const { session } = platform;
    const [left, right] = [
      await anApplication(relay, platform),
      await anApplication(relay, platform),
    ];
    await aProfile(relay, left);
    await aProfile(relay, right);
    const whole = dataOf(await relay.call("GET", "/v1/me", { session }));
    expect(whole.application).toBeNull();
    expect(whole.tokenBalance).toBe(0);
    expect(whole.counts).toMatchObject({ profiles: 2, activeApiKeys: 2, applications: 2 });
    expect(whole.auth).toEqual({
      kind: "session",
      apiKeyId: null,
      userId: platform.userId,
      applicationId: null,
    });
    const headers = { "x-application-id": left.id };
    const named = dataOf(await relay.call("GET", "/v1/me", { session, headers }));
    expect(named.application.id).toBe(left.id);
    expect(named.counts).toMatchObject({ profiles: 1, activeApiKeys: 1, applications: 2 });
    expect(named.auth.applicationId).toBe(left.id);
  });

  test("expired keys do not count as active", async () => {
    const app = await anApplication(relay);
    const expiresAt = new Date(relay.clock.now().getTime() + 60_000).toISOString();
    await aKey(relay, app, { expiresAt });
    const count = async () =>
      dataOf(await relay.call("GET", "/v1/me", { key: app.key })).counts.activeApiKeys;
    expect(await count()).toBe(2);
    relay.advance(60_000);
    expect(await count()).toBe(1);
  });

  test.each(["another tenant's", "an unknown", "a malformed"])(
    "%s application in the header is 404",
    async (which) => {
      const { session } = await aPlatform(relay);
      const id = {
        "another tenant's": (await anApplication(relay)).id,
        "an unknown": `app_${"0".repeat(26)}`,
        "a malformed": "planner",
      }[which];
      const headers = { "x-application-id": id ?? "" };
      const { status, body } = await relay.call("GET", "/v1/me", { session, headers });
      expect([status, body.error.code]).toEqual([404, "not_found"]);
    },
  );
});

describe("suspending a platform", () => {
  test("refuses all its keys and sessions on every instance, until it is brought back", async () => {
    const app = await anApplication(relay);
    const { id, session } = app.platform;
    const instance = await startRelay({ sameDeploymentAs: relay });
    expect((await instance.call("GET", "/v1/me", { key: app.key })).status).toBe(200);
    const set = (status: string) =>
      relay.call("PATCH", `/v1/admin/platforms/${id}`, { operator: ["Admin"], body: { status } });
    expect(dataOf(await set("suspended")).status).toBe("suspended");
    for (const credential of [{ key: app.key }, { session }]) {
      const { status, body } = await instance.call("GET", "/v1/me", credential);
      expect([status, body.error.code]).toEqual([403, "platform_suspended"]);
    }
    expect(dataOf(await set("active")).status).toBe("active");
    for (const credential of [{ key: app.key }, { session }])
      expect((await instance.call("GET", "/v1/me", credential)).status).toBe(200);
    await instance.stop();
  });
});

describe("operators", () => {
  const operator = ["Admin"];

  test("list all platforms, newest first, page by page", async () => {
    const own = await startRelay();
    const made: string[] = [];
    for (const tokens of [0, 5, 10]) made.unshift((await aPlatform(own, { tokens })).id);
    const first = await own.call("GET", "/v1/admin/platforms?limit=2", { operator: ["Operator"] });
    const cursor = first.body.page.nextCursor;
    const second = await own.call("GET", `/v1/admin/platforms?limit=2&cursor=${cursor}`, {
      operator: ["Operator"],
    });
    const all = [...first.body.data, ...second.body.data];
    expect(all.map(({ id }) => id)).toEqual(made);
    expect(all.map(({ tokenBalance }) => tokenBalance)).toEqual([10, 5, 0]);
    await own.stop();
  });

  test("a platform that a crash kept from being made is not listed", async () => {
    const own = await startRelay();
    const { id } = await aPlatform(own);
    const { openTables } = await import("../../src/shared/storage/tables.ts");
    const { tenants } = openTables(own.services.config);
    await tenants.put("platforms", {
      rowKey: `0000000000000000|plt_${"0".repeat(26)}`,
    });
    const { body } = await own.call("GET", "/v1/admin/platforms", { operator });
    expect(body.data.map((platform: { id: string }) => platform.id)).toEqual([id]);
    await own.stop();
  });

  test("read one with any valid token, with its counts", async () => {
    const app = await anApplication(relay);
    const path = `/v1/admin/platforms/${app.platform.id}`;
    const { status, body } = await relay.call("GET", path, { operator: [] });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: app.platform.id,
      tokenBalance: 10_000,
      counts: { applications: 1, activeApiKeys: 1 },
    });
  });

  test("create a platform whose owner can sign in, with its first tokens", async () => {
    const body = {
      name: "Invited",
      ownerEmail: "invited@example.com",
      ownerPassword: PASSWORD,
      initialTokens: 250,
    };
    const created = await relay.call("POST", "/v1/admin/platforms", { operator, body });
    expect(created.status).toBe(201);
    const { platform, user } = created.body.data;
    expect(platform).toMatchObject({ name: "Invited", status: "active", tokenBalance: 250 });
    expect(user.email).toBe("invited@example.com");
    const login = await relay.call("POST", "/v1/auth/login", {
      body: { email: "invited@example.com", password: PASSWORD },
    });
    expect(login.body.data.platform.id).toBe(platform.id);
    const again = await relay.call("POST", "/v1/admin/platforms", { operator, body });
    expect([again.status, again.body.error.code]).toEqual([409, "conflict"]);
  });

  test.each([
    ["no name", { ownerEmail: "a@example.com", ownerPassword: PASSWORD }],
    [
      "no tokens",
      { name: "a", ownerEmail: "a@example.com", ownerPassword: PASSWORD, initialTokens: 0 },
    ],
    [
      "half a token",
      { name: "a", ownerEmail: "a@example.com", ownerPassword: PASSWORD, initialTokens: 1.5 },
    ],
    ["a short password", { name: "a", ownerEmail: "a@example.com", ownerPassword: "short" }],
  ])("can't create one with %s", async (_name, body) => {
    const { status } = await relay.call("POST", "/v1/admin/platforms", { operator, body });
    expect(status).toBe(400);
  });

  test.each([`plt_${"0".repeat(26)}`, "plt_x", "platforms"])("%s is 404", async (id) => {
    const path = `/v1/admin/platforms/${id}`;
    expect((await relay.call("GET", path, { operator })).status).toBe(404);
    const body = { status: "suspended" };
    expect((await relay.call("PATCH", path, { operator, body })).status).toBe(404);
  });
});

describe("operator tokens", () => {
  async function outcome(claims: object, on: Relay = relay, path = "/v1/admin/platforms") {
    const token = await on.issuer.token(claims, on.clock.now());
    const { status, body } = await on.call("GET", path, { session: token });
    return status === 200 ? "ok" : `${status} ${body.error.code}`;
  }

  test.each([
    ["Admin", ["Admin"], "ok"],
    ["Operator", ["Operator"], "ok"],
    ["another role", ["Reader"], "403 role_required"],
    ["another case", ["admin"], "403 role_required"],
    ["no roles", undefined, "403 role_required"],
    ["roles as text", "Admin", "403 role_required"],
  ])("with %s", async (_name, roles, expected) => {
    expect(await outcome({ roles })).toBe(expected);
  });

  test.each([
    ["scp instead of roles", { more: { scp: "Admin" } }, "403 role_required"],
    ["groups instead of roles", { more: { groups: ["Admin"] } }, "403 role_required"],
    [
      "another issuer",
      { roles: ["Admin"], issuer: "https://other.example" },
      "401 invalid_credentials",
    ],
    [
      "the issuer and a slash",
      { roles: ["Admin"], issuer: "https://issuer.example.test/" },
      "401 invalid_credentials",
    ],
    ["another audience", { roles: ["Admin"], audience: "api://other" }, "401 invalid_credentials"],
    ["an expiry just within the tolerance", { roles: ["Admin"], expiresIn: -50 }, "ok"],
    ["an expiry beyond it", { roles: ["Admin"], expiresIn: -70 }, "401 invalid_credentials"],
    [
      "a start in the future",
      { roles: ["Admin"], more: { nbf: 4_000_000_000 } },
      "401 invalid_credentials",
    ],
  ])("with %s", async (_name, claims, expected) => {
    expect(await outcome(claims)).toBe(expected);
  });

  test("only an Admin creates, suspends and credits", async () => {
    const { id } = await aPlatform(relay);
    const call = { operator: ["Operator"] };
    const answers = [
      await relay.call("POST", "/v1/admin/platforms", { ...call, body: {} }),
      await relay.call("PATCH", `/v1/admin/platforms/${id}`, {
        ...call,
        body: { status: "suspended" },
      }),
      await relay.call("POST", "/v1/billing/admin/credit", {
        ...call,
        body: { platformId: id, tokens: 1 },
      }),
    ];
    for (const { status, body } of answers)
      expect([status, body.error.code]).toEqual([403, "role_required"]);
  });

  test("signed with a secret we share with nobody, or with the public key as a secret, are refused", async () => {
    const { SignJWT } = await import("jose");
    const [jwk] = relay.issuer.publicKeys().keys;
    const spki = createPublicKey({ key: { ...jwk }, format: "jwk" }).export({
      type: "spki",
      format: "pem",
    });
    for (const secret of ["x".repeat(40), spki]) {
      const token = await new SignJWT({ roles: ["Admin"] })
        .setProtectedHeader({ alg: "HS256", kid: "key-1" })
        .setIssuer(relay.issuer.url)
        .setAudience(relay.issuer.audience)
        .setSubject("operator-1")
        .setExpirationTime("1h")
        .sign(Buffer.from(secret));
      const { status } = await relay.call("GET", "/v1/admin/platforms", { session: token });
      expect(status).toBe(401);
    }
  });

  test("a key that the token brings along is not looked at", async () => {
    const { SignJWT, exportJWK, generateKeyPair } = await import("jose");
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const now = Math.floor(relay.clock.now().getTime() / 1000);
    const token = await new SignJWT({ roles: ["Admin"] })
      .setProtectedHeader({ alg: "ES256", kid: "key-1", jwk: await exportJWK(publicKey) })
      .setIssuer(relay.issuer.url)
      .setAudience(relay.issuer.audience)
      .setSubject("operator-1")
      .setExpirationTime(now + 600)
      .sign(privateKey);
    expect((await relay.call("GET", "/v1/admin/platforms", { session: token })).status).toBe(401);
  });

  test("without settings for operators nobody is one", async () => {
    const closed = await startRelay({
      settings: { OPERATOR_ISSUER: "", OPERATOR_AUDIENCE: "", OPERATOR_JWKS_URL: "" },
    });
    expect(await outcome({ roles: ["Admin"] }, closed)).toBe("401 invalid_credentials");
    await closed.stop();
  });

  test("a configured tenant is required of every token", async () => {
    const tenant = await startRelay({ settings: { ENTRA_TENANT_ID: "tenant-1" } });
    const roles = ["Admin"];
    expect(await outcome({ roles, more: { tid: "tenant-1" } }, tenant)).toBe("ok");
    expect(await outcome({ roles, more: { tid: "tenant-2" } }, tenant)).toBe(
      "401 invalid_credentials",
    );
    expect(await outcome({ roles }, tenant)).toBe("401 invalid_credentials");
    await tenant.stop();
  });
});

describe("audit", () => {
  interface Event {
    readonly action: string;
    readonly outcome: string;
    readonly requestId: string;
    readonly actor: { readonly kind: string; readonly id: string };
    readonly target: { readonly id: string } | null;
  }

  test("shows what was done and refused, newest first, to the platform alone", async () => {
    const app = await anApplication(relay);
    const { session } = app.platform;
    const headers = { "x-request-id": "find-this-one" };
    const spare = await aKey(relay, app);
    await relay.call("POST", `/v1/keys/${spare.id}/revoke`, { key: app.key, headers });
    await relay.call("POST", "/v1/applications", { key: app.key, body: { name: "No" } });
    const { status, body } = await relay.call("GET", "/v1/audit", { session });
    expect(status).toBe(200);
    const events: readonly Event[] = body.data;
    expect(events.map(({ action }) => action)).toEqual([
      "access.session_required",
      "api_key.revoked",
      "api_key.created",
      "api_key.created",
      "application.created",
      ...events.slice(5).map(({ action }) => action),
    ]);
    const revoked = events[1];
    expect(revoked).toMatchObject({
      outcome: "ok",
      requestId: "find-this-one",
      actor: { kind: "api_key", id: app.keyId },
      target: { type: "api_key", id: spare.id },
      platformId: app.platform.id,
      applicationId: app.id,
    });
    expect(events[0]?.outcome).toBe("denied");
    const other = await aPlatform(relay);
    const foreign = await relay.call("GET", "/v1/audit", { session: other.session });
    expect(JSON.stringify(foreign.body)).not.toContain(app.id);
  });

  test("a key sees its application's events; a restricted one only its own", async () => {
    const app = await anApplication(relay);
    const sibling = await anApplication(relay, app.platform);
    await aProfile(relay, sibling);
    const profile = await aProfile(relay, app);
    const body = { scope: "restricted", allowedProfileIds: [profile.id] };
    const restricted = await aKey(relay, app, body);
    await relay.call("POST", "/v1/keys", { key: restricted.secret, body: {} });
    const seenBy = async (key: string): Promise<readonly Event[]> =>
      (await relay.call("GET", "/v1/audit", { key })).body.data;
    const byAdmin = await seenBy(app.key);
    expect(byAdmin.map(({ action }) => action)).toContain("profile.created");
    expect(JSON.stringify(byAdmin)).not.toContain(sibling.id);
    const byRestricted = await seenBy(restricted.secret);
    expect(byRestricted.map(({ action }) => action)).toEqual(["access.app_admin_required"]);
  });

  test("operators see all platforms, page by page", async () => {
    const own = await startRelay();
    await anApplication(own);
    await anApplication(own);
    const operator = ["Operator"];
    const whole = await own.call("GET", "/v1/admin/audit?limit=100", { operator });
    const first = await own.call("GET", "/v1/admin/audit?limit=3", { operator });
    const cursor = first.body.page.nextCursor;
    const rest = await own.call("GET", `/v1/admin/audit?limit=100&cursor=${cursor}`, { operator });
    expect([...first.body.data, ...rest.body.data]).toEqual(whole.body.data);
    const platforms = new Set(
      whole.body.data.map((event: { platformId: string }) => event.platformId),
    );
    expect(platforms.size).toBe(2);
    await own.stop();
  });

  test("each event is one log line as well, which is what lasts", async () => {
    const own = await startRelay();
    const app = await anApplication(own);
    const lines = own.logLines.map(
      (line) => JSON.parse(line) as { message: string; audit?: Event },
    );
    const logged = lines.filter(({ message }) => message === "audit").map(({ audit }) => audit);
    const { body } = await own.call("GET", "/v1/admin/audit?limit=100", { operator: ["Admin"] });
    expect(logged).toEqual(body.data.toReversed());
    expect(own.logLines.join("\n")).not.toContain(app.key);
    await own.stop();
  });
});
