import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { aPlatform, dataOf, outcomeOf, PASSWORD, type TestPlatform } from "../setup/factories.ts";
import { serviceUnavailable } from "../../src/shared/runtime/errors.ts";
import { startRelay, type Answer, type Relay } from "../setup/relay.ts";

let relay: Relay;
let owner: TestPlatform;
let deviceToken: string;

const call = (path: string, ip: string, body: object) =>
  relay.call("POST", path, { headers: { "x-forwarded-for": ip }, body });

const logIn = (email: string, ip: string, more: object = {}) =>
  call("/v1/auth/login", ip, { email, password: PASSWORD, ...more });

const unknownEmail = () => `nobody-${randomBytes(8).toString("hex")}@example.com`;
const isRefused = ({ status }: Answer) => status === 503;

beforeAll(async () => {
  relay = await startRelay({ boundsCostlyWork: true, settings: { BCRYPT_COST: "9" } });
  owner = await aPlatform(relay, { tokens: 0 });
  deviceToken = dataOf(await logIn(owner.email, "203.0.113.1")).deviceToken;
});
afterAll(() => relay.stop());

describe("logins of strangers from many networks at once", () => {
  // Three of a network are within its own limit, so what is refused exceeds that of all together.
  const flood = (emailOf: () => string) =>
    Array.from({ length: 240 }, (_, index) => logIn(emailOf(), `198.51.${index % 80}.${index}`));

  test("are checked for a few, and refused immediately for the others, who hear when to try again", async () => {
    const before = relay.logLines.length;
    const answers = await Promise.all(flood(unknownEmail));
    const refused = answers.filter(isRefused);
    expect(refused.length).toBeGreaterThan(180);
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThan(0);
    for (const { headers, body } of refused) {
      expect(headers.get("retry-after")).toBe("5");
      expect(body.error.code).toBe("service_unavailable");
    }
    relay.services.background.work.metrics.flush();
    const lines = relay.logLines.slice(before).map((line) => JSON.parse(line));
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
    const warnings = lines.filter(({ message }) => message === "too much costly work waits");
    expect(warnings).toHaveLength(refused.length);
    expect(warnings.every(({ level, stack }) => level === "warn" && stack === undefined)).toBe(
      true,
    );
    const metrics = lines.filter(({ metric }) => metric === "requests.overloaded");
    expect(metrics).toMatchObject([{ caller: "stranger", count: refused.length }]);
  });

  test("logins of strangers read no storage when they are refused, and no reader waits for them", async () => {
    const reads = vi.spyOn(relay.services.people.stores.emails, "find");
    const answers = await Promise.all(flood(unknownEmail));
    const checked = answers.length - answers.filter(isRefused).length;
    expect(reads.mock.calls.length).toBeLessThanOrEqual(checked);
    reads.mockRestore();
  });

  test("logins of strangers keep out neither a known device nor who has a reset link", async () => {
    const flooded = flood(unknownEmail);
    const own = await logIn(owner.email, "203.0.113.1", { deviceToken });
    const link = await relay.call(
      "POST",
      `/v1/admin/platforms/${owner.id}/users/${owner.userId}/reset-link`,
      { operator: ["Admin"], body: {} },
    );
    const token = new URL(dataOf(link).url).searchParams.get("token");
    const body = { token, newPassword: "another and longer password" };
    const reset = await call("/v1/auth/reset/confirm", "203.0.113.1", body);
    const refused = (await Promise.all(flooded)).filter(isRefused);
    expect([outcomeOf(own), outcomeOf(reset)]).toEqual(["200", "200"]);
    expect(refused.length).toBeGreaterThan(0);
  });

  test("are an overload in the log where a page answers too, which a fault of the storage is not", async () => {
    const link = await relay.call(
      "POST",
      `/v1/admin/platforms/${owner.id}/users/${owner.userId}/reset-link`,
      { operator: ["Admin"], body: {} },
    );
    const token = new URL(dataOf(link).url).searchParams.get("token") ?? "";
    const before = relay.logLines.length;
    const post = (index: number) =>
      relay.call("POST", "/v1/auth/ui/reset", {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        rawBody: new URLSearchParams({ token, password: `copper lantern ${index} fir` }).toString(),
      });
    const statuses = (await Promise.all(Array.from({ length: 9 }, (_, at) => post(at)))).map(
      ({ status }) => status,
    );
    const find = vi.spyOn(relay.services.people.stores.links, "find");
    find.mockRejectedValueOnce(serviceUnavailable());
    const failed = await relay.call("GET", `/v1/auth/ui/reset?token=${token}`);
    find.mockRestore();
    const overloads = statuses.filter((status) => status === 503).length;
    expect(overloads).toBeGreaterThan(0);
    expect(failed.status).toBe(503);
    const lines = relay.logLines.slice(before).map((line) => JSON.parse(line));
    const ends = lines.filter(({ message, status }) => message === "request" && status === 503);
    expect(ends.map(({ refusal, isOverload }) => [refusal, isOverload])).toEqual([
      ...Array.from({ length: overloads }, () => ["service_unavailable", true]),
      ["service_unavailable", undefined],
    ]);
    expect(lines.filter(({ level }) => level === "error")).toMatchObject([
      { message: "request failed" },
    ]);
  });

  test("are refused alike for an email that has an account and for one that has none", async () => {
    const other = await aPlatform(relay, { tokens: 0 });
    let index = 0;
    const answers = await Promise.all(
      flood(() => ((index += 1) % 2 === 0 ? other.email : unknownEmail())),
    );
    const refusedOf = (rest: number) =>
      answers.filter((answer, at) => (at + 1) % 2 === rest && isRefused(answer));
    const [known] = refusedOf(0);
    const [unknown] = refusedOf(1);
    const { requestId: _, ...error } = known?.body.error ?? {};
    expect(unknown?.body.error).toMatchObject(error);
    expect(refusedOf(0).length).toBeGreaterThan(90);
    expect(refusedOf(1).length).toBeGreaterThan(90);
  });
});

describe("a new password", () => {
  const WEAK = "password1234";

  async function turnsOf(work: () => Promise<Answer>): Promise<readonly [string, number]> {
    const turns = vi.spyOn(relay.services.people.secrets.passwords, "inTurn");
    const answer = await work();
    const count = turns.mock.calls.length;
    turns.mockRestore();
    return [outcomeOf(answer), count];
  }

  test.each([
    [
      "a link that is none",
      "/v1/auth/reset/confirm",
      { token: "x", newPassword: WEAK },
      "invalid_link",
    ],
    [
      "a damaged body",
      "/v1/auth/reset/confirm",
      { token: 5, newPassword: WEAK },
      "validation_failed",
    ],
    [
      "an invitation that is none",
      "/v1/auth/invitations/accept",
      { token: "x", password: WEAK },
      "invalid_link",
    ],
    [
      "a sign-up without a name",
      "/v1/auth/signup",
      { email: "a@example.com", password: WEAK, platformName: "" },
      "validation_failed",
    ],
  ])("is neither rated nor hashed with %s", async (_name, path, body, code) => {
    expect(await turnsOf(() => call(path, "203.0.113.9", body))).toEqual([`400 ${code}`, 0]);
  });

  test("is neither rated nor hashed for an email that is taken", async () => {
    const body = { email: owner.email, password: WEAK, platformName: "Example" };
    expect(await turnsOf(() => call("/v1/auth/signup", "203.0.113.9", body))).toEqual([
      "409 conflict",
      0,
    ]);
  });
});
