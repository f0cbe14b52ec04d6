import { describe, expect, test } from "vitest";
import { enabledTotp } from "../setup/authenticator.ts";
import { IS_LONG } from "../setup/long-check.ts";
import { aPlatform, dataOf, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Answer, type Relay } from "../setup/relay.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const WRONG = "another password of some length";

const { relay, instance: second } = useTwoProcesses();

let count = 0;
const unknownEmail = () => `nobody-${(count += 1)}@example.com`;

function logIn(email: string, password: string, on: Relay = relay, address = "192.0.2.1") {
  const headers = { "x-forwarded-for": address };
  return on.call("POST", "/v1/auth/login", { headers, body: { email, password } });
}

async function failing(email: string, times: number, on: Relay = relay): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index += 1)
    statuses.push((await logIn(email, WRONG, on)).status);
  return statuses;
}

function expectToWait({ status, headers, body }: Answer, seconds: number): void {
  expect([status, body.error.code]).toEqual([429, "rate_limited"]);
  expect(body.error.details).toEqual({ retryAfter: Number(headers.get("retry-after")) });
  // The clock of a test goes on by a few milliseconds with every look at it.
  expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(seconds - 1);
  expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(seconds);
}

const QUARTER = 15 * 60;

describe("logins of one email", () => {
  test("wait after five failures from a network, with the right password too", async () => {
    const { email } = await aPlatform(relay);
    expect(await failing(email, 6)).toEqual([401, 401, 401, 401, 401, 429]);
    expectToWait(await logIn(email, PASSWORD), QUARTER);
    expectToWait(await logIn(email, PASSWORD, relay, "192.0.2.200"), QUARTER);
  });

  test("don't wait for what fails from another network", async () => {
    const { email } = await aPlatform(relay);
    await failing(email, 6);
    expect((await logIn(email, PASSWORD, relay, "198.51.100.1")).status).toBe(200);
    expectToWait(await logIn(email, PASSWORD), QUARTER);
  });

  test("go on after the wait", async () => {
    const { email } = await aPlatform(relay);
    await failing(email, 5);
    const refused = await logIn(email, PASSWORD);
    relay.advance(Number(refused.headers.get("retry-after")) * 1000);
    expect(await failing(email, 4)).toEqual([401, 401, 401, 401]);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
  });

  test("start over after a success, for the network that it came from alone", async () => {
    const { email } = await aPlatform(relay);
    for (let index = 0; index < 5; index += 1) await logIn(email, WRONG, relay, "198.51.100.1");
    expect(await failing(email, 4)).toEqual([401, 401, 401, 401]);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
    expect(await failing(email, 4)).toEqual([401, 401, 401, 401]);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
    expectToWait(await logIn(email, PASSWORD, relay, "198.51.100.1"), QUARTER);
  });

  test("logins of one email are counted for an email that nobody has, so that the two can't be told apart", async () => {
    const [unknown, { email }] = [unknownEmail(), await aPlatform(relay)];
    expect(await failing(unknown, 6)).toEqual(await failing(email, 6));
    const [first, other] = [await logIn(unknown, WRONG), await logIn(email, WRONG)];
    expect([first.status, first.body.error.code]).toEqual([other.status, other.body.error.code]);
  });

  test("logins of one email are counted on all instances, in any case and with any space around the email", async () => {
    const { email } = await aPlatform(relay);
    expect(await failing(email, 3)).toEqual([401, 401, 401]);
    expect(await failing(email.toUpperCase(), 2, second)).toEqual([401, 401]);
    expectToWait(await logIn(` ${email} `, PASSWORD, second), QUARTER);
    expectToWait(await logIn(email, PASSWORD), QUARTER);
  });

  test("leave another email alone", async () => {
    const [mine, other] = [await aPlatform(relay), await aPlatform(relay)];
    await failing(mine.email, 6);
    expect((await logIn(other.email, PASSWORD)).status).toBe(200);
  });

  test("gain nothing by running side by side, over instances and addresses of a network", async () => {
    const { email } = await aPlatform(relay);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        logIn(email, WRONG, index % 2 === 0 ? relay : second, `192.0.2.${index}`),
      ),
    );
    const told = answers.filter(({ status }) => status === 401);
    expect(told).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(19);
  });

  test("logins of one email with the right password may run side by side as often as they like", async () => {
    const { email } = await aPlatform(relay);
    const answers = await Promise.all(Array.from({ length: 12 }, () => logIn(email, PASSWORD)));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(12).fill(200));
  });

  test("logins of one email are as many as the setting says", async () => {
    const strict = await startRelay({
      sameDeploymentAs: relay,
      settings: { LOGIN_ATTEMPTS: "2" },
    });
    expect(await failing(unknownEmail(), 4, strict)).toEqual([401, 401, 429, 429]);
    await strict.stop();
  });
});

describe("a stranger who guesses", () => {
  const from = (network: number, host = 1) => `198.51.${network}.${host}`;

  async function deviceOf(email: string): Promise<string> {
    return dataOf(await logIn(email, PASSWORD)).deviceToken;
  }

  function logInFrom(deviceToken: string, email: string, password = PASSWORD) {
    const headers = { "x-forwarded-for": "203.0.113.5" };
    const body = { email, password, deviceToken };
    return relay.call("POST", "/v1/auth/login", { headers, body });
  }

  // A thousand guesses for every change, and ten thousand in the long check.
  const rounds = IS_LONG ? 100 : 10;

  test("a stranger who guesses from 50 networks learns of a hundred an hour, while the owner logs in from a known device", async () => {
    const { email } = await aPlatform(relay);
    let device = await deviceOf(email);
    const startedAt = relay.clock.now().getTime();
    let told = 0;
    let signedIn = 0;
    for (let round = 0; round < rounds; round += 1) {
      const guesses = Array.from({ length: 100 }, (_, index) =>
        logIn(email, WRONG, index % 2 === 0 ? relay : second, from(index % 50, round)),
      );
      const answers = await Promise.all(guesses);
      told += answers.filter(({ status }) => status === 401).length;
      expect(answers.every(({ status }) => status === 401 || status === 429)).toBe(true);
      if (round % (rounds / 10) !== 0) continue;
      const answer = await logInFrom(device, email);
      device = dataOf(answer).deviceToken;
      signedIn += 1;
    }
    const hours = Math.ceil((relay.clock.now().getTime() - startedAt) / 3_600_000);
    expect(told).toBeLessThanOrEqual(100 * Math.max(1, hours));
    expect(signedIn).toBe(10);
  });

  test("a stranger who guesses does lock out a device that nobody knows: it waits until fewer failed within the hour", async () => {
    const { email } = await aPlatform(relay);
    for (let index = 0; index < 100; index += 1)
      await logIn(email, WRONG, relay, from(100 + (index % 20)));
    const refused = await logIn(email, PASSWORD, relay, "203.0.113.77");
    expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limited"]);
  });

  test("gains nothing by a device of his own, or one from before the password was changed", async () => {
    const [mine, stranger] = [await aPlatform(relay), await aPlatform(relay)];
    const own = await deviceOf(stranger.email);
    const old = await deviceOf(mine.email);
    const changed = { currentPassword: PASSWORD, newPassword: "another and longer password" };
    const { session } = mine;
    await relay.call("POST", "/v1/auth/password", { session, body: changed });
    const tries = [own, own, old, old, "no token", own, old];
    const statuses: number[] = [];
    for (const device of tries) statuses.push((await logInFrom(device, mine.email, WRONG)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });

  test("a stranger who guesses with a stolen device token gets five tries in 15 minutes, and stops nobody else", async () => {
    const { email } = await aPlatform(relay);
    const [stolen, kept] = [await deviceOf(email), await deviceOf(email)];
    const statuses: number[] = [];
    for (let index = 0; index < 7; index += 1)
      statuses.push((await logInFrom(stolen, email, WRONG)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect((await logInFrom(kept, email)).status).toBe(200);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
  });

  test("a stranger who knows the password gets ten codes an hour, from any number of networks and devices", async () => {
    const { email, session } = await aPlatform(relay);
    const { code } = await enabledTotp(relay, session);
    const right = code();
    const wrong = right === "000000" ? "000001" : "000000";
    const tryCode = (totpCode: string, network: number) =>
      relay.call("POST", "/v1/auth/login", {
        headers: { "x-forwarded-for": from(network) },
        body: { email, password: PASSWORD, totpCode },
      });
    const statuses: number[] = [];
    for (let index = 0; index < 12; index += 1) statuses.push((await tryCode(wrong, index)).status);
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429]);
    expectToWait(await tryCode(right, 40), 3_600);
    relay.advance(3_600_000);
    expect((await tryCode(code(), 41)).status).toBe(200);
  });

  test("a stranger who guesses codes side by side learns of ten at most", async () => {
    const { email, session } = await aPlatform(relay);
    await enabledTotp(relay, session);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        relay.call("POST", "/v1/auth/login", {
          headers: { "x-forwarded-for": from(index) },
          body: { email, password: PASSWORD, totpCode: "AAAAA-AAAAA" },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
  });
});

describe("a device token", () => {
  test("outlives a logout, and ends with a rotation of the secret", async () => {
    const { email, session } = await aPlatform(relay);
    const { deviceToken } = dataOf(await logIn(email, PASSWORD));
    await relay.call("POST", "/v1/auth/logout", { session });
    const rotated = await startRelay({
      sameDeploymentAs: relay,
      settings: {
        SESSION_SECRET: "a new secret of more than thirty-two characters",
        SESSION_SECRET_PREVIOUS: relay.services.config.identity.sessionSecret,
      },
    });
    await failing(email, 5);
    const signInAgain = (on: Relay) =>
      on.call("POST", "/v1/auth/login", {
        headers: { "x-forwarded-for": "192.0.2.1" },
        body: { email, password: PASSWORD, deviceToken },
      });
    expect((await signInAgain(relay)).status).toBe(200);
    expect((await signInAgain(rotated)).status).toBe(429);
    await rotated.stop();
  });
});

describe("a try outside the login, with a password or a code", () => {
  const begin = (email: string) =>
    relay.services.tenants.limits.beginLoginAttempt({ email, ip: "192.0.2.1" });

  test("counts with the logins of the email", async () => {
    const { email } = await aPlatform(relay);
    for (let index = 0; index < 5; index += 1)
      expect((await (await begin(email)).failed()).code).toBe("invalid_credentials");
    await expect(begin(email)).rejects.toMatchObject({ code: "rate_limited" });
    expectToWait(await logIn(email, PASSWORD), QUARTER);
  });

  test("a try that was begun in time and was right is refused when others used up the limit meanwhile", async () => {
    const { email } = await aPlatform(relay);
    const attempt = await begin(email);
    await failing(email, 5);
    await expect(attempt.succeeded()).rejects.toMatchObject({ code: "rate_limited" });
    expect((await attempt.failed()).code).toBe("rate_limited");
    // Neither of the two made the wait longer.
    expectToWait(await logIn(email, PASSWORD), QUARTER);
  });
});

describe("one address", () => {
  const signUp = (on: Relay, address: string) =>
    on.call("POST", "/v1/auth/signup", {
      headers: { "x-forwarded-for": address },
      body: { email: unknownEmail(), password: PASSWORD, platformName: "Example" },
    });

  test("gets 30 logins and sign-ups a minute together, on all instances; other addresses theirs", async () => {
    const one = await startRelay({
      sameDeploymentAs: relay,
      settings: { AUTH_RATE_PER_MINUTE: "30" },
    });
    const other = await startRelay({
      sameDeploymentAs: relay,
      settings: { AUTH_RATE_PER_MINUTE: "30" },
    });
    one.advance(60_000 - (one.clock.now().getTime() % 60_000));
    const statuses: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      statuses.push((await logIn(unknownEmail(), WRONG, one, "192.0.2.77")).status);
      statuses.push((await signUp(other, "192.0.2.77")).status);
    }
    const served = statuses.filter((status) => status !== 429).length;
    expect(served).toBeGreaterThanOrEqual(30);
    expect(served).toBeLessThanOrEqual(33);
    const refused = await signUp(one, "192.0.2.77");
    expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limited"]);
    expect(refused.headers.get("ratelimit-limit")).toBeNull();
    expect((await signUp(one, "192.0.2.78")).status).toBe(201);
    // What the other instance served last, this one learns only now: each of them is worth two seconds.
    one.advance((Number(refused.headers.get("retry-after")) + 6) * 1000);
    expect((await signUp(one, "192.0.2.77")).status).toBe(201);
    await other.stop();
    await one.stop();
  });

  test("the address that counts is the one that our proxy saw: inventing others before it gains nothing", async () => {
    const one = await startRelay({
      sameDeploymentAs: relay,
      settings: { AUTH_RATE_PER_MINUTE: "3" },
    });
    one.advance(60_000 - (one.clock.now().getTime() % 60_000));
    const statuses: number[] = [];
    for (let index = 0; index < 5; index += 1)
      statuses.push(
        (await logIn(unknownEmail(), WRONG, one, `10.0.0.${index}, 192.0.2.99`)).status,
      );
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    await one.stop();
  });
});
