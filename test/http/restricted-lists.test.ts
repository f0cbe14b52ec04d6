import { beforeAll, describe, expect, test, vi } from "vitest";
import { newId } from "../../src/shared/runtime/ids.ts";
import { NO_ORIGIN } from "../../src/shared/runtime/telemetry/work-context.ts";
import type { LoggedEvent } from "../../src/shared/events/events.ts";
import { firstDelivery } from "../../src/shared/webhooks/deliveries/queue-delivery.ts";
import {
  aKey,
  anApplication,
  aProfile,
  dataOf,
  outcomeOf,
  type TestApplication,
  type TestKey,
  type TestProfile,
} from "../setup/factories.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";

const { relay } = useTwoProcesses();

let application: TestApplication;
let mine: TestProfile;
let other: TestProfile;
let restricted: TestKey;
let webhookId: string;

beforeAll(async () => {
  application = await anApplication(relay);
  [mine, other] = [await aProfile(relay, application), await aProfile(relay, application)];
  const body = { scope: "restricted", allowedProfileIds: [mine.id] };
  restricted = await aKey(relay, application, body);
  const endpoint = { url: "https://hooks.example.com/secret-path" };
  const made = await relay.call("POST", "/v1/webhooks", { key: application.key, body: endpoint });
  webhookId = dataOf(made).id;
});

interface Listed {
  readonly id: string;
  readonly profileId?: string | null;
}

async function pagesOf(path: string, key: string): Promise<Listed[][]> {
  const pages: Listed[][] = [];
  let cursor = "";
  do {
    const answer = await relay.call("GET", `${path}${cursor && `&cursor=${cursor}`}`, { key });
    pages.push(dataOf(answer));
    cursor = answer.body.page.nextCursor ?? "";
  } while (cursor !== "");
  return pages;
}

const list = async (path: string, key = restricted.secret) => (await pagesOf(path, key)).flat();

/** Events of both profiles in turn, and one of neither. */
async function events(count: number, profileIdOf: (index: number) => string | null) {
  const made = Array.from({ length: count }, (_, index): LoggedEvent => {
    const now = relay.clock.now();
    return {
      id: newId("event", now),
      type: "post.succeeded",
      createdAt: now.toISOString(),
      sequence: null,
      applicationId: application.id,
      profileId: profileIdOf(index),
      postId: null,
      data: {},
      origin: NO_ORIGIN,
    };
  });
  await relay.services.webhooks.stores.events.log(made);
  return made;
}

const inTurn = (index: number) => [mine.id, other.id, null][index % 3] ?? null;

describe("a restricted key lists", () => {
  test("a restricted key lists itself alone among the keys, and an app_admin key all", async () => {
    const { body } = await relay.call("GET", "/v1/keys?limit=1", { key: restricted.secret });
    expect(body.data.map(({ id }: Listed) => id)).toEqual([restricted.id]);
    expect(body.page).toMatchObject({ hasMore: false, nextCursor: null });
    const all = await list("/v1/keys?limit=1", application.key);
    expect(all.map(({ id }) => id)).toEqual([restricted.id, application.keyId]);
  });

  test("a restricted key lists its profiles' entries of the ledger, by page, in totals and by any filter", async () => {
    const post = { text: "Priced", platforms: ["bluesky"] };
    for (const { id } of [mine, other, mine, other, mine])
      await relay.call("POST", "/v1/posts/validate", {
        key: application.key,
        headers: { "x-profile-id": id },
        body: post,
      });
    const entries = await list("/v1/billing/usage?limit=2");
    expect(entries.map(({ profileId }) => profileId)).toEqual([mine.id, mine.id, mine.id]);
    expect(await list("/v1/billing/usage?groupBy=profile")).toEqual([
      { key: mine.id, tokens: -3, entries: 3 },
    ]);
    expect(await list("/v1/billing/usage?groupBy=operation")).toHaveLength(1);
    expect(await list(`/v1/billing/usage?profileId=${other.id}`)).toEqual([]);
    expect(await list(`/v1/billing/usage?groupBy=day&profileId=${other.id}`)).toEqual([]);
    const all = await list("/v1/billing/usage?limit=2", application.key);
    expect(new Set(all.map(({ profileId }) => profileId))).toEqual(
      new Set([mine.id, other.id, null]),
    );
  });

  test("a restricted key lists its profiles' events, and gets through a thousand others' page by page", async () => {
    const made = [
      ...(await events(7, inTurn)),
      ...(await events(1_000, () => other.id)),
      ...(await events(3, () => mine.id)),
    ];
    relay.advance(20_000);
    const ids = made.filter(({ profileId }) => profileId === mine.id).map(({ id }) => id);
    const pages = await pagesOf("/v1/events?limit=2", restricted.secret);
    expect(pages.flat().map(({ id }) => id)).toEqual(ids);
    // Bounded work: what a page is picked from.
    expect(pages.length).toBeGreaterThanOrEqual(5);
    const after = await list(`/v1/events?after=${ids[1]}`);
    expect(after.map(({ id }) => id)).toEqual(ids.slice(2));
    const all = await list("/v1/events?limit=100", application.key);
    expect(all.filter(({ profileId }) => profileId === other.id).length).toBeGreaterThan(1_000);
  });

  test("a restricted key lists events in one read each, however many there are", async () => {
    const reads = vi.spyOn(relay.services.webhooks.stores.events, "listAfter");
    await relay.call("GET", "/v1/events?limit=100", { key: restricted.secret });
    expect(reads).toHaveBeenCalledTimes(1);
    reads.mockRestore();
  });

  test("a restricted key lists the deliveries about its profiles", async () => {
    const { platform } = application;
    const endpoint = await relay.services.webhooks.stores.endpoints.find(platform.id, webhookId);
    if (endpoint === undefined) throw new Error("no endpoint");
    const now = relay.clock.now();
    const made = (await events(9, inTurn)).map((event) => firstDelivery(event, endpoint, now));
    await relay.services.webhooks.stores.pending.insertAbsent(webhookId, made);
    const path = `/v1/webhooks/${webhookId}/deliveries?limit=2`;
    const own = made.filter(({ profileId }) => profileId === mine.id).map(({ id }) => id);
    expect((await list(path)).map(({ id }) => id).toSorted()).toEqual(own.toSorted());
    expect(await list(path, application.key)).toHaveLength(9);
    expect(await list(`${path}&status=dead`)).toEqual([]);
  });

  test("a restricted key lists endpoints without their addresses and hints", async () => {
    const [shown] = dataOf(await relay.call("GET", "/v1/webhooks", { key: restricted.secret }));
    expect(shown).toMatchObject({ id: webhookId, url: null, secretHint: null, status: "active" });
    const [whole] = dataOf(await relay.call("GET", "/v1/webhooks", { key: application.key }));
    expect(whole.url).toBe("https://hooks.example.com/secret-path");
    expect(whole.secretHint).toMatch(/^whsec_/);
  });

  test("a restricted key lists of the audit what is about its profiles and what it did itself", async () => {
    for (const { id } of [mine, other])
      await relay.call("PATCH", `/v1/profiles/${id}`, {
        key: application.key,
        body: { title: "New" },
      });
    await relay.call("POST", "/v1/keys", { key: restricted.secret, body: {} });
    const seen = dataOf(await relay.call("GET", "/v1/audit?limit=100", { key: restricted.secret }));
    const targets = seen.map(({ action, target }: { action: string; target: Listed | null }) => [
      action,
      target?.id ?? null,
    ]);
    expect(targets).toEqual([
      ["access.app_admin_required", null],
      ["profile.updated", mine.id],
      ["profile.created", mine.id],
    ]);
  });

  test("no more with a grant, which opens its profile alone", async () => {
    const minted = await relay.call("POST", "/v1/profile-grants", {
      key: application.key,
      body: { profileId: other.id },
    });
    const headers = { "x-profile-grant": dataOf(minted).token };
    const call = { key: restricted.secret, headers };
    expect(outcomeOf(await relay.call("GET", `/v1/profiles/${other.id}`, call))).toBe("200");
    const usage = dataOf(await relay.call("GET", "/v1/billing/usage?limit=100", call));
    expect(usage.map(({ profileId }: Listed) => profileId)).not.toContain(other.id);
  });

  test("nothing where it has no profile", async () => {
    const { secret } = await aKey(relay, application, { scope: "restricted" });
    for (const path of [
      "/v1/events?limit=100",
      "/v1/billing/usage?limit=100",
      "/v1/audit?limit=100",
    ])
      expect(await list(path, secret)).toEqual([]);
    expect(await list("/v1/billing/usage?groupBy=day", secret)).toEqual([]);
  });

  test("a restricted key lists by its own cursors alone", async () => {
    const { body } = await relay.call("GET", "/v1/billing/usage?limit=1", { key: application.key });
    const path = `/v1/billing/usage?limit=1&cursor=${body.page.nextCursor}`;
    expect(outcomeOf(await relay.call("GET", path, { key: restricted.secret }))).toBe(
      "400 invalid_cursor",
    );
  });

  test("a restricted key sees the balance and itself as before", async () => {
    for (const path of ["/v1/me", "/v1/billing/balance", "/v1/billing/limits", "/v1/rate-card"])
      expect(outcomeOf(await relay.call("GET", path, { key: restricted.secret }))).toBe("200");
  });
});

test("totals are refused where there are too many of them, before all are read", async () => {
  const day = "2030-01-01";
  const total = [null, null, "posts.validate", -1, 1, 1] as const;
  let pages = 0;
  const read = vi
    .spyOn(relay.services.ledger.stores.ledger, "totals")
    .mockImplementation(async function* () {
      for (;;) {
        pages += 1;
        yield [{ day, totals: Array.from({ length: 1_000 }, () => total) }];
      }
    });
  const { body } = await relay.call("GET", "/v1/billing/usage?groupBy=day", {
    key: restricted.secret,
  });
  expect(body.error.details.issues[0]).toMatchObject({ path: "from", code: "range_too_large" });
  expect(pages).toBe(101);
  read.mockRestore();
});
