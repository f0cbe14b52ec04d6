import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outcomeOf, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Answer, type Relay } from "../setup/relay.ts";

const AUTH_RATE = 6;
const SIGN_UPS = 3;

let relay: Relay;
beforeAll(async () => {
  relay = await startRelay({
    settings: {
      AUTH_RATE_PER_MINUTE: String(AUTH_RATE),
      SIGNUPS_PER_ADDRESS_DAY: String(SIGN_UPS),
    },
  });
});
afterAll(() => relay.stop());

const email = () => `nobody-${randomBytes(8).toString("hex")}@example.com`;

function logIn(ip: string) {
  const body = { email: email(), password: PASSWORD };
  return relay.call("POST", "/v1/auth/login", { headers: { "x-forwarded-for": ip }, body });
}

function signUp(ip: string) {
  const body = { email: email(), password: PASSWORD, platformName: "Example" };
  return relay.call("POST", "/v1/auth/signup", { headers: { "x-forwarded-for": ip }, body });
}

const openPage = (ip: string, method = "GET") =>
  relay.call(method, "/v1/auth/ui/reset?token=none", { headers: { "x-forwarded-for": ip } });

const switchOff = (ip: string) =>
  relay.call("POST", "/v1/auth/notices/off?token=none", { headers: { "x-forwarded-for": ip } });

/** Returns how many calls were not limited. */
async function admitted(calls: number, call: (index: number) => Promise<Answer>): Promise<number> {
  let count = 0;
  for (let index = 0; index < calls; index += 1) if ((await call(index)).status !== 429) count += 1;
  return count;
}

describe("an address", () => {
  test("an address is a /64 network of IPv6, and a site of many has four times its limit", async () => {
    const ofNetwork = await admitted(10, (index) => logIn(`2001:db8:a:1::${index + 1}`));
    expect(ofNetwork).toBe(AUTH_RATE);
    const ofSite = await admitted(60, (index) => logIn(`2001:db8:a:${index + 2}::1`));
    expect(ofNetwork + ofSite).toBe(4 * AUTH_RATE);
    expect((await logIn("2001:db8:b:1::1")).status).toBe(401);
    expect(await admitted(10, () => logIn("203.0.113.1"))).toBe(AUTH_RATE);
    expect(await admitted(10, () => logIn("203.0.113.2"))).toBe(AUTH_RATE);
  });

  test("an address of a site shares its sign-ups of a day with the others", async () => {
    const counts: number[] = [];
    // Later in the day, so that the limits of a minute don't count.
    for (let index = 0; index < 6; index += 1) {
      counts.push(await admitted(5, () => signUp(`2001:db8:c:${index}::1`)));
      relay.advance(3 * 60_000);
    }
    expect(counts).toEqual([SIGN_UPS, SIGN_UPS, SIGN_UPS, SIGN_UPS, 0, 0]);
  });

  test("an address may open 300 pages of links a minute, which leaves its logins alone", async () => {
    const ip = "203.0.113.30";
    const half = await admitted(150, () => openPage(ip));
    const posts = await admitted(40, () => switchOff(ip));
    expect([half, posts]).toEqual([150, 40]);
    expect((await logIn(ip)).status).toBe(401);
    expect(half + posts + (await admitted(130, () => openPage(ip)))).toBe(300);
    expect((await logIn(ip)).status).toBe(401);
    expect(outcomeOf(await logIn(ip))).toBe("401 invalid_credentials");
  });

  test("an address that uses links counts as it does for logins", async () => {
    const ip = "203.0.113.31";
    const use = () =>
      relay.call("POST", "/v1/auth/ui/reset", {
        headers: { "x-forwarded-for": ip, "content-type": "application/x-www-form-urlencoded" },
        rawBody: "token=none&password=something+long+enough",
      });
    expect(await admitted(10, use)).toBe(AUTH_RATE);
  });

  test("an address can't try more wrong credentials by using another network of its site", async () => {
    const call = (index: number) =>
      relay.call("GET", "/v1/me", {
        headers: {
          "x-forwarded-for": `2001:db8:d:${index % 50}::1`,
          authorization: `Bearer wrong-${index}`,
        },
      });
    expect(await admitted(300, call)).toBe(4 * 60);
  });
});
