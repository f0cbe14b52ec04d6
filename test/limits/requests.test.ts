import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { serviceUnavailable } from "../../src/shared/runtime/errors.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { WINDOW_MS } from "../../src/shared/limits/sliding-window.ts";
import { newApiKey } from "../../src/shared/runtime/secrets.ts";
import { aKey, aPlatform, aProfile, anApplication } from "../setup/factories.ts";
import type { FatedCall } from "../model/machine.ts";
import type { TableFault } from "../model/storage-model.ts";
import { startRelay, type Answer, type Relay, type RelayOptions } from "../setup/relay.ts";
import { useRelay } from "../setup/use-relay.ts";

const LIMIT = 300;
/** On a busy machine hundreds of requests take their time. */
const HEAVY = { timeout: 180_000 };
const SETTINGS = { RATE_LIMIT_PER_MINUTE: String(LIMIT) };

const opened: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const relay of opened.splice(0).toReversed()) await relay.stop();
});

/** A relay whose clock stands at the beginning of a minute. */
async function aRelay(options: RelayOptions = {}): Promise<Relay> {
  const relay = await startRelay({ ...options, settings: { ...SETTINGS, ...options.settings } });
  opened.push(relay);
  if (options.sameDeploymentAs === undefined) nextMinute(relay);
  return relay;
}

/** Storage whose counts of requests can't be reached; everything else works. */
const withoutCounts = ({ table }: FatedCall): TableFault =>
  table === "ratewindows" ? "unavailable" : "pass";

function nextMinute(relay: Relay): void {
  relay.advance(WINDOW_MS - (relay.clock.now().getTime() % WINDOW_MS));
}

async function ask(relay: Relay, key: string, times: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let index = 0; index < times; index += 1)
    answers.push(await relay.call("GET", "/v1/me", { key }));
  return answers;
}

function statuses(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const rateHeaders = ({ headers }: Answer) =>
  ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => headers.get(name));

describe("a key", () => {
  test(
    "gets exactly 300 of 330 requests of a minute, and is told how it stands",
    HEAVY,
    async () => {
      const relay = await aRelay();
      const { key } = await anApplication(relay);
      const answers = await ask(relay, key, 330);
      expect(statuses(answers)).toEqual({ 200: 300, 429: 30 });
      const served = answers.slice(0, 300);
      expect(served.map(({ headers }) => headers.get("ratelimit-remaining"))).toEqual(
        Array.from({ length: 300 }, (_, index) => String(299 - index)),
      );
      for (const { headers } of served) {
        expect(headers.get("ratelimit-limit")).toBe("300");
        expect(Number(headers.get("ratelimit-reset"))).toBeGreaterThan(50);
        expect(Number(headers.get("ratelimit-reset"))).toBeLessThanOrEqual(60);
        expect(headers.get("retry-after")).toBeNull();
      }
      for (const refused of answers.slice(300)) {
        const retryAfter = Number(refused.headers.get("retry-after"));
        expect(refused.body.error).toMatchObject({ code: "rate_limited", details: { retryAfter } });
        expect(retryAfter).toBeGreaterThan(50);
        expect(retryAfter).toBeLessThanOrEqual(61);
        expect(rateHeaders(refused)).toEqual(["300", "0", String(retryAfter)]);
      }
    },
  );

  test("a key that waits as long as it was told is served", async () => {
    const relay = await aRelay({ settings: { RATE_LIMIT_PER_MINUTE: "50" } });
    const { key } = await anApplication(relay);
    for (let round = 0; round < 5; round += 1) {
      const refused = (await ask(relay, key, 51)).find(({ status }) => status === 429);
      relay.advance(Number(refused?.headers.get("retry-after")) * 1000);
      expect(statuses(await ask(relay, key, 1))).toEqual({ 200: 1 });
    }
  });

  test("a key does not pay for requests that were refused", async () => {
    const relay = await aRelay({ settings: { RATE_LIMIT_PER_MINUTE: "60" } });
    const { key } = await anApplication(relay);
    expect(statuses(await ask(relay, key, 180))).toEqual({ 200: 60, 429: 120 });
    // In the middle of the next minute half of the 60 still counts; half of the 180 would leave nothing.
    nextMinute(relay);
    relay.advance(WINDOW_MS / 2);
    const { 200: served = 0 } = statuses(await ask(relay, key, 60));
    expect(served).toBeGreaterThanOrEqual(30);
    expect(served).toBeLessThan(40);
  });

  test("a key that used up its limit leaves another key, a session and an operator theirs", async () => {
    const relay = await aRelay({ settings: { RATE_LIMIT_PER_MINUTE: "20" } });
    const application = await anApplication(relay);
    const { secret: other } = await aKey(relay, application);
    const { key, platform } = application;
    expect(statuses(await ask(relay, key, 21))[429]).toBeGreaterThan(0);
    expect(statuses(await ask(relay, other, 1))).toEqual({ 200: 1 });
    const session = await relay.call("GET", "/v1/me", { session: platform.session });
    expect([session.status, session.headers.get("ratelimit-limit")]).toEqual([200, "600"]);
    const operator = await relay.call("GET", "/v1/admin/platforms", { operator: ["Admin"] });
    expect([operator.status, operator.headers.get("ratelimit-limit")]).toEqual([200, "120"]);
  });

  test("a key is counted on all instances together", async () => {
    const settings = { RATE_LIMIT_PER_MINUTE: "100" };
    const relay = await aRelay({ settings });
    const second = await aRelay({ sameDeploymentAs: relay, settings });
    const { key } = await anApplication(relay);
    let served = 0;
    for (let index = 0; index < 80; index += 1)
      for (const instance of [relay, second])
        if ((await instance.call("GET", "/v1/me", { key })).status === 200) served += 1;
    expect(served).toBeGreaterThanOrEqual(100);
    expect(served).toBeLessThanOrEqual(110);
  });

  test("keeps its limit on the instance while counts can't be stored, which is logged once", async () => {
    const settings = { RATE_LIMIT_PER_MINUTE: "100" };
    const healthy = await aRelay({ settings });
    const { key } = await anApplication(healthy);
    const faulty = { sameDeploymentAs: healthy, settings, tableFault: withoutCounts };
    const relay = await aRelay(faulty);
    expect(statuses(await ask(relay, key, 130))).toEqual({ 200: 100, 429: 30 });
    expect(relay.logLines.filter((line) => line.includes("storage fails"))).toHaveLength(1);
  });

  test("pays for a request that does nothing new, and for one that is refused", async () => {
    const relay = await aRelay();
    const application = await anApplication(relay);
    const { key, platform } = application;
    const profile = await aProfile(relay, application);
    const remaining = async (method: string, path: string, headers = {}, body?: unknown) => {
      const answer = await relay.call(method, path, {
        key,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      return [answer.status, LIMIT - Number(answer.headers.get("ratelimit-remaining"))];
    };
    const named = { "x-profile-id": profile.id };
    expect([
      await remaining("GET", "/v1/posts", named),
      await remaining("GET", "/v1/posts", named),
      await remaining("GET", "/v1/posts"),
      await remaining("GET", "/v1/posts", { "x-profile-id": `prf_${"0".repeat(26)}` }),
      await remaining("POST", "/v1/applications", {}, { name: "No" }),
      await remaining("GET", "/v1/connect/sessions/cns_0"),
      await remaining("POST", "/v1/profiles", {}, { title: 7 }),
    ]).toEqual([
      // Making the profile was the first.
      [200, 2],
      [200, 3],
      [400, 4],
      [404, 5],
      [403, 6],
      [404, 7],
      [400, 8],
    ]);
    const visits = `/v1/profiles/${profile.id}/connect/sessions`;
    const visit = await relay.call("POST", visits, { key, body: { platforms: ["bluesky"] } });
    // Its access is judged twice: for the caller and for the session's profile.
    expect(await remaining("GET", `/v1/connect/sessions/${visit.body.data.id}`)).toEqual([200, 10]);
    await relay.call("PATCH", `/v1/admin/platforms/${platform.id}`, {
      operator: ["Admin"],
      body: { status: "suspended" },
    });
    expect(await remaining("GET", "/v1/me")).toEqual([403, 11]);
  });
});

describe("all keys of a platform", () => {
  const settings = { RATE_LIMIT_PER_MINUTE: "40", PLATFORM_RATE_PER_MINUTE: "100" };

  test(
    "share its limit, whichever of its applications they are of, and sessions do not",
    HEAVY,
    async () => {
      const relay = await aRelay({ settings });
      const first = await anApplication(relay);
      const second = await anApplication(relay, first.platform);
      const keys = [first.key, second.key];
      for (const of of [first, second]) keys.push((await aKey(relay, of)).secret);
      // Making the two keys took a request of each of the others.
      const answers = await Promise.all(keys.map((key) => ask(relay, key, 40)));
      const all = statuses(answers.flat());
      expect(all[200]).toBe(98);
      expect(all[429]).toBe(62);
      const { session } = first.platform;
      expect((await relay.call("GET", "/v1/me", { session })).status).toBe(200);
      const stranger = await anApplication(relay);
      expect(statuses(await ask(relay, stranger.key, 1))).toEqual({ 200: 1 });
    },
  );

  test("all keys of a platform are told about the bucket with less left", async () => {
    const relay = await aRelay({ settings: { ...settings, PLATFORM_RATE_PER_MINUTE: "50" } });
    const application = await anApplication(relay);
    const { secret } = await aKey(relay, application);
    const limits = async (key: string) => (await relay.call("GET", "/v1/me", { key })).headers;
    const own = await limits(application.key);
    expect([own.get("ratelimit-limit"), own.get("ratelimit-remaining")]).toEqual(["40", "38"]);
    await ask(relay, application.key, 30);
    const shared = await limits(secret);
    expect([shared.get("ratelimit-limit"), shared.get("ratelimit-remaining")]).toEqual([
      "50",
      "17",
    ]);
  });

  test("lose nothing to a key that asks beyond its own limit", async () => {
    const relay = await aRelay({ settings });
    const application = await anApplication(relay);
    const { secret } = await aKey(relay, application);
    expect(statuses(await ask(relay, application.key, 300))).toEqual({ 200: 39, 429: 261 });
    expect(statuses(await ask(relay, secret, 40))).toEqual({ 200: 40 });
  });

  test("all keys of a platform do not lose their own limits to one that the platform refused", async () => {
    const relay = await aRelay({ settings: { ...settings, PLATFORM_RATE_PER_MINUTE: "40" } });
    const application = await anApplication(relay);
    const { secret } = await aKey(relay, application);
    await ask(relay, application.key, 39);
    const refused = await ask(relay, secret, 30);
    expect(statuses(refused)).toEqual({ 429: 30 });
    expect(rateHeaders(refused[0] as Answer).slice(0, 2)).toEqual(["40", "0"]);
    nextMinute(relay);
    relay.advance(WINDOW_MS);
    expect(statuses(await ask(relay, secret, 40))).toEqual({ 200: 40 });
  });

  test("all keys of a platform are counted on all instances together", HEAVY, async () => {
    const relay = await aRelay({ settings });
    const second = await aRelay({ sameDeploymentAs: relay, settings });
    const application = await anApplication(relay);
    const keys = [application.key];
    for (let index = 0; index < 4; index += 1) keys.push((await aKey(relay, application)).secret);
    let served = 4;
    for (let index = 0; index < 150; index += 1) {
      const on = index % 2 === 0 ? relay : second;
      const answer = await on.call("GET", "/v1/me", { key: keys[index % 5] ?? "" });
      if (answer.status === 200) served += 1;
    }
    expect(served).toBeGreaterThanOrEqual(100);
    expect(served).toBeLessThanOrEqual(110);
  });

  test("all keys of a platform have at least what one of them may have", async () => {
    const relay = await aRelay({ settings: { ...settings, PLATFORM_RATE_PER_MINUTE: "5" } });
    const { key } = await anApplication(relay);
    expect(statuses(await ask(relay, key, 41))).toEqual({ 200: 40, 429: 1 });
  });
});

describe("other callers", () => {
  test("a user's sessions share 600 requests a minute", HEAVY, async () => {
    const relay = await aRelay();
    const { session, email } = await aPlatform(relay);
    const logIn = { body: { email, password: "a password of some length" } };
    const second = (await relay.call("POST", "/v1/auth/login", logIn)).body.data.token;
    const answers: Answer[] = [];
    for (let round = 0; round < 31; round += 1) {
      const sessions = Array.from({ length: 20 }, (_, index) => (index % 2 ? session : second));
      const asked = sessions.map((token) => relay.call("GET", "/v1/me", { session: token }));
      answers.push(...(await Promise.all(asked)));
    }
    expect(statuses(answers)).toEqual({ 200: 600, 429: 20 });
  });

  test("an operator gets 120 requests a minute", async () => {
    const relay = await aRelay();
    const answers: Answer[] = [];
    for (let index = 0; index < 130; index += 1)
      answers.push(await relay.call("GET", "/v1/admin/platforms", { operator: ["Operator"] }));
    expect(statuses(answers)).toEqual({ 200: 120, 429: 10 });
  });

  test("a raised limit of keys raises theirs", async () => {
    const relay = await aRelay({ settings: { RATE_LIMIT_PER_MINUTE: "1000" } });
    const { session } = await aPlatform(relay);
    const mine = await relay.call("GET", "/v1/me", { session });
    expect(mine.headers.get("ratelimit-limit")).toBe("2000");
    const operator = await relay.call("GET", "/v1/admin/platforms", { operator: ["Admin"] });
    expect(operator.headers.get("ratelimit-limit")).toBe("400");
  });

  test("a lowered limit is meant for keys alone", async () => {
    const relay = await aRelay({ settings: { RATE_LIMIT_PER_MINUTE: "5" } });
    const { key, platform } = await anApplication(relay);
    expect(statuses(await ask(relay, key, 8))).toEqual({ 200: 5, 429: 3 });
    const mine = await relay.call("GET", "/v1/me", { session: platform.session });
    expect(mine.headers.get("ratelimit-limit")).toBe("600");
  });

  test.each([
    ["health", "GET", "/health"],
    ["readiness", "GET", "/ready"],
    ["the hosted page", "GET", "/v1/connect/ui?session=cns_0"],
    ["a request without a credential", "GET", "/v1/me"],
    ["an unknown path", "GET", "/v1/nothing"],
  ])("%s has no limit of this kind, and no headers of one", async (_name, method, path) => {
    const relay = await aRelay({ settings: { RATE_LIMIT_PER_MINUTE: "1" } });
    const answers = [await relay.call(method, path), await relay.call(method, path)];
    for (const answer of answers) {
      expect(answer.status).not.toBe(429);
      expect(rateHeaders(answer)).toEqual([null, null, null]);
    }
  });
});

describe("wrong credentials", () => {
  let good: string;
  const wrong = `sk_live_${"0".repeat(26)}_${"a".repeat(43)}_000000`;

  const relay = useRelay({ settings: { AUTH_RATE_PER_MINUTE: "30" } });
  beforeAll(async () => {
    good = (await anApplication(relay)).key;
  });

  const from = (address: string, key: string | undefined) =>
    relay.call("GET", "/v1/me", {
      headers: { "x-forwarded-for": address },
      ...(key === undefined ? {} : { key }),
    });

  async function guess(address: string, times: number): Promise<Record<number, number>> {
    const answers: Answer[] = [];
    for (let index = 0; index < times; index += 1) answers.push(await from(address, wrong));
    return statuses(answers);
  }

  test("wrong credentials are refused unseen after 60 a minute from one address, and no other", async () => {
    expect(await guess("203.0.113.1", 70)).toEqual({ 401: 60, 429: 10 });
    const refused = await from("203.0.113.1", wrong);
    expect(refused.body.error.code).toBe("rate_limited");
    expect(rateHeaders(refused)).toEqual([null, null, null]);
    expect(await guess("203.0.113.2", 1)).toEqual({ 401: 1 });
    relay.advance(Number(refused.headers.get("retry-after")) * 1000);
    expect(await guess("203.0.113.1", 1)).toEqual({ 401: 1 });
  });

  test("wrong credentials of the right form are looked at once each, 240 a minute from one address", async () => {
    await guess("203.0.113.8", 60);
    const reads = vi.spyOn(relay.services.tenants.stores.keys, "findWithHash");
    const secrets = Array.from(
      { length: 250 },
      () => newApiKey(newId("key", relay.clock.now())).secret,
    );
    const answers: Answer[] = [];
    for (const secret of secrets) answers.push(await from("203.0.113.8", secret));
    expect(statuses(answers)).toEqual({ 401: 240, 429: 10 });
    for (const secret of secrets.slice(0, 10))
      expect((await from("203.0.113.8", secret)).status).toBe(429);
    expect(reads).toHaveBeenCalledTimes(240);
    reads.mockRestore();
  });

  test("wrong credentials are not what nobody could look at, because storage was away", async () => {
    const reads = vi.spyOn(relay.services.tenants.stores.keys, "findWithHash");
    reads.mockRejectedValue(serviceUnavailable());
    const { secret } = newApiKey(newId("key", relay.clock.now()));
    for (let index = 0; index < 70; index += 1)
      expect((await from("203.0.113.9", secret)).status).toBe(503);
    reads.mockRestore();
    expect((await from("203.0.113.9", secret)).status).toBe(401);
  });

  test("wrong credentials of any kind count: keys, tokens, operators' tokens", async () => {
    const address = { "x-forwarded-for": "203.0.113.3" };
    const unsound = { headers: { ...address, authorization: "Bearer a.b.c" } };
    const answers: Answer[] = [];
    for (let index = 0; index < 30; index += 1) {
      answers.push(await relay.call("GET", "/v1/me", unsound));
      answers.push(await relay.call("GET", "/v1/admin/platforms", unsound));
      answers.push(await relay.call("GET", "/v1/me", { key: wrong, headers: address }));
    }
    expect(statuses(answers)).toEqual({ 401: 60, 429: 30 });
  });

  test("wrong credentials do not lock out a credential that was right before, behind the same address", async () => {
    expect((await from("203.0.113.4", good)).status).toBe(200);
    await guess("203.0.113.4", 70);
    expect((await from("203.0.113.4", good)).status).toBe(200);
  });

  test("wrong credentials do not lock out a good key or session that this process never saw", async () => {
    await guess("203.0.113.10", 70);
    const { secret } = await aKey(relay, await anApplication(relay));
    expect((await from("203.0.113.10", secret)).status).toBe(200);
    expect((await from("203.0.113.10", secret)).status).toBe(200);
    const { session } = await aPlatform(relay);
    const headers = { "x-forwarded-for": "203.0.113.10" };
    expect((await relay.call("GET", "/v1/me", { session, headers })).status).toBe(200);
    expect(await guess("203.0.113.10", 1)).toEqual({ 429: 1 });
  });

  test("wrong credentials do not let a credential through that has been revoked since", async () => {
    const application = await anApplication(relay);
    const { id, secret } = await aKey(relay, application);
    expect((await from("203.0.113.5", secret)).status).toBe(200);
    await guess("203.0.113.5", 70);
    await relay.call("POST", `/v1/keys/${id}/revoke`, { key: application.key });
    expect((await from("203.0.113.5", secret)).status).toBe(401);
    expect((await from("203.0.113.5", secret)).status).toBe(429);
  });

  test("wrong credentials are not what a request without any has", async () => {
    const answers: Answer[] = [];
    for (let index = 0; index < 70; index += 1) answers.push(await from("203.0.113.6", undefined));
    expect(statuses(answers)).toEqual({ 401: 70 });
    expect(await guess("203.0.113.6", 1)).toEqual({ 401: 1 });
  });

  test("count for the address that our proxy saw, whatever else the header says", async () => {
    const answers: Answer[] = [];
    for (let index = 0; index < 70; index += 1)
      answers.push(await from(`198.51.100.${index}, 203.0.113.7:${40_000 + index}`, wrong));
    expect(statuses(answers)).toEqual({ 401: 60, 429: 10 });
  });

  test("count for the network of an IPv6 address", async () => {
    const answers: Answer[] = [];
    for (let index = 0; index < 70; index += 1)
      answers.push(await from(`[2001:db8:1:2::${index.toString(16)}]:443`, wrong));
    expect(statuses(answers)).toEqual({ 401: 60, 429: 10 });
    expect((await from("2001:db8:1:3::1", wrong)).status).toBe(401);
  });

  test("count together where no proxy of ours tells addresses apart", async () => {
    const settings = { TRUSTED_PROXY_HOPS: "0", AUTH_RATE_PER_MINUTE: "30" };
    const local = await startRelay({ sameDeploymentAs: relay, settings });
    const answers: Answer[] = [];
    for (let index = 0; index < 70; index += 1)
      answers.push(
        await local.call("GET", "/v1/me", {
          key: wrong,
          headers: { "x-forwarded-for": `203.0.113.${index}` },
        }),
      );
    expect(statuses(answers)).toEqual({ 401: 60, 429: 10 });
    await local.stop();
  });
});
