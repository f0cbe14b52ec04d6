import { describe, expect, test } from "vitest";
import { generateKeyPair, SignJWT } from "jose";
import { aKey, anApplication, aProfile, dataOf, PASSWORD } from "../setup/factories.ts";
import { createOperatorIssuer } from "../setup/operator-issuer.ts";
import { startRelay, type Answer, type CallOptions, type Relay } from "../setup/relay.ts";
import { useRelay } from "../setup/use-relay.ts";

const ADMIN_PATH = "/v1/admin/platforms";

const relay = useRelay();

interface Refused {
  readonly answer: Answer;
  /** What the request's log line says of the check that failed. */
  readonly failedCheck: unknown;
  readonly line: string;
}

async function refused(path: string, options: CallOptions, on = relay): Promise<Refused> {
  const answer = await on.call("GET", path, options);
  const line = on.logLines.findLast((one) => one.includes('"message":"request"')) ?? "{}";
  const { failedCheck, requestId } = JSON.parse(line) as Record<string, unknown>;
  expect(requestId).toBe(answer.headers.get("x-request-id"));
  return { answer, failedCheck, line };
}

const seconds = () => Math.floor(relay.clock.now().getTime() / 1000);
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const claims = () => ({
  iss: relay.issuer.url,
  aud: relay.issuer.audience,
  sub: "operator-1",
  exp: seconds() + 600,
});
const issued = (more: Parameters<Relay["issuer"]["token"]>[0]) =>
  relay.issuer.token({ roles: ["Admin"], ...more }, relay.clock.now());

async function signedElsewhere(alg: string, header: object = {}): Promise<string> {
  const { privateKey } = await generateKeyPair(alg);
  return await new SignJWT(claims())
    .setProtectedHeader({ alg, kid: "key-1", ...header })
    .sign(privateKey);
}

async function signedWithUnknownKey(): Promise<string> {
  const stranger = await createOperatorIssuer();
  await stranger.rotate();
  return await stranger.token({ audience: "api://graph" }, relay.clock.now());
}

const at = (time: number) => new Date(time * 1000).toISOString();

/** Each kind of broken token, and what the log says of it. */
const BROKEN: readonly (readonly [string, () => Promise<string> | string, () => object])[] = [
  [
    "another audience",
    () => issued({ audience: "00000003-0000-0000-c000-000000000000" }),
    () => ({
      check: "audience",
      expected: relay.issuer.audience,
      found: "00000003-0000-0000-c000-000000000000",
    }),
  ],
  [
    "an audience of great length",
    () => issued({ audience: "a".repeat(3_000) }),
    () => ({ check: "audience", found: `${"a".repeat(200)}…` }),
  ],
  [
    "another issuer",
    () => issued({ issuer: "https://other.example" }),
    () => ({ check: "issuer", expected: relay.issuer.url, found: "https://other.example" }),
  ],
  [
    "an expiry in the past",
    () => issued({ expiresIn: -70 }),
    () => ({
      check: "expiry",
      expected: expect.stringMatching(/^after 20/),
      found: at(seconds() - 70),
    }),
  ],
  [
    "a start in the future",
    () => issued({ more: { nbf: 4_000_000_000 } }),
    () => ({ check: "not before", found: at(4_000_000_000) }),
  ],
  [
    "the type of an ID token",
    () => issued({ type: "id_token+jwt" }),
    () => ({ check: "type", expected: "JWT or at+jwt", found: "id_token+jwt" }),
  ],
  ["the type of a logout token", () => issued({ type: "logout+jwt" }), () => ({ check: "type" })],
  [
    "the nonce of a login",
    () => issued({ more: { nonce: "n-1" } }),
    () => ({ check: "kind of token", expected: "an access token", found: "nonce: n-1" }),
  ],
  [
    "neither scope nor client",
    () => issued({ more: { scp: undefined } }),
    () => ({ check: "kind of token", found: "claims roles, iss, aud, sub, iat, exp" }),
  ],
  ["no subject", () => issued({ subject: "" }), () => ({ check: "subject" })],
  [
    "an unknown key",
    signedWithUnknownKey,
    () => ({
      check: "key id",
      expected: `one key of ${relay.issuer.jwksUrl}`,
      found: "key-2",
      unverified: { issuer: relay.issuer.url, audience: "api://graph" },
    }),
  ],
  [
    "no key id and no signature of the issuer's",
    () => signedElsewhere("ES256", { kid: undefined }),
    () => ({ check: "signature" }),
  ],
  [
    "a signature of another key",
    () => signedElsewhere("ES256"),
    () => ({
      check: "signature",
      expected: `made with a key of ${relay.issuer.jwksUrl}`,
      unverified: { issuer: relay.issuer.url, audience: relay.issuer.audience },
    }),
  ],
  [
    "no signature",
    () => `${base64({ alg: "none" })}.${base64(claims())}.`,
    () => ({ check: "algorithm", expected: "RS256 or ES256", found: "none" }),
  ],
  [
    "another algorithm",
    () => signedElsewhere("ES384"),
    () => ({ check: "algorithm", expected: "RS256 or ES256", found: "ES384" }),
  ],
  ["garbage", () => "neither.a.token", () => ({ check: "form" })],
  ["no dots", () => "x".repeat(60), () => ({ check: "form" })],
  [
    "more than 8 KB",
    () => "x".repeat(9_000),
    () => ({ check: "length", expected: "at most 8192 characters", found: "9000" }),
  ],
  [
    "an API key's form",
    () => `sk_live_${"0".repeat(26)}_${"a".repeat(43)}_abcdef`,
    () => ({ check: "kind", found: "an API key" }),
  ],
];

describe("an operator's token that is refused", () => {
  test.each(BROKEN)("names the failed check in the log: %s", async (_name, make, expected) => {
    const token = await make();
    const { answer, failedCheck, line } = await refused(ADMIN_PATH, { session: token });
    expect(answer.status).toBe(401);
    expect(failedCheck).toMatchObject(expected());
    expect(line).not.toContain(token);
    for (const part of token.split(".").filter((one) => one.length > 20))
      expect(line).not.toContain(part);
  });

  test("gets the same answer whatever was wrong with it", async () => {
    const answers = new Set<string>();
    for (const [, make] of BROKEN) {
      const { answer } = await refused(ADMIN_PATH, { session: await make() });
      const { requestId, ...error } = answer.body.error;
      expect(requestId).toBe(answer.headers.get("x-request-id"));
      const headers = [...answer.headers].filter(([name]) => name !== "x-request-id");
      answers.add(JSON.stringify([answer.status, error, headers]));
    }
    expect(answers.size).toBe(1);
    expect([...answers].join("")).toContain("complete and belongs to this deployment.");
  });

  test("an operator's token that is refused is named as a tenant's when the tenant is another", async () => {
    const own = await startRelay({
      settings: { ENTRA_TENANT_ID: "5a2db0c5-0000-4000-8000-5a2db0c50000" },
    });
    const session = await own.issuer.token({ more: { tid: "tenant-2" } }, own.clock.now());
    const { failedCheck } = await refused(ADMIN_PATH, { session }, own);
    expect(failedCheck).toEqual({
      check: "tenant",
      expected: "5a2db0c5-0000-4000-8000-5a2db0c50000",
      found: "tenant-2",
    });
    await own.stop();
  });

  test("an operator's token is refused by the settings where none are given for operators", async () => {
    const own = await startRelay({
      settings: { OPERATOR_ISSUER: "", OPERATOR_AUDIENCE: "", OPERATOR_JWKS_URL: "" },
    });
    const session = await own.issuer.token({}, own.clock.now());
    const { failedCheck } = await refused(ADMIN_PATH, { session }, own);
    expect(failedCheck).toMatchObject({ check: "settings" });
    await own.stop();
  });

  test("lacks a role, and the log names those that it has", async () => {
    const { answer, failedCheck } = await refused(ADMIN_PATH, { operator: ["Reader", "Writer"] });
    expect(answer.body.error.code).toBe("role_required");
    expect(failedCheck).toEqual({
      check: "role",
      expected: "Admin or Operator",
      found: "Reader, Writer",
    });
  });

  test("an operator's token that is refused is no token's fault while the issuer's keys can't be had, or are no keys", async () => {
    for (const keys of ["unreachable", "not json", '{"keys":"none"}']) {
      const own = await startRelay();
      if (keys === "unreachable") own.issuer.setReachable(false);
      else own.issuer.answerKeys(keys);
      const { answer } = await refused(ADMIN_PATH, { operator: ["Admin"] }, own);
      expect([keys, answer.status, answer.body.error.code]).toEqual([
        keys,
        503,
        "service_unavailable",
      ]);
      expect(own.logLines.some((line) => line.includes('"message":"request failed"'))).toBe(true);
      await own.stop();
    }
  });
});

test("an operator's token may have any of the audiences that are separated by spaces", async () => {
  const own = await startRelay({ settings: { OPERATOR_AUDIENCE: "api://relay  5a1c-id" } });
  const statusOf = async (audience: string) => {
    const session = await own.issuer.token({ roles: ["Admin"], audience }, own.clock.now());
    return (await own.call("GET", ADMIN_PATH, { session })).status;
  };
  expect(await statusOf("api://relay")).toBe(200);
  expect(await statusOf("5a1c-id")).toBe(200);
  expect(await statusOf("api://relay  5a1c-id")).toBe(401);
  expect(await statusOf("relay")).toBe(401);
  await own.stop();
});

describe("a credential of ours that is refused after a rotation", () => {
  const OTHER = "another-secret".padEnd(40, "-");

  test("names the secret in the log, and in no answer", async () => {
    const app = await anApplication(relay);
    const { id: profileId } = await aProfile(relay, app);
    const restricted = await aKey(relay, app, { scope: "restricted" });
    const body = { email: app.platform.email, password: PASSWORD };
    const { token: session } = dataOf(await relay.call("POST", "/v1/auth/login", { body }));
    const minted = await relay.call("POST", "/v1/profile-grants", {
      key: app.key,
      body: { profileId },
    });
    const headers = { "x-profile-grant": dataOf(minted).token };
    const profile = `/v1/profiles/${profileId}`;

    const rotated = async (setting: string, path: string, options: CallOptions) => {
      const own = await startRelay({ sameDeploymentAs: relay, settings: { [setting]: OTHER } });
      const { answer, failedCheck } = await refused(path, options, own);
      await own.stop();
      expect(answer.status).toBe(401);
      expect(JSON.stringify(answer.body)).not.toContain(setting);
      return failedCheck;
    };
    expect(await rotated("SESSION_SECRET", "/v1/me", { session })).toMatchObject({
      check: "signature",
      expected: "made with a key of SESSION_SECRET and SESSION_SECRET_PREVIOUS",
    });
    expect(
      await rotated("GRANT_SECRET", profile, { key: restricted.secret, headers }),
    ).toMatchObject({
      check: "signature",
      expected: "made with a key of GRANT_SECRET and GRANT_SECRET_PREVIOUS",
    });
    expect(await rotated("KEY_PEPPER", "/v1/me", { key: app.key })).toEqual({
      check: "hash",
      expected: "made with KEY_PEPPER or KEY_PEPPER_PREVIOUS",
      found: app.key.replace(/^sk_live_([^_]+)_.*$/, "key_$1"),
    });
  });

  test("names the pepper of a password", async () => {
    const app = await anApplication(relay);
    const own = await startRelay({ sameDeploymentAs: relay, settings: { KEY_PEPPER: OTHER } });
    const body = { email: app.platform.email, password: PASSWORD };
    const { status } = await own.call("POST", "/v1/auth/login", { body });
    expect(status).toBe(401);
    expect(JSON.parse(own.logLines.at(-1) ?? "{}")).toMatchObject({
      refusal: "invalid_credentials",
      failedCheck: {
        check: "pepper",
        expected: "a hash made with KEY_PEPPER or KEY_PEPPER_PREVIOUS",
      },
    });
    await own.stop();
  });
});

test("a profile grant that does not fit names in the log what it is for", async () => {
  const app = await anApplication(relay);
  const [granted, other] = [await aProfile(relay, app), await aProfile(relay, app)];
  const { secret: key } = await aKey(relay, app, { scope: "restricted" });
  const body = { profileId: granted.id };
  const minted = await relay.call("POST", "/v1/profile-grants", { key: app.key, body });
  const headers = { "x-profile-grant": dataOf(minted).token };
  const { answer, failedCheck } = await refused(`/v1/profiles/${other.id}`, { key, headers });
  expect(answer.body.error).toMatchObject({ code: "invalid_grant_token", details: {} });
  expect(failedCheck).toEqual({ check: "profileId", expected: other.id, found: granted.id });
});
