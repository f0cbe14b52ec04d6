import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enabledTotp } from "../setup/authenticator.ts";
import { aPlatform, dataOf, outcomeOf, PASSWORD, type TestPlatform } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";

// The time of an answer tells what was read. So a refusal has to ask storage for the same, whether the email address is
// known or not.
let relay: Relay;
let calls: string[] = [];

beforeAll(async () => {
  relay = await startRelay({
    tableFault({ table, method }) {
      calls.push(`${method} ${table}`);
      return "pass";
    },
  });
});
afterAll(() => relay.stop());

/** What a login is answered, and what it asks storage for. */
async function logIn(email: string, more: object = {}) {
  calls = [];
  const body = { email, password: "not the right one", ...more };
  const answer = await relay.call("POST", "/v1/auth/login", { body });
  return { outcome: outcomeOf(answer), calls: [...calls] };
}

/** The same of the one of three logins that asks for least: instances also tell each other their counts now and then. */
async function leastOf(email: string, more: object = {}) {
  const tries = [await logIn(email, more), await logIn(email, more), await logIn(email, more)];
  return tries.toSorted((one, other) => one.calls.length - other.calls.length)[0];
}

async function suspended(): Promise<TestPlatform> {
  const platform = await aPlatform(relay);
  const call = { operator: ["Admin"], body: { status: "suspended" } };
  dataOf(await relay.call("PATCH", `/v1/admin/platforms/${platform.id}`, call));
  return platform;
}

async function withTotp(): Promise<TestPlatform> {
  const platform = await aPlatform(relay);
  await enabledTotp(relay, platform.session);
  return platform;
}

describe("a login asks storage", () => {
  async function cost(email: string, more: object = {}): Promise<number> {
    const least = await leastOf(email, { password: PASSWORD, ...more });
    expect(least?.outcome).toBe("200");
    return least?.calls.length ?? 0;
  }

  test("seven times, and as often with a device token", async () => {
    const { email } = await aPlatform(relay);
    const body = { email, password: PASSWORD };
    const { deviceToken } = dataOf(await relay.call("POST", "/v1/auth/login", { body }));
    expect(await cost(email)).toBe(7);
    expect(await cost(email, { deviceToken })).toBe(7);
  });

  test("twice more with a code of the second factor from a known device", async () => {
    const { email, session } = await aPlatform(relay);
    const { recoveryCodes } = await enabledTotp(relay, session);
    const [first, ...codes] = recoveryCodes;
    const body = { email, password: PASSWORD, totpCode: first };
    const { deviceToken } = dataOf(await relay.call("POST", "/v1/auth/login", { body }));
    const counts: number[] = [];
    for (const totpCode of codes.slice(0, 3)) {
      const { outcome, calls: asked } = await logIn(email, {
        password: PASSWORD,
        totpCode,
        deviceToken,
      });
      expect(outcome).toBe("200");
      counts.push(asked.length);
    }
    expect(Math.min(...counts)).toBe(9);
  });
});

describe("a login that is refused asks storage for the same as one with an unknown email", () => {
  test.each([
    ["a wrong password", () => aPlatform(relay), {}],
    ["a wrong password of a suspended platform", suspended, {}],
    ["a wrong password where TOTP is on", withTotp, {}],
    ["a wrong password and a code where TOTP is on", withTotp, { totpCode: "123456" }],
    ["a wrong code", withTotp, { password: PASSWORD, totpCode: "123456" }],
  ])(
    "a refused login asks storage for the same as an unknown email: %s",
    async (_, owner, body) => {
      const unknown = await leastOf(`nobody-${Math.random()}@example.com`, body);
      expect(unknown?.outcome).toBe("401 invalid_credentials");
      expect(unknown?.calls).not.toEqual([]);
      expect(await leastOf((await owner()).email, body)).toEqual(unknown);
    },
  );

  test("up to the limit of failures, and when it is reached", async () => {
    const { email } = await aPlatform(relay);
    const unknown = `nobody-${Math.random()}@example.com`;
    for (let tries = 0; tries < 4; tries += 1)
      expect(await leastOf(email)).toEqual(await leastOf(unknown));
    expect((await logIn(email)).outcome).toBe("429 rate_limited");
  });
});
