import { describe, expect, test } from "vitest";
import { aPlatform, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Answer, type Relay } from "../setup/relay.ts";
import { useTwoProcesses } from "../setup/two-processes.ts";

const WRONG = "another password of some length";

let relay: Relay;
/** Another process of the same deployment. */
let second: Relay;
useTwoProcesses((started) => {
  ({ relay, instance: second } = started);
});

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

describe("log-ins of one e-mail", () => {
  test("wait after five failures, with the right password too", async () => {
    const { email } = await aPlatform(relay);
    expect(await failing(email, 6)).toEqual([401, 401, 401, 401, 401, 429]);
    expectToWait(await logIn(email, PASSWORD), 60);
  });

  test("go on after the wait, and the next failure makes the wait twice as long", async () => {
    const { email } = await aPlatform(relay);
    await failing(email, 5);
    for (const seconds of [60, 120, 240, 480, 900, 900]) {
      const refused = await logIn(email, PASSWORD);
      expectToWait(refused, seconds);
      relay.advance(Number(refused.headers.get("retry-after")) * 1000);
      expect(await failing(email, 1)).toEqual([401]);
    }
    relay.advance(15 * 60_000);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
  });

  test("start over after a success", async () => {
    const { email } = await aPlatform(relay);
    expect(await failing(email, 4)).toEqual([401, 401, 401, 401]);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
    expect(await failing(email, 4)).toEqual([401, 401, 401, 401]);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
  });

  test("are counted for an e-mail that nobody has, so that the two can't be told apart", async () => {
    const [unknown, { email }] = [unknownEmail(), await aPlatform(relay)];
    expect(await failing(unknown, 6)).toEqual(await failing(email, 6));
    const [first, other] = [await logIn(unknown, WRONG), await logIn(email, WRONG)];
    expect([first.status, first.body.error.code]).toEqual([other.status, other.body.error.code]);
  });

  test("are counted on all instances, in any case and with any space around the e-mail", async () => {
    const { email } = await aPlatform(relay);
    expect(await failing(email, 3)).toEqual([401, 401, 401]);
    expect(await failing(email.toUpperCase(), 2, second)).toEqual([401, 401]);
    expectToWait(await logIn(` ${email} `, PASSWORD, second), 60);
    expectToWait(await logIn(email, PASSWORD), 60);
  });

  test("leave another e-mail alone", async () => {
    const [mine, other] = [await aPlatform(relay), await aPlatform(relay)];
    await failing(mine.email, 6);
    expect((await logIn(other.email, PASSWORD)).status).toBe(200);
  });

  test("gain nothing by running side by side, over instances and addresses", async () => {
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

  test("with the right password may run side by side as often as they like", async () => {
    const { email } = await aPlatform(relay);
    const answers = await Promise.all(Array.from({ length: 12 }, () => logIn(email, PASSWORD)));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(12).fill(200));
  });

  test("are as many as the setting says", async () => {
    const strict = await startRelay({
      sameDeploymentAs: relay,
      settings: { LOGIN_ATTEMPTS: "2" },
    });
    expect(await failing(unknownEmail(), 4, strict)).toEqual([401, 401, 429, 429]);
    await strict.stop();
  });
});

describe("a try outside the log-in, with a password or a code", () => {
  test("counts with the log-ins of the e-mail", async () => {
    const { email } = await aPlatform(relay);
    for (let index = 0; index < 5; index += 1) {
      const attempt = await relay.services.tenants.limits.beginLoginAttempt(email);
      expect((await attempt.failed()).code).toBe("invalid_credentials");
    }
    await expect(relay.services.tenants.limits.beginLoginAttempt(email)).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterSeconds: 60,
    });
    expectToWait(await logIn(email, PASSWORD), 60);
  });

  test("that was begun in time and was right is refused when others used up the limit meanwhile", async () => {
    const { email } = await aPlatform(relay);
    const attempt = await relay.services.tenants.limits.beginLoginAttempt(email);
    await failing(email, 5);
    await expect(attempt.succeeded()).rejects.toMatchObject({ code: "rate_limited" });
    expect((await attempt.failed()).code).toBe("rate_limited");
    // Neither of the two made the wait longer.
    expectToWait(await logIn(email, PASSWORD), 60);
  });
});

describe("one address", () => {
  const signUp = (on: Relay, address: string) =>
    on.call("POST", "/v1/auth/signup", {
      headers: { "x-forwarded-for": address },
      body: { email: unknownEmail(), password: PASSWORD, platformName: "Example" },
    });

  test("gets 30 log-ins and sign-ups a minute together, on all instances; other addresses theirs", async () => {
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

  test("is the one that our proxy saw: inventing others before it gains nothing", async () => {
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
