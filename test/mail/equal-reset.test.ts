import { afterAll, beforeAll, expect, test } from "vitest";
import { aPlatform, dataOf, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";

let relay: Relay;
let calls: string[] = [];

beforeAll(async () => {
  relay = await startRelay({
    settings: { MAIL_URL: "smtp://127.0.0.1:1", MAIL_FROM: "relay@example.net" },
    tableFault({ table, method }) {
      calls.push(`${method} ${table}`);
      return "pass";
    },
  });
});
afterAll(() => relay.stop());

/** What a request for a reset asks storage for, in any order, and what it is answered. */
async function reset(email: string, deviceToken?: string) {
  calls = [];
  const asked = { email, ...(deviceToken === undefined ? {} : { deviceToken }) };
  const { status, body } = await relay.call("POST", "/v1/auth/reset", { body: asked });
  return { status, body, calls: calls.toSorted() };
}

async function suspended(): Promise<string> {
  const platform = await aPlatform(relay);
  const call = { operator: ["Admin"], body: { status: "suspended" } };
  dataOf(await relay.call("PATCH", `/v1/admin/platforms/${platform.id}`, call));
  return platform.email;
}

test("a reset asks storage for the same, whether the email is known, suspended or unknown", async () => {
  const emails = [(await aPlatform(relay)).email, await suspended(), "nobody@example.com"];
  // The fourth is one more than an address gets in an hour.
  for (let tries = 0; tries < 4; tries += 1) {
    const [known, ended, unknown] = [
      await reset(emails[0] ?? ""),
      await reset(emails[1] ?? ""),
      await reset(emails[2] ?? ""),
    ];
    expect(known.status).toBe(202);
    expect(known.calls.length).toBeGreaterThan(tries < 3 ? 8 : 2);
    expect(ended).toEqual(known);
    expect(unknown).toEqual(known);
  }
});

test("so does one with a device token, whosever it is, and one for an email that is not verified", async () => {
  const body = { email: "new@example.com", password: PASSWORD, platformName: "New" };
  const { deviceToken } = dataOf(await relay.call("POST", "/v1/auth/signup", { body }));
  const plain = await reset("unknown@example.com");
  for (const [email, device] of [
    ["new@example.com", undefined],
    ["new@example.com", deviceToken],
    ["other@example.com", deviceToken],
    ["third@example.com", "no token"],
  ] as const)
    expect(await reset(email, device)).toEqual(plain);
});
