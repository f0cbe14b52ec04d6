import { resolve } from "node:path";
import { hashSync } from "bcryptjs";
import { Tinypool } from "tinypool";
import { describe, expect, inject, test, vi } from "vitest";
import { knownUser } from "../../src/shared/limits/limits.ts";
import { hashingThreads } from "../../src/shared/people/staff/hashing-threads.ts";
import { enabledTotp } from "../setup/authenticator.ts";
import { anApplication, aPlatform, dataOf, outcomeOf, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { userOf } from "../setup/stored.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const { relay, instance } = useTwoProcesses();

const NEW_PASSWORD = "another and longer password";

const aUser = (on: Relay = relay) => aPlatform(on, { tokens: 0 });

function logIn(email: string, password = PASSWORD, on: Relay = relay) {
  return on.call("POST", "/v1/auth/login", { body: { email, password } });
}

function change(session: string, body: Readonly<Record<string, unknown>> = {}, on: Relay = relay) {
  const whole = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD, ...body };
  return on.call("POST", "/v1/auth/password", { session, body: whole });
}

const sessionWith = async (session: string, on: Relay = relay) =>
  outcomeOf(await on.call("GET", "/v1/users", { session }));

const REFUSED = "401 invalid_credentials";
const ENDED = "401 session_expired";

describe("changing the password", () => {
  test("makes the new one the only one", async () => {
    const { email, session } = await aUser();
    expect(dataOf(await change(session))).toEqual({ deviceToken: expect.stringMatching(/^ey/) });
    expect(outcomeOf(await logIn(email))).toBe(REFUSED);
    expect(outcomeOf(await logIn(email, NEW_PASSWORD))).toBe("200");
  });

  test("ends every other session of the user on every instance, and neither this one nor another user's", async () => {
    const [mine, other] = [await aUser(), await aUser()];
    const second = dataOf(await logIn(mine.email)).token;
    expect(await sessionWith(second, instance)).toBe("200");
    expect(outcomeOf(await change(mine.session))).toBe("200");
    expect(await sessionWith(second, instance)).toBe(ENDED);
    expect(await sessionWith(mine.session, instance)).toBe("200");
    expect(await sessionWith(other.session, instance)).toBe("200");
  });

  test("changing the password again by another session ends the session that was kept before", async () => {
    const { email, session } = await aUser();
    await change(session);
    const second = dataOf(await logIn(email, NEW_PASSWORD)).token;
    expect(await sessionWith(session)).toBe("200");
    const back = { currentPassword: NEW_PASSWORD, newPassword: PASSWORD };
    expect(outcomeOf(await change(second, back))).toBe("200");
    expect(await sessionWith(session)).toBe(ENDED);
    expect(await sessionWith(second)).toBe("200");
  });

  test("changing the password can be repeated by the session that was kept, and a logout ends that too", async () => {
    const { email, session } = await aUser();
    await change(session);
    const back = { currentPassword: NEW_PASSWORD, newPassword: PASSWORD };
    expect(outcomeOf(await change(session, back))).toBe("200");
    const second = dataOf(await logIn(email)).token;
    await relay.call("POST", "/v1/auth/logout", { session: second });
    expect(await sessionWith(session)).toBe(ENDED);
    expect(await sessionWith(second)).toBe(ENDED);
  });

  test("needs the current one, and answers a wrong one like a login does", async () => {
    const { email, session } = await aUser();
    const wrong = await change(session, { currentPassword: "not the password" });
    const login = await logIn(email, "not the password");
    const [first, second] = [wrong, login].map(({ status, body }) => {
      const { requestId: _, ...error } = body.error;
      return { status, ...error };
    });
    expect(first).toMatchObject({ status: 401, code: "invalid_credentials" });
    expect(first).toEqual(second);
    expect(outcomeOf(await logIn(email))).toBe("200");
  });

  test("a stolen session can't guess its way: it has five attempts of its own", async () => {
    const { email, session } = await aUser();
    for (let guess = 0; guess < 5; guess += 1)
      expect(outcomeOf(await change(session, { currentPassword: `guess ${guess}` }))).toBe(REFUSED);
    expect(outcomeOf(await change(session))).toBe("429 rate_limited");
    expect(outcomeOf(await logIn(email))).toBe("200");
    relay.advance(15 * 60_000);
    expect(outcomeOf(await change(session))).toBe("200");
  });

  test("changing the password does not clear what was counted of wrong codes", async () => {
    const { email, session } = await aUser();
    const app = await enabledTotp(relay, session);
    const guess = () =>
      relay.call("POST", "/v1/auth/login", {
        body: { email, password: PASSWORD, totpCode: "00000-00000" },
      });
    for (let count = 0; count < 4; count += 1) expect(outcomeOf(await guess())).toBe(REFUSED);
    expect(outcomeOf(await change(session, { newPassword: PASSWORD }))).toBe("200");
    expect(outcomeOf(await guess())).toBe(REFUSED);
    const right = { email, password: PASSWORD, totpCode: app.code() };
    const refused = await relay.call("POST", "/v1/auth/login", { body: right });
    expect(outcomeOf(refused)).toBe("429 rate_limited");
  });

  test.each([
    ["a new password of 11 characters", { newPassword: "a".repeat(11) }, "newPassword"],
    ["a new password of 129 characters", { newPassword: "a".repeat(129) }, "newPassword"],
    ["no current password", { currentPassword: "" }, "currentPassword"],
    ["a field that does not exist", { password: NEW_PASSWORD }, "password"],
  ])("%s is refused", async (_name, body, path) => {
    const { session } = await aUser();
    const { status, body: answer } = await change(session, body);
    expect([status, answer.error.code]).toEqual([400, "validation_failed"]);
    expect(answer.error.details.issues[0].path).toBe(path);
  });

  test("of password changes at once, by two sessions on two instances, one is made", async () => {
    const { email, session } = await aUser();
    const second = dataOf(await logIn(email)).token;
    const wanted = ["the first new password", "the second new password"] as const;
    const answers = await Promise.all([
      change(session, { newPassword: wanted[0] }),
      change(second, { newPassword: wanted[1] }, instance),
    ]);
    expect(answers.map(outcomeOf).sort()).toEqual(["200", ENDED]);
    const isFirst = answers[0]?.status === 200;
    expect(outcomeOf(await logIn(email, wanted[isFirst ? 0 : 1]))).toBe("200");
    expect(outcomeOf(await logIn(email, wanted[isFirst ? 1 : 0]))).toBe(REFUSED);
    expect(await sessionWith(isFirst ? session : second)).toBe("200");
    expect(await sessionWith(isFirst ? second : session)).toBe(ENDED);
  });

  test("no login with the old one outlives it, however the two meet", async () => {
    const { email, session } = await aUser();
    const logins = (count: number) => Array.from({ length: count }, () => logIn(email));
    const [changed, ...answers] = await Promise.all([
      change(session),
      ...logins(3),
      ...[1, 2, 3].map(() => logIn(email, PASSWORD, instance)),
    ]);
    expect(changed.status).toBe(200);
    for (const { status, body } of answers) {
      expect([200, 401, 429]).toContain(status);
      if (status === 200) expect(await sessionWith(body.data.token)).toBe(ENDED);
    }
    expect(await sessionWith(session)).toBe("200");
  });

  test("changing the password is on record, refusals too", async () => {
    const { session } = await aUser();
    await change(session, { currentPassword: "not the password" });
    await change(session);
    const events = dataOf(await relay.call("GET", "/v1/audit", { session }));
    const steps = events.map(
      ({ action, outcome }: Readonly<Record<string, string>>) => `${action} ${outcome}`,
    );
    expect(steps).toEqual([
      "user.password_changed ok",
      "user.password_changed denied",
      "platform.created ok",
    ]);
  });
});

describe("replacing the pepper", () => {
  const older = "o".repeat(40);
  const newer = "n".repeat(40);

  test("keeps passwords, recovery codes and API keys while the old one is set, and re-hashes what is used", async () => {
    const before = await startRelay({ settings: { KEY_PEPPER: older } });
    const application = await anApplication(before);
    const { email, session } = application.platform;
    const { recoveryCodes } = await enabledTotp(before, session);

    const between = await startRelay({
      sameDeploymentAs: before,
      settings: { KEY_PEPPER: newer, KEY_PEPPER_PREVIOUS: older },
    });
    const login = (on: Relay, code: number) =>
      on.call("POST", "/v1/auth/login", {
        body: { email, password: PASSWORD, totpCode: recoveryCodes[code] },
      });
    expect(outcomeOf(await login(between, 0))).toBe("200");
    const meWith = async (on: Relay) =>
      outcomeOf(await on.call("GET", "/v1/me", { key: application.key }));
    expect(await meWith(between)).toBe("200");
    const unused = (await anApplication(before, application.platform)).key;
    const wrong = application.key.replace(/.{6}$/, "000000");
    expect(outcomeOf(await between.call("GET", "/v1/me", { key: wrong }))).toBe(REFUSED);

    const after = await startRelay({ sameDeploymentAs: before, settings: { KEY_PEPPER: newer } });
    const { userId, id } = application.platform;
    const user = await userOf(after.services, id, userId);
    const { passwords } = after.services.people.secrets;
    const isRight = await passwords.inTurn(knownUser(id, "usr_1"), (hashing) =>
      hashing.matches(PASSWORD, user?.passwordHash),
    );
    expect(isRight).toBe(true);
    expect(outcomeOf(await login(after, 1))).toBe(REFUSED);
    expect(await meWith(after)).toBe("200");
    expect(outcomeOf(await after.call("GET", "/v1/me", { key: unused }))).toBe(REFUSED);
    for (const one of [before, between, after]) await one.stop();
  });
});

describe("hashing", () => {
  const bcryptMatches = (text: string, hash: string) =>
    hashingThreads.run({ kind: "compare", text, hash, burntCosts: [] });

  test("leaves the event loop free while eight logins at the full cost are checked", async () => {
    const slow = await startRelay({ settings: { BCRYPT_COST: "12" } });
    const { email } = await aUser(slow);
    const before = performance.eventLoopUtilization();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => logIn(email, PASSWORD, slow)),
    );
    const { utilization } = performance.eventLoopUtilization(before);
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    // Hashed on the loop, nearly all of it. A share of the loop's own time, so that a busy machine changes it little.
    expect(utilization).toBeLessThan(0.5);
    await slow.stop();
  }, 180_000);

  test("a thread that ends over its task loses nobody else's", async () => {
    const good = hashSync("text", 4);
    const malformed = good.replace("$2b$", "$9z$");
    const broken = bcryptMatches("text", malformed).catch((error: unknown) => error);
    const others = Array.from({ length: 6 }, () => bcryptMatches("text", good));
    expect(await broken).toMatchObject({ code: "service_unavailable" });
    expect(await Promise.all(others)).toEqual(others.map(() => ({ isRight: true })));
    expect(await bcryptMatches("text", good)).toEqual({ isRight: true });
  });

  test("a thread whose task takes too long ends with it, and others do what comes next", async () => {
    const limit = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 500);
      return controller.signal;
    });
    // Some hours of a core each, on as many threads as there are.
    const endless = [0, 1].map(() =>
      hashingThreads.run({ kind: "hash", text: "text", cost: 31 }).catch((error: unknown) => error),
    );
    for (const outcome of await Promise.all(endless))
      expect(outcome).toMatchObject({ code: "service_unavailable" });
    limit.mockRestore();
    expect(await bcryptMatches("text", hashSync("text", 4))).toEqual({ isRight: true });
  });

  test("runs in the build's own thread file, too", async () => {
    expect(inject("bundleError")).toBe("");
    const threads = new Tinypool({
      filename: resolve("dist/password-worker.js"),
      name: "answerTo",
      env: {},
    });
    const hash = hashSync("text", 4);
    const task = { kind: "compare", text: "text", hash, burntCosts: [4, 5] };
    expect(await threads.run(task)).toEqual({ isRight: true });
    await threads.destroy();
  });
});
