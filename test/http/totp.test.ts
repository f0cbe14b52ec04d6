import { describe, expect, test } from "vitest";
import { enabledTotp, startedTotp, type Authenticator } from "../setup/authenticator.ts";
import { aPlatform, dataOf, outcomeOf, PASSWORD, type TestPlatform } from "../setup/factories.ts";
import { startRelay, type Answer, type Relay } from "../setup/relay.ts";
import { userOf } from "../setup/stored.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const { relay, instance } = useTwoProcesses({ LOG_LEVEL: "debug" });

const HALF_MINUTE = 30_000;
const WRONG_CODE = "00000-00000";

function logIn(email: string, body: Readonly<Record<string, unknown>> = {}, on: Relay = relay) {
  return on.call("POST", "/v1/auth/login", { body: { email, password: PASSWORD, ...body } });
}

const confirm = (session: string, code: string) =>
  relay.call("POST", "/v1/auth/totp/confirm", { session, body: { code } });

const remove = (session: string, body: Readonly<Record<string, unknown>>) =>
  relay.call("DELETE", "/v1/auth/totp", { session, body: { password: PASSWORD, ...body } });

/** An error as its caller sees it, but for the request's own id. */
function errorOf({ status, body }: Answer) {
  const { requestId: _, ...error } = body.error;
  return { status, ...error };
}

const isOn = async ({ session }: TestPlatform) =>
  dataOf(await relay.call("GET", "/v1/users", { session }))[0].totpEnabled;

interface Guarded extends TestPlatform {
  readonly app: Authenticator;
}

async function aGuardedPlatform(): Promise<Guarded> {
  const platform = await aPlatform(relay, { tokens: 0 });
  return { ...platform, app: await enabledTotp(relay, platform.session) };
}

describe("switching TOTP on", () => {
  test("takes a secret of 20 bytes and one code of it, and shows ten recovery codes", async () => {
    const platform = await aPlatform(relay, { tokens: 0 });
    const { session, email } = platform;
    const started = await relay.call("POST", "/v1/auth/totp", { session });
    expect(started.status).toBe(201);
    expect(Object.keys(started.body.data)).toEqual(["secret", "otpauthUrl"]);
    expect(started.body.data.secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(started.body.data.otpauthUrl);
    expect(url.searchParams.get("secret")).toBe(started.body.data.secret);
    expect(decodeURIComponent(url.pathname)).toBe(`/Publishing Relay:${email}`);

    expect(await isOn(platform)).toBe(false);
    expect(outcomeOf(await logIn(email))).toBe("200");

    const app = await startedTotp(relay, session);
    const { status, body } = await confirm(session, app.code());
    expect(status).toBe(200);
    expect(Object.keys(body.data)).toEqual(["recoveryCodes"]);
    expect(new Set(body.data.recoveryCodes).size).toBe(10);
    expect(await isOn(platform)).toBe(true);
    expect(outcomeOf(await logIn(email))).toBe("401 totp_required");
  });

  test("needs the code of the latest secret", async () => {
    const { session } = await aPlatform(relay, { tokens: 0 });
    const [first, second] = [await startedTotp(relay, session), await startedTotp(relay, session)];
    expect(second.secret).not.toBe(first.secret);
    expect(outcomeOf(await confirm(session, first.code()))).toBe("401 invalid_credentials");
    expect(outcomeOf(await confirm(session, second.code()))).toBe("200");
  });

  test("TOTP can't be confirmed before it was started, twice, or started again while it is on", async () => {
    const { session } = await aPlatform(relay, { tokens: 0 });
    expect(outcomeOf(await confirm(session, "123456"))).toBe("409 invalid_state");
    const { code } = await startedTotp(relay, session);
    expect(outcomeOf(await confirm(session, code()))).toBe("200");
    expect(outcomeOf(await confirm(session, code(1)))).toBe("409 invalid_state");
    const again = await relay.call("POST", "/v1/auth/totp", { session });
    expect(outcomeOf(again)).toBe("409 invalid_state");
  });

  test("of two confirmations of TOTP at once, one shows codes, and those are the ones that work", async () => {
    const { session, email } = await aPlatform(relay, { tokens: 0 });
    const { code } = await startedTotp(relay, session);
    const answers = await Promise.all([confirm(session, code()), confirm(session, code())]);
    expect(answers.map(outcomeOf).sort()).toEqual(["200", "409 invalid_state"]);
    const shown = answers.find(({ status }) => status === 200)?.body.data.recoveryCodes;
    expect(outcomeOf(await logIn(email, { totpCode: shown[0] }))).toBe("200");
  });

  test("a first code of another time is told to set the phone's clock", async () => {
    const { session } = await aPlatform(relay, { tokens: 0 });
    const { code } = await startedTotp(relay, session);
    for (const [steps, words] of [
      [-3, "90 s behind"],
      [4, "120 s ahead"],
      [-21, "not valid"],
    ] as const) {
      const refused = await confirm(session, code(steps));
      expect(outcomeOf(refused)).toBe("401 invalid_credentials");
      expect(refused.body.error.message).toContain(words);
    }
    expect(outcomeOf(await confirm(session, code()))).toBe("200");
  });

  test("guessing the first code is limited like logins", async () => {
    const { session } = await aPlatform(relay, { tokens: 0 });
    const { code } = await startedTotp(relay, session);
    for (let guess = 0; guess < 5; guess += 1)
      expect(outcomeOf(await confirm(session, code(-100)))).toBe("401 invalid_credentials");
    expect(outcomeOf(await confirm(session, code()))).toBe("429 rate_limited");
  });

  test("neither the secret nor a recovery code is stored in clear or logged", async () => {
    const { id, userId, app } = await aGuardedPlatform();
    const stored = JSON.stringify(await userOf(relay.services, id, userId));
    const log = relay.logLines.join("\n");
    expect(log.length).toBeGreaterThan(0);
    for (const text of [app.secret, ...app.recoveryCodes]) {
      expect(stored).not.toContain(text);
      expect(stored).not.toContain(text.replace("-", ""));
      expect(log).not.toContain(text);
    }
  });
});

describe("logging in with TOTP on", () => {
  test.each([
    ["no code", {}],
    ["an empty code", { totpCode: "" }],
    ["a code of space alone", { totpCode: "  " }],
  ])(
    "logging in with %s says that a code is needed, once the password is right",
    async (_name, body) => {
      const { email } = await aGuardedPlatform();
      const right = await logIn(email, body);
      expect(outcomeOf(right)).toBe("401 totp_required");
      expect(right.body.data).toBeUndefined();
      const wrong = await logIn(email, { ...body, password: "another password" });
      expect(outcomeOf(wrong)).toBe("401 invalid_credentials");
    },
  );

  test("a wrong code, a wrong password and an unknown email get the same answer", async () => {
    const { email, app } = await aGuardedPlatform();
    const wrongCode = await logIn(email, { totpCode: WRONG_CODE });
    const wrongPassword = await logIn(email, { password: "another one", totpCode: app.code() });
    const unknown = await logIn("nobody@example.com", { totpCode: app.code() });
    expect(errorOf(wrongCode)).toMatchObject({ status: 401, code: "invalid_credentials" });
    expect(errorOf(wrongPassword)).toEqual(errorOf(wrongCode));
    expect(errorOf(unknown)).toEqual(errorOf(wrongCode));
  });

  test.each([
    [-2, "401 invalid_credentials"],
    [-1, "200"],
    [0, "200"],
    [1, "200"],
    [2, "401 invalid_credentials"],
  ])("a code of %i half minutes from now answers %s", async (steps, expected) => {
    const { email, app } = await aGuardedPlatform();
    relay.advance(2 * HALF_MINUTE);
    expect(outcomeOf(await logIn(email, { totpCode: app.code(steps) }))).toBe(expected);
  });

  test("a code with a space in the middle is read", async () => {
    const { email, app } = await aGuardedPlatform();
    const totpCode = app.code().replace(/^(...)/, "$1 ");
    expect(outcomeOf(await logIn(email, { totpCode }))).toBe("200");
  });

  test("a code is accepted once, and none of an earlier step after it", async () => {
    const { email, app } = await aGuardedPlatform();
    relay.advance(HALF_MINUTE);
    const [before, now] = [app.code(-1), app.code()];
    expect(outcomeOf(await logIn(email, { totpCode: now }))).toBe("200");
    expect(outcomeOf(await logIn(email, { totpCode: now }))).toBe("401 invalid_credentials");
    expect(outcomeOf(await logIn(email, { totpCode: before }))).toBe("401 invalid_credentials");
    relay.advance(HALF_MINUTE);
    expect(outcomeOf(await logIn(email, { totpCode: app.code() }))).toBe("200");
  });

  test("the code that switched TOTP on is used up", async () => {
    const { session, email } = await aPlatform(relay, { tokens: 0 });
    const { code } = await startedTotp(relay, session);
    const first = code();
    await confirm(session, first);
    expect(outcomeOf(await logIn(email, { totpCode: first }))).toBe("401 invalid_credentials");
  });

  test("of uses of one code at once, on two instances, one logs in", async () => {
    const { email, app } = await aGuardedPlatform();
    const totpCode = app.code();
    const answers = await Promise.all(
      [relay, instance, relay, instance].map((on) => logIn(email, { totpCode }, on)),
    );
    const refused = "401 invalid_credentials";
    expect(answers.map(outcomeOf).sort()).toEqual(["200", refused, refused, refused]);
  });

  test("every recovery code takes the place of a code once, however it is typed", async () => {
    const { email, app } = await aGuardedPlatform();
    for (const code of app.recoveryCodes) {
      const typed = code.toLowerCase().replace("-", " ");
      expect(outcomeOf(await logIn(email, { totpCode: typed }))).toBe("200");
      expect(outcomeOf(await logIn(email, { totpCode: code }))).toBe("401 invalid_credentials");
    }
  });

  test("of uses of one recovery code at once, on two instances, one logs in", async () => {
    const { email, app } = await aGuardedPlatform();
    const totpCode = app.recoveryCodes[3];
    const answers = await Promise.all(
      [relay, instance, relay].map((on) => logIn(email, { totpCode }, on)),
    );
    const refused = "401 invalid_credentials";
    expect(answers.map(outcomeOf).sort()).toEqual(["200", refused, refused]);
    expect(outcomeOf(await logIn(email, { totpCode: app.recoveryCodes[4] }))).toBe("200");
  });

  test("different recovery codes at once all log in, and all are used up", async () => {
    const { id, userId, email, app } = await aGuardedPlatform();
    const codes = app.recoveryCodes.slice(0, 4);
    const answers = await Promise.all(codes.map((totpCode) => logIn(email, { totpCode })));
    expect(answers.map(outcomeOf)).toEqual(["200", "200", "200", "200"]);
    const user = await userOf(relay.services, id, userId);
    expect(user?.secondFactor?.recoveryHashes).toHaveLength(6);
  });

  test("another user's codes are of no use", async () => {
    const [mine, other] = [await aGuardedPlatform(), await aGuardedPlatform()];
    for (const totpCode of [other.app.code(), other.app.recoveryCodes[0]])
      expect(outcomeOf(await logIn(mine.email, { totpCode }))).toBe("401 invalid_credentials");
  });

  test("wrong codes of both kinds and wrong passwords count together", async () => {
    const { email, app } = await aGuardedPlatform();
    await logIn(email, { totpCode: WRONG_CODE });
    await logIn(email, { totpCode: "11111-11111" });
    await logIn(email, { password: "another password" });
    await logIn(email, { totpCode: app.code(-100) });
    // The right password alone neither counts nor clears what was counted.
    expect(outcomeOf(await logIn(email))).toBe("401 totp_required");
    expect(outcomeOf(await logIn(email, { totpCode: app.code(-101) }))).toBe(
      "401 invalid_credentials",
    );
    const refused = await logIn(email, { totpCode: app.code() });
    expect(outcomeOf(refused)).toBe("429 rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(14 * 60);
    expect(outcomeOf(await logIn(email))).toBe("429 rate_limited");
    relay.advance(15 * 60_000);
    expect(outcomeOf(await logIn(email, { totpCode: app.code() }))).toBe("200");
  });

  test("a whole login clears what was counted", async () => {
    const { email, app } = await aGuardedPlatform();
    for (let round = 0; round < 3; round += 1) {
      for (let guess = 0; guess < 4; guess += 1) await logIn(email, { totpCode: WRONG_CODE });
      expect(outcomeOf(await logIn(email, { totpCode: app.recoveryCodes[round] }))).toBe("200");
    }
  });

  test("goes on after the data key was replaced", async () => {
    const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map((key) =>
      key.toString("base64"),
    );
    const before = await startRelay({ settings: { DATA_KEYS: JSON.stringify({ older }) } });
    const { email, session } = await aPlatform(before, { tokens: 0 });
    const app = await enabledTotp(before, session);
    const after = await startRelay({
      sameDeploymentAs: before,
      settings: { DATA_KEYS: JSON.stringify({ newer, older }) },
    });
    expect(outcomeOf(await logIn(email, { totpCode: app.code() }, after))).toBe("200");
    await after.stop();
    await before.stop();
  });
});

test("switching TOTP on and off ends no session, and logging out does", async () => {
  const { session, email } = await aPlatform(relay, { tokens: 0 });
  const other = dataOf(await logIn(email)).token as string;
  const reads = async () => outcomeOf(await relay.call("GET", "/v1/users", { session: other }));
  const app = await enabledTotp(relay, session);
  expect(await reads()).toBe("200");
  expect(outcomeOf(await remove(session, { code: app.code() }))).toBe("204");
  expect(await reads()).toBe("200");
  await relay.call("POST", "/v1/auth/logout", { session });
  expect(await reads()).toBe("401 session_expired");
});

describe("switching TOTP off", () => {
  test("takes the password and a code; then neither codes nor recovery codes mean anything", async () => {
    const platform = await aGuardedPlatform();
    const { session, email, app } = platform;
    const { status, body } = await remove(session, { code: app.code() });
    expect([status, body]).toEqual([204, undefined]);
    expect(await isOn(platform)).toBe(false);
    expect(outcomeOf(await logIn(email))).toBe("200");
    expect(outcomeOf(await remove(session, { code: app.recoveryCodes[0] }))).toBe(
      "409 invalid_state",
    );
    const next = await enabledTotp(relay, session);
    for (const totpCode of [app.code(), app.recoveryCodes[0]])
      expect(outcomeOf(await logIn(email, { totpCode }))).toBe("401 invalid_credentials");
    expect(outcomeOf(await logIn(email, { totpCode: next.code() }))).toBe("200");
  });

  test("takes a recovery code when the app is lost", async () => {
    const { session, email, app } = await aGuardedPlatform();
    expect(outcomeOf(await remove(session, { code: app.recoveryCodes[9] }))).toBe("204");
    expect(outcomeOf(await logIn(email))).toBe("200");
  });

  test("a wrong password, a wrong code and a used code are refused alike", async () => {
    const platform = await aGuardedPlatform();
    const { session, email, app } = platform;
    const used = app.code();
    await logIn(email, { totpCode: used });
    relay.advance(HALF_MINUTE);
    const answers = [
      await remove(session, { password: "another password", code: app.code() }),
      await remove(session, { code: WRONG_CODE }),
      await remove(session, { code: used }),
    ];
    const [first, ...others] = answers.map(errorOf);
    expect(first).toMatchObject({ status: 401, code: "invalid_credentials" });
    for (const other of others) expect(other).toEqual(first);
    expect(await isOn(platform)).toBe(true);
  });

  test("a stolen session can't guess its way: it has five attempts of its own", async () => {
    const { session, email, app } = await aGuardedPlatform();
    for (let guess = 0; guess < 5; guess += 1) await remove(session, { code: WRONG_CODE });
    expect(outcomeOf(await remove(session, { code: app.code() }))).toBe("429 rate_limited");
    expect(outcomeOf(await logIn(email, { totpCode: app.code() }))).toBe("200");
  });

  test("a code may be typed with spaces, dashes and the digits of any script", async () => {
    const { session, email, app } = await aGuardedPlatform();
    const arabic = (code: string) =>
      Array.from(code, (digit) => String.fromCodePoint(0x0660 + Number(digit))).join("");
    const wide = (text: string) =>
      Array.from(text, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0)).join("");
    const grouped = `${app.code().slice(0, 3)}\u00a0-\u2013 ${app.code().slice(3)}`;
    expect(outcomeOf(await logIn(email, { totpCode: grouped }))).toBe("200");
    relay.advance(60_000);
    expect(outcomeOf(await logIn(email, { totpCode: `\u200f${arabic(app.code())}` }))).toBe("200");
    relay.advance(60_000);
    expect(outcomeOf(await logIn(email, { totpCode: wide(app.code()) }))).toBe("200");
    const recovery = wide((app.recoveryCodes[0] ?? "").toLowerCase());
    expect(outcomeOf(await remove(session, { code: recovery }))).toBe("204");
  });

  test("a code is used up by whichever comes first, a login or the removal", async () => {
    const { session, email, app } = await aGuardedPlatform();
    const code = app.code();
    const [login, removal] = await Promise.all([
      logIn(email, { totpCode: code }),
      remove(session, { code }),
    ]);
    // After the removal a login that had been checked before needs no code any more.
    expect(["200", "401 invalid_credentials"]).toContain(outcomeOf(login));
    expect(["204", "401 invalid_credentials"]).toContain(outcomeOf(removal));
    expect([login.status, removal.status]).not.toEqual([401, 401]);
  });
});

test("every step is on record, refusals too", async () => {
  const { session, email, app } = await aGuardedPlatform();
  await logIn(email);
  await logIn(email, { totpCode: WRONG_CODE });
  await remove(session, { code: WRONG_CODE });
  await remove(session, { code: app.code() });
  const events = dataOf(await relay.call("GET", "/v1/audit", { session }));
  const steps = events.map(
    ({ action, outcome }: Readonly<Record<string, string>>) => `${action} ${outcome}`,
  );
  expect(steps).toEqual([
    "user.totp_disabled ok",
    "user.totp_disabled denied",
    "user.logged_in denied",
    "user.logged_in denied",
    "user.totp_enabled ok",
    "user.totp_started ok",
    "platform.created ok",
  ]);
});

describe("what can't be a code of any user", () => {
  /** A code whose leading zero a client dropped, and others that no app and no list of recovery codes shows. */
  const IMPOSSIBLE: readonly unknown[] = [12_345, "12345", "1234567", "no code", "0O0", true];
  const words = (field: string, missing = false) =>
    `"${field}" ${missing ? "is missing and must be" : "must be"} six digits as text, such as "012345" with its leading zero, or a recovery code.`;

  async function expectRefused(answer: Answer, field: string, missing = false) {
    expect(outcomeOf(answer)).toBe("400 validation_failed");
    expect(answer.body.error.details.issues).toMatchObject([
      { path: field, message: words(field, missing) },
    ]);
  }

  test("is refused with the field and the fix at each route, and counts as no guess", async () => {
    const platform = await aGuardedPlatform();
    const { session, email, app } = platform;
    const at = (path: string, body: object) => relay.call("POST", path, { session, body });
    for (const code of IMPOSSIBLE) {
      await expectRefused(await logIn(email, { totpCode: code }), "totpCode");
      const body = { password: PASSWORD, totpCode: code };
      await expectRefused(await at("/v1/auth/confirm", body), "totpCode");
      const change = { ...body, newEmail: "new@example.com" };
      await expectRefused(await at("/v1/auth/email", change), "totpCode");
      await expectRefused(await at("/v1/auth/totp/confirm", { code }), "code");
      await expectRefused(await at("/v1/auth/totp/remove", { password: PASSWORD, code }), "code");
      await expectRefused(await remove(session, { code }), "code");
    }
    expect(await isOn(platform)).toBe(true);
    expect(outcomeOf(await logIn(email, { totpCode: app.code() }))).toBe("200");
    const events = dataOf(await relay.call("GET", "/v1/audit", { session }));
    expect(events.filter(({ outcome }: { outcome: string }) => outcome === "denied")).toEqual([]);
  });

  test("is refused where a code is left out or blank and the route needs one", async () => {
    const { session } = await aGuardedPlatform();
    await expectRefused(await remove(session, {}), "code", true);
    await expectRefused(await remove(session, { code: " " }), "code");
    await expectRefused(await remove(session, { code: "" }), "code");
  });

  test("tells nobody about an account, a password or the second factor", async () => {
    const [guarded, plain] = [await aGuardedPlatform(), await aPlatform(relay, { tokens: 0 })];
    const answers = [
      await logIn(guarded.email, { totpCode: "12345" }),
      await logIn(guarded.email, { totpCode: "12345", password: "another password" }),
      await logIn(plain.email, { totpCode: "12345" }),
      await logIn("nobody@example.com", { totpCode: "12345" }),
    ].map(errorOf);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  test("takes nothing from the count of codes that are wrong", async () => {
    const { email, app } = await aGuardedPlatform();
    for (let guess = 0; guess < 5; guess += 1) {
      expect((await logIn(email, { totpCode: "12345" })).status).toBe(400);
      expect((await logIn(email, { totpCode: WRONG_CODE })).status).toBe(401);
    }
    expect((await logIn(email, { totpCode: "12345" })).status).toBe(400);
    expect(outcomeOf(await logIn(email, { totpCode: app.code() }))).toBe("429 rate_limited");
  });
});
