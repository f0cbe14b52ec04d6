import { beforeAll, describe, expect, test } from "vitest";
import { chargeTogether } from "../../src/shared/ledger/ledger.ts";
import { anApplication, aPlatform, dataOf, type TestApplication } from "../setup/factories.ts";
import { unique } from "../setup/publisher.ts";
import { useRelay } from "../setup/use-relay.ts";
import { aCharge } from "../setup/a-charge.ts";

let application: TestApplication;

const relay = useRelay();
beforeAll(async () => {
  application = await anApplication(relay);
});

const get = (path: string, key = application.key) => relay.call("GET", path, { key });
const credit = (body: object) =>
  relay.call("POST", "/v1/billing/admin/credit", { operator: ["Admin"], body });

function spend(tokens: number, of: { applicationId?: string; profileId?: string } = {}) {
  const by = { applicationId: application.id, ...of };
  return chargeTogether(relay.services.ledger, application.platform.id, [
    aCharge(unique("spend"), tokens, by),
  ]);
}

describe("a credit", () => {
  test("adds tokens with an entry; the same reference twice adds once", async () => {
    const platform = await aPlatform(relay, { tokens: 0 });
    const body = { platformId: platform.id, tokens: 500, note: "Invoice 7", reference: "inv-7" };
    const first = await credit(body);
    expect(first).toMatchObject({
      status: 201,
      body: {
        data: {
          tokenBalance: 500,
          entry: { type: "credit", operation: "billing.credit", tokens: 500, note: "Invoice 7" },
        },
      },
    });
    const again = await credit(body);
    expect(again.body).toEqual(first.body);
    expect(dataOf(await credit({ ...body, reference: "inv-8" })).tokenBalance).toBe(1_000);
    const at_once = await Promise.all(
      [1, 2, 3, 4, 5].map(() => credit({ ...body, reference: "inv-9" })),
    );
    expect(new Set(at_once.map((answer) => dataOf(answer).tokenBalance))).toEqual(new Set([1_500]));
  });

  test("a credit under a reference that has credited another amount is refused and adds nothing", async () => {
    const platform = await aPlatform(relay, { tokens: 0 });
    const body = { platformId: platform.id, tokens: 50, reference: "inv-1" };
    const { entry } = dataOf(await credit(body));
    expect(await credit({ ...body, tokens: 60 })).toMatchObject({
      status: 409,
      body: { error: { code: "conflict", details: { existingId: entry.id } } },
    });
    expect(dataOf(await credit(body)).tokenBalance).toBe(50);
  });

  test.each([
    [{ tokens: 0 }, "tokens"],
    [{ tokens: 10_000_001 }, "tokens"],
    [{ tokens: 1.5 }, "tokens"],
    [{ tokens: "10" }, "tokens"],
    [{ platformId: "app_x" }, "platformId"],
    [{ reference: "" }, "reference"],
    [{ extra: 1 }, "extra"],
  ])("a credit of %j is refused", async (change, path) => {
    const answer = await credit({ platformId: application.platform.id, tokens: 1, ...change });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.issues[0].path).toBe(path);
  });

  test("a credit to a platform that is not there is not found", async () => {
    const answer = await credit({ platformId: "plt_01KJW4MGA9S2K1PDW2EX703RV9", tokens: 1 });
    expect(answer.status).toBe(404);
  });
});

describe("usage", () => {
  test("lists every entry with the wallet after it, pages and filters", async () => {
    const own = await anApplication(relay);
    application = own;
    for (const tokens of [1, 2, 3]) await spend(tokens);
    const all = dataOf(
      await relay.call("GET", "/v1/billing/usage", { session: own.platform.session }),
    );
    expect(all.map((entry: { tokens: number }) => entry.tokens)).toEqual([-3, -2, -1, 10_000]);
    expect(all[0]).toMatchObject({
      type: "debit",
      balanceAfter: 9_994,
      reservedAfter: 0,
      platform: null,
      applicationId: own.id,
      actor: { kind: "system", id: "test" },
    });
    const first = await get("/v1/billing/usage?limit=2&operation=posts.validate");
    expect(dataOf(first).map((entry: { tokens: number }) => entry.tokens)).toEqual([-3, -2]);
    const { nextCursor } = first.body.page;
    const next = await get(
      `/v1/billing/usage?limit=2&operation=posts.validate&cursor=${nextCursor}`,
    );
    expect(dataOf(next).map((entry: { tokens: number }) => entry.tokens)).toEqual([-1]);
    expect(next.body.page).toMatchObject({ hasMore: false, nextCursor: null });
    expect(dataOf(await get("/v1/billing/usage?to=2020-01-01T00:00:00Z"))).toEqual([]);
    expect((await get("/v1/billing/usage?operation=bribe")).status).toBe(400);
  });

  test("usage of a key shows its own application's entries alone", async () => {
    const other = await anApplication(relay, application.platform);
    await spend(5, { applicationId: other.id });
    const seen = dataOf(await get(`/v1/billing/usage?applicationId=${application.id}`));
    for (const entry of seen) expect(entry.applicationId).toBe(application.id);
    for (const id of [other.id, `app_${"0".repeat(26)}`]) {
      const refused = await get(`/v1/billing/usage?applicationId=${id}`);
      expect([refused.status, refused.body.error.code]).toEqual([403, "application_mismatch"]);
    }
    const theirs = dataOf(await get("/v1/billing/usage", other.key));
    expect(theirs.map((entry: { tokens: number }) => entry.tokens)).toEqual([-5]);
  });

  test("usage with groupBy adds up what changed the balance", async () => {
    const own = await anApplication(relay);
    application = own;
    await spend(3, { profileId: "prf_a" });
    await spend(4, { profileId: "prf_a" });
    await spend(5, { profileId: "prf_b" });
    const { session } = own.platform;
    const totals = async (groupBy: string) =>
      dataOf(await relay.call("GET", `/v1/billing/usage?groupBy=${groupBy}`, { session }));
    expect(await totals("operation")).toEqual([
      { key: "posts.validate", tokens: -12, entries: 3 },
      { key: "billing.credit", tokens: 10_000, entries: 1 },
    ]);
    expect(await totals("profile")).toEqual([
      { key: "prf_b", tokens: -5, entries: 1 },
      { key: "prf_a", tokens: -7, entries: 2 },
      { key: null, tokens: 10_000, entries: 1 },
    ]);
    const day = relay.clock.now().toISOString().slice(0, 10);
    expect(await totals("day")).toEqual([{ key: day, tokens: 9_988, entries: 4 }]);
    expect(await totals("application")).toHaveLength(2);
  });
});

describe("the daily budget", () => {
  test("refuses what would go beyond it, counts what is reserved, and starts again at midnight UTC", async () => {
    const own = await anApplication(relay);
    application = own;
    const set = (dailyTokenBudget: number | null) =>
      relay.call("PATCH", "/v1/billing/limits", { key: own.key, body: { dailyTokenBudget } });
    expect(dataOf(await get("/v1/billing/limits"))).toMatchObject({
      dailyTokenBudget: null,
      updatedAt: null,
    });
    expect(dataOf(await set(10))).toMatchObject({ dailyTokenBudget: 10, usedToday: 0 });
    await spend(8);
    await expect(spend(3)).rejects.toMatchObject({
      code: "daily_budget_reached",
      details: {
        budget: 10,
        used: 8,
        required: 3,
        resetsAt: expect.stringMatching(/T00:00:00.000Z$/),
      },
    });
    await spend(2);
    expect(dataOf(await get("/v1/billing/balance"))).toMatchObject({
      tokenBalance: 9_990,
      dailyTokenBudget: 10,
      usedToday: 10,
    });
    relay.advance(24 * 3_600_000);
    expect(dataOf(await get("/v1/billing/limits")).usedToday).toBe(0);
    await spend(10);
    expect(dataOf(await set(null))).toMatchObject({ dailyTokenBudget: null });
    await spend(10);
  });

  test.each([
    [{}],
    [{ dailyTokenBudget: -1 }],
    [{ dailyTokenBudget: 1.5 }],
    [{ dailyTokenBudget: "9" }],
  ])("the daily budget of %j is refused", async (body) => {
    const answer = await relay.call("PATCH", "/v1/billing/limits", { key: application.key, body });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.issues[0].path).toBe("dailyTokenBudget");
  });
});

test("the rate card names every price of the specification", async () => {
  const { currency, items } = dataOf(await get("/v1/rate-card"));
  expect(currency).toBe("tokens");
  const prices = Object.fromEntries(
    items.map((item: { operation: string; tokens: number }) => [item.operation, item.tokens]),
  );
  expect(prices).toEqual({
    "posts.validate": 1,
    "media.validate": 1,
    publish_leg: 10,
    "posts.retry_leg": 10,
    "posts.schedule": 2,
    "connections.link": 5,
    "webhooks.create": 5,
  });
});
