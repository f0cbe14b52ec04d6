import { createPublicKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { routes } from "../../src/functions/routes.ts";
import { anApplication, aPlatform, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();

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
    const { core } = own.tables;
    await core.put("platforms", {
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

  test("create a platform whose owner can log in, with its first tokens", async () => {
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
  ])("operators can't create a platform with %s", async (_name, body) => {
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

describe("what operators look at", () => {
  const readRoutes = routes.filter(
    ({ method, path }) => method === "GET" && path.startsWith("v1/admin/"),
  );
  const linesOf = (on: Relay) =>
    on.logLines.flatMap((line) => {
      const { audit } = JSON.parse(line) as { audit?: Record<string, unknown> };
      return audit === undefined ? [] : [audit];
    });

  test("what operators look at is recorded, whichever route they ask", async () => {
    expect(readRoutes.length).toBeGreaterThan(2);
    for (const { path } of readRoutes) {
      const own = await startRelay();
      const { id, email } = await aPlatform(own, { tokens: 0 });
      const query = path === "v1/admin/users" ? `?email=${email}` : "";
      const asked = `/${path.replace("{platformId}", id)}${query}`;
      const { status } = await own.call("GET", asked, { operator: ["Admin"] });
      expect(status).toBe(200);
      const [latest] = linesOf(own).slice(-1);
      expect(latest, path).toMatchObject({
        action: expect.stringMatching(/^[a-z]+\.(?:listed|read)$/),
        actor: { kind: "operator" },
        outcome: "ok",
        ...(path.includes("{") ? { platformId: id, target: { type: "platform", id } } : {}),
      });
      await own.stop();
    }
  });

  test("what operators look at is recorded where there was nothing to see", async () => {
    const own = await startRelay();
    const unknown = `plt_${"0".repeat(26)}`;
    for (const id of [unknown, "x".repeat(500)])
      await own.call("GET", `/v1/admin/platforms/${id}`, { operator: [] });
    expect(linesOf(own)).toMatchObject([
      { action: "platform.read", outcome: "denied", platformId: unknown },
      { action: "platform.read", outcome: "denied", platformId: null, target: null },
    ]);
    await own.stop();
  });

  test("what operators look at again and again is in the log each time, and in the list once a minute", async () => {
    const own = await startRelay();
    const list = async () => {
      const { body } = await own.call("GET", "/v1/admin/audit?limit=100", { operator: ["Admin"] });
      return body.data.map(({ action }: { action: string }) => action);
    };
    for (let call = 0; call < 5; call += 1) await list();
    expect(await list()).toEqual(["audit.listed"]);
    expect(linesOf(own)).toHaveLength(6);
    own.advance(60_000);
    await list();
    expect(await list()).toEqual(["audit.listed", "audit.listed"]);
    await own.stop();
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
  ])("operator tokens with %s", async (_name, roles, expected) => {
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
  ])("operator tokens with %s", async (_name, claims, expected) => {
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
    const tenant = await startRelay({
      settings: { ENTRA_TENANT_ID: "5a2db0c5-0000-4000-8000-5a2db0c50000" },
    });
    const roles = ["Admin"];
    expect(
      await outcome({ roles, more: { tid: "5a2db0c5-0000-4000-8000-5a2db0c50000" } }, tenant),
    ).toBe("ok");
    expect(await outcome({ roles, more: { tid: "tenant-2" } }, tenant)).toBe(
      "401 invalid_credentials",
    );
    expect(await outcome({ roles }, tenant)).toBe("401 invalid_credentials");
    await tenant.stop();
  });
});
