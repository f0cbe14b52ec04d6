import { decodeJwt, SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { deriveKey, randomToken } from "../../src/shared/runtime/secrets.ts";
import { anApplication, aPlatform, PASSWORD, type TestPlatform } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { userOf } from "../setup/stored.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();

const HOUR = 3_600_000;

function signUp(body: Record<string, unknown>, on: Relay = relay) {
  const whole = { email: "x@example.com", password: PASSWORD, platformName: "Example", ...body };
  return on.call("POST", "/v1/auth/signup", { body: whole });
}

function logIn(email: string, password = PASSWORD, on: Relay = relay) {
  return on.call("POST", "/v1/auth/login", { body: { email, password } });
}

async function statusWith(session: string, on: Relay = relay) {
  const { status, body } = await on.call("GET", "/v1/me", { session });
  return status === 200 ? "ok" : `${status} ${body.error.code}`;
}

const statusesOf = (answers: readonly { readonly status: number }[]) =>
  answers.map(({ status }) => status).sort((left, right) => left - right);

describe("signing up", () => {
  test("makes a platform with its owner and logs in", async () => {
    const { status, body } = await signUp({ email: "first@example.com", platformName: "First" });
    expect(status).toBe(201);
    const { platform, user, token, expiresIn, expiresAt } = body.data;
    expect(platform).toMatchObject({ name: "First", status: "active" });
    expect(platform.id).toMatch(/^plt_/);
    expect(user).toEqual({
      id: expect.stringMatching(/^usr_/),
      email: "first@example.com",
      role: "owner",
      emailVerified: true,
      locale: "en",
      totpEnabled: false,
      createdAt: expect.stringMatching(/Z$/),
      lastLoginAt: null,
    });
    expect(expiresIn).toBe(12 * 3600);
    expect(Date.parse(expiresAt) - relay.clock.now().getTime()).toBeGreaterThan(11 * HOUR);
    expect(await statusWith(token)).toBe("ok");
  });

  test("signing up is refused where it is switched off", async () => {
    const closed = await startRelay({ settings: { ALLOW_SIGNUP: "false" } });
    const { status, body } = await signUp({}, closed);
    expect([status, body.error.code]).toEqual([403, "signup_disabled"]);
    await closed.stop();
  });

  test("an email signs up once, whatever its case and the space around it", async () => {
    await signUp({ email: "once@example.com" });
    const { status, body } = await signUp({ email: "  ONCE@Example.com " });
    expect([status, body.error.code, body.error.details]).toEqual([409, "conflict", {}]);
  });

  test("of concurrent sign-ups with one email exactly one succeeds", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => signUp({ email: "crowd@example.com" })),
    );
    const statuses = statusesOf(answers);
    expect(statuses).toEqual([201, ...Array<number>(7).fill(409)]);
  });

  test("a claim that a crash left behind can be taken over after ten minutes, not before", async () => {
    const at = relay.clock.now();
    const ghost = { platformId: `plt_${"0".repeat(26)}`, userId: `usr_${"0".repeat(26)}` };
    await relay.services.people.stores.emails.claim("ghost@example.com", ghost, at.toISOString());
    expect((await signUp({ email: "ghost@example.com" })).status).toBe(409);
    relay.advance(10 * 60_000);
    const answers = await Promise.all([1, 2, 3].map(() => signUp({ email: "ghost@example.com" })));
    expect(statusesOf(answers)).toEqual([201, 409, 409]);
    expect((await logIn("ghost@example.com")).status).toBe(200);
  });

  test.each([
    ["an email that is none", { email: "nobody" }, "email"],
    ["a password of 11 characters", { password: "a".repeat(11) }, "password"],
    ["a password of 129 characters", { password: "a".repeat(129) }, "password"],
    ["a platform name of space alone", { platformName: "   " }, "platformName"],
    ["a platform name of 121 characters", { platformName: "a".repeat(121) }, "platformName"],
    ["a field that does not exist", { admin: true }, "admin"],
  ])("%s is refused", async (_name, body, path) => {
    const { status, body: answer } = await signUp({ email: "refused@example.com", ...body });
    expect([status, answer.error.code]).toEqual([400, "validation_failed"]);
    expect(answer.error.details.issues.map((issue: { path: string }) => issue.path)).toEqual([
      path,
    ]);
  });

  test("all problems are reported at once", async () => {
    const { body } = await relay.call("POST", "/v1/auth/signup", { body: {} });
    const paths = body.error.details.issues.map((issue: { path: string }) => issue.path);
    expect(paths.sort()).toEqual(["email", "password", "platformName"]);
  });
});

describe("logging in", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await aPlatform(relay);
  });

  test("logging in with email and password starts a session", async () => {
    const { status, body } = await logIn(platform.email.toUpperCase());
    expect(status).toBe(200);
    expect(body.data.platform.id).toBe(platform.id);
    expect(body.data.user.lastLoginAt).toMatch(/Z$/);
    expect(await statusWith(body.data.token)).toBe("ok");
  });

  test("a character that only lower case makes ASCII names no user", async () => {
    const email = `kiki.${platform.email}`;
    const body = { email, password: PASSWORD, platformName: "Kiki" };
    expect((await relay.call("POST", "/v1/auth/signup", { body })).status).toBe(201);
    expect((await logIn(email)).status).toBe(200);
    expect((await logIn(email.replace("k", "\u212A"))).status).toBe(401);
  });

  test("an unknown email and a wrong password get the same answer", async () => {
    const [unknown, wrong] = await Promise.all([
      logIn("nobody@example.com"),
      logIn(platform.email, "another password"),
    ]);
    expect(unknown.status).toBe(401);
    expect(wrong.status).toBe(401);
    const { requestId: _1, ...unknownError } = unknown.body.error;
    const { requestId: _2, ...wrongError } = wrong.body.error;
    expect(unknownError).toEqual(wrongError);
    expect(wrongError.code).toBe("invalid_credentials");
  });

  test("an unknown email costs a comparison like a known one", async () => {
    // Cost 9 is slow enough to be told from everything else and fast enough for a test.
    const slow = await startRelay({ settings: { BCRYPT_COST: "9" } });
    const known = await aPlatform(slow);
    await logIn("warm-up@example.com", PASSWORD, slow);
    const time = async (email: string) => {
      const startedAt = performance.now();
      await logIn(email, "another password", slow);
      return performance.now() - startedAt;
    };
    // The best of a few of each, in turn: a busy machine makes single ones slow, never fast.
    const [unknownMs, knownMs]: [number[], number[]] = [[], []];
    for (let round = 0; round < 4; round += 1) {
      unknownMs.push(await time("nobody@example.com"));
      knownMs.push(await time(known.email));
    }
    expect(Math.min(...unknownMs)).toBeGreaterThan(Math.min(...knownMs) / 3);
    await slow.stop();
  });

  test("every character of a long password counts", async () => {
    const password = `${"🔐".repeat(30)} no one guesses this, nor should they want to`.padEnd(
      120,
      "x",
    );
    const email = "long@example.com";
    expect((await signUp({ email, password })).status).toBe(201);
    expect((await logIn(email, password)).status).toBe(200);
    expect((await logIn(email, `${password.slice(0, -1)}b`)).status).toBe(401);
    expect((await logIn(email, password.slice(0, 72))).status).toBe(401);
  });

  test("a hash of another cost is replaced, and the password goes on working", async () => {
    const { id, userId, email } = await aPlatform(relay);
    const before = await userOf(relay.services, id, userId);
    const dearer = await startRelay({ sameDeploymentAs: relay, settings: { BCRYPT_COST: "5" } });
    expect((await logIn(email, PASSWORD, dearer)).status).toBe(200);
    const after = await userOf(relay.services, id, userId);
    expect(after?.passwordHash).not.toBe(before?.passwordHash);
    expect((await logIn(email, PASSWORD, dearer)).status).toBe(200);
    expect((await userOf(relay.services, id, userId))?.passwordHash).toBe(after?.passwordHash);
    await dearer.stop();
  });

  test("a suspended platform's staff can't log in, and are told only with the right password", async () => {
    const { id, email } = await aPlatform(relay);
    const body = { status: "suspended" };
    await relay.call("PATCH", `/v1/admin/platforms/${id}`, { operator: ["Admin"], body });
    const [right, wrong] = [await logIn(email), await logIn(email, "another password")];
    expect([right.status, right.body.error.code]).toEqual([403, "platform_suspended"]);
    expect([wrong.status, wrong.body.error.code]).toEqual([401, "invalid_credentials"]);
  });

  test("neither the password nor its hash is stored in clear, answered or logged", async () => {
    const own = await startRelay({ settings: { LOG_LEVEL: "debug" } });
    const { id, userId, email } = await aPlatform(own);
    const { body } = await logIn(email, PASSWORD, own);
    const user = await userOf(own.services, id, userId);
    expect(JSON.stringify(user)).not.toContain(PASSWORD);
    expect(JSON.stringify(body)).not.toContain(user?.passwordHash);
    expect(own.logLines.length).toBeGreaterThan(0);
    const log = own.logLines.join("\n");
    for (const secret of [PASSWORD, user?.passwordHash ?? "", body.data.token])
      expect(log).not.toContain(secret);
    await own.stop();
  });
});

describe("logging out", () => {
  test("ends every session of the user, on every instance, and no other user's", async () => {
    const [mine, other] = [await aPlatform(relay), await aPlatform(relay)];
    const second = (await logIn(mine.email)).body.data.token;
    const instance = await startRelay({ sameDeploymentAs: relay });
    expect(await statusWith(second, instance)).toBe("ok");

    const { status, body } = await relay.call("POST", "/v1/auth/logout", { session: mine.session });
    expect([status, body]).toEqual([204, undefined]);

    expect(await statusWith(mine.session, instance)).toBe("401 session_expired");
    expect(await statusWith(second, instance)).toBe("401 session_expired");
    expect(await statusWith(other.session, instance)).toBe("ok");
    const again = (await logIn(mine.email)).body.data.token;
    expect(await statusWith(again, instance)).toBe("ok");
    await instance.stop();
  });

  test("needs a session", async () => {
    const { key } = await anApplication(relay);
    const { status, body } = await relay.call("POST", "/v1/auth/logout", { key });
    expect([status, body.error.code]).toEqual([403, "session_required"]);
  });
});

describe("session tokens", () => {
  let platform: TestPlatform;
  let key: Uint8Array;
  beforeAll(async () => {
    platform = await aPlatform(relay);
    key = deriveKey(relay.services.config.identity.sessionSecret, "session");
  });

  test("say nothing beyond who, where, until when, and until when confirmed", () => {
    expect(Object.keys(decodeJwt(platform.session)).sort()).toEqual(
      ["aud", "cu", "exp", "iat", "iss", "jti", "plt", "sub", "tv"].sort(),
    );
  });

  test("end after twelve hours", async () => {
    const { email } = await aPlatform(relay);
    const { token } = (await logIn(email)).body.data;
    relay.advance(12 * HOUR - 10_000);
    expect(await statusWith(token)).toBe("ok");
    relay.advance(20_000);
    expect(await statusWith(token)).toBe("401 session_expired");
    platform = { ...platform, session: (await logIn(platform.email)).body.data.token };
  });

  interface Forgery {
    readonly alg?: string;
    readonly typ?: string;
    readonly issuer?: string;
    readonly audience?: string;
    readonly secret?: () => Uint8Array;
    readonly claims?: Record<string, unknown>;
    readonly without?: string;
    readonly issuedIn?: number;
  }

  async function forge(forgery: Forgery): Promise<string> {
    const now = Math.floor(relay.clock.now().getTime() / 1000) + (forgery.issuedIn ?? 0);
    const payload: Record<string, unknown> = {
      iss: forgery.issuer ?? "publishing-relay",
      aud: forgery.audience ?? "dashboard",
      sub: platform.userId,
      plt: platform.id,
      tv: 1,
      iat: now,
      exp: now + 3600,
      cu: now,
      jti: randomToken(16),
      ...forgery.claims,
    };
    if (forgery.without !== undefined) delete payload[forgery.without];
    return await new SignJWT(payload)
      .setProtectedHeader({ alg: forgery.alg ?? "HS256", typ: forgery.typ ?? "session+jwt" })
      .sign(forgery.secret?.() ?? key);
  }

  test("the forger's own tools make a good token when nothing is forged", async () => {
    expect(await statusWith(await forge({}))).toBe("ok");
  });

  const forgeries: readonly (readonly [string, Forgery])[] = [
    ["another type", { typ: "JWT" }],
    ["a grant's type", { typ: "profile-grant+jwt" }],
    ["another issuer", { issuer: "somebody" }],
    ["another audience", { audience: "profile-grant" }],
    ["another algorithm", { alg: "HS512" }],
    ["another key", { secret: () => new Uint8Array(32).fill(9) }],
    [
      "the master secret itself",
      { secret: () => Buffer.from(relay.services.config.identity.sessionSecret) },
    ],
    ["no expiry", { without: "exp" }],
    ["no issue time", { without: "iat" }],
    ["no subject", { without: "sub" }],
    ["no platform", { without: "plt" }],
    ["no version", { without: "tv" }],
    ["no token id", { without: "jti" }],
    ["no time of confirmation", { without: "cu" }],
    ["an issue time in the future", { issuedIn: 120 }],
    ["a version as text", { claims: { tv: "1" } }],
    ["a version that was not issued yet", { claims: { tv: 2 } }],
    ["a user id that is none", { claims: { sub: "P" } }],
    ["a platform id that is none", { claims: { plt: "platforms" } }],
  ];
  test.each(forgeries)("session tokens with %s are refused", async (_name, forgery) => {
    expect(await statusWith(await forge(forgery))).toBe("401 invalid_credentials");
  });

  test.each<[string, Forgery]>([
    ["a user", { claims: { sub: `usr_${"0".repeat(26)}` } }],
    ["a platform", { claims: { plt: `plt_${"0".repeat(26)}` } }],
  ])("session tokens of %s that is gone have ended", async (_name, forgery) => {
    expect(await statusWith(await forge(forgery))).toBe("401 session_expired");
  });

  test("session tokens that run longer than we ever issue are refused", async () => {
    const now = Math.floor(relay.clock.now().getTime() / 1000);
    const token = await forge({ claims: { iat: now - 13 * 3600, exp: now + 3600 } });
    expect(await statusWith(token)).toBe("401 session_expired");
  });

  test("session tokens without a signature are refused", async () => {
    const token = new UnsecuredJWT(decodeJwt(platform.session)).encode();
    expect(await statusWith(token)).toBe("401 invalid_credentials");
  });

  test("session tokens that were changed are refused", async () => {
    const [header, , signature] = platform.session.split(".");
    const claims = { ...decodeJwt(platform.session), sub: `usr_${"0".repeat(26)}` };
    const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
    expect(await statusWith([header, payload, signature].join("."))).toBe(
      "401 invalid_credentials",
    );
  });

  test.each([
    ["no header", undefined, "unauthenticated"],
    ["another scheme", "Basic dXNlcjpwYXNz", "unauthenticated"],
    ["no token", "Bearer ", "unauthenticated"],
    ["garbage", "Bearer garbage", "invalid_credentials"],
    ["a token of 9 KiB", `Bearer ${"a".repeat(9 * 1024)}`, "invalid_credentials"],
  ])("%s is 401", async (_name, authorization, code) => {
    const headers = authorization === undefined ? {} : { authorization };
    const { status, body } = await relay.call("GET", "/v1/me", { headers });
    expect([status, body.error.code]).toEqual([401, code]);
  });
});
