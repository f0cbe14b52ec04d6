import { describe, expect, test } from "vitest";
import type { ApplicationScope } from "../../src/shared/callers/scope.ts";
import { indexChange } from "../../src/shared/publishing/post-index.ts";
import { toLegRow, toPostRow } from "../../src/shared/publishing/post-row.ts";
import { legKey, postKey } from "../../src/shared/publishing/post-store.ts";
import { postRefOf, type Post } from "../../src/shared/publishing/post.ts";
import {
  getApplicationPost,
  listApplicationPosts,
  ListApplicationPostsQuery,
  listSchedule,
  ListScheduleQuery,
} from "../../src/shared/publishing/publishing.ts";
import { outcomeRow } from "../../src/shared/events/event.ts";
import { GetStatsQuery } from "../../src/shared/webhooks/schema.ts";
import { getStats } from "../../src/shared/webhooks/webhooks.ts";
import { idBefore } from "../../src/shared/runtime/ids.ts";
import type { Row } from "../../src/shared/runtime/storage/row.ts";
import { draftOf, legOf, postOf } from "../publishing/fixtures.ts";
import { forFile } from "../setup/for-file.ts";
import { IS_LONG } from "../setup/long-check.ts";
import { startRelay } from "../setup/relay.ts";

/** Newer ones are stored whole; of older ones only what lists them, because no call may read more. */
const WHOLE = 300;
/** Statistics read no more events of so many posts than they may in one call. */
const MANY = IS_LONG ? 100_000 : 10_000;
const SIZES = [10, 1_000, MANY] as const;
const NOW_MS = Date.parse("2026-03-04T12:00:00Z");

/** How the requests of a call are bounded: as with ten posts, and with more. `limit` is 25, or 100. */
type Bound = readonly [ten: number, more: number];

let requests = 0;
const relay = forFile(async () => {
  const started = await startRelay({
    tableFault: () => {
      requests += 1;
      return "pass";
    },
  });
  started.storage?.giveWholePages();
  return started;
});

const problem = {
  code: "connection_missing",
  values: {},
  field: null,
  rule: null,
  mediaIndex: null,
  networkCode: null,
} as const;
/** Whether it can be retried depends on the connections of its profile, which are read too. */
const failedLeg = () =>
  legOf({
    state: "failed",
    error: problem,
    reservation: { ...legOf().reservation, state: "none" },
  });

/** An application with so many posts, each of a profile of its own: the worst for what is read of profiles. */
async function posts(size: number, status: "failed" | "scheduled") {
  const id = `${size}-${status}`;
  const scope = { platformId: `plt_${id}`, applicationId: `app_${id}` };
  const made: Post[] = [];
  const rows: Row[] = [];
  for (let count = 0; count < size; count += 1) {
    const at = new Date(NOW_MS - count * 1_000);
    const scheduleAt = new Date(NOW_MS + (count + 1) * 1_000).toISOString();
    const post = postOf({
      ...scope,
      id: idBefore("post", at.getTime()) + String(count).padStart(16, "0"),
      profileId: `prf_${String(count).padStart(6, "0")}`,
      status,
      createdAt: at.toISOString(),
      draft: draftOf({
        networks: ["bluesky"],
        externalId: count % 50 === 0 ? "fiftieth" : null,
        scheduleAt: status === "scheduled" ? scheduleAt : null,
      }),
    });
    const leg = failedLeg();
    const { indexed, writes } = indexChange(undefined, { post, legs: [leg] });
    made.push(post);
    rows.push(...writes.flatMap((write) => (write.kind === "create" ? [write.row] : [])));
    if (count >= WHOLE) continue;
    const ref = postRefOf(post);
    rows.push(toPostRow(postKey(ref), { ...post, indexed }));
    rows.push(toLegRow(legKey(ref, "bluesky"), leg));
  }
  // The model keeps keys in order, and adds the last one fastest.
  rows.sort((left, right) => (left.rowKey < right.rowKey ? -1 : 1));
  await relay.tables.core.putAll(scope.platformId, rows);
  return { scope: scope as ApplicationScope, made };
}

/** Runs a call; answers what it returned, and how many requests it made. */
async function counted<Result>(call: () => Promise<Result>) {
  requests = 0;
  const result = await call();
  return { result, requests };
}

describe.each(SIZES)("in an application with %i posts", (size) => {
  const all = forFile(async () => ({
    failed: await posts(size, "failed"),
    scheduled: await posts(size, "scheduled"),
  }));
  const isTen = size === 10;

  const list = (query: object) =>
    counted(() =>
      listApplicationPosts(
        relay.services.publishing,
        all.failed.scope,
        ListApplicationPostsQuery().parse(query),
      ),
    );

  test.each<[name: string, query: object, bound: Bound, items: number]>([
    ["no filter", {}, [21, 51], 25],
    ["no filter and 100 at once", { limit: "100" }, [21, 201], 100],
    ["a problem", { problem: "any" }, [21, 201], 0],
    ["the status failed", { status: "failed" }, [21, 201], 25],
    ["the status failed and 100 at once", { status: "failed", limit: "100" }, [21, 201], 100],
    ["a status that no post has", { status: "succeeded" }, [21, 201], 0],
    ["a reference", { externalId: "fiftieth" }, [21, 54], 6],
    ["a reference that no post has", { externalId: "unknown" }, [21, 54], 0],
    ["a profile", { profileId: "prf_000003", limit: "100" }, [21, 204], 1],
    ["a network that no post has", { platform: "mastodon", limit: "100" }, [21, 204], 0],
    ["a time", { from: "2026-03-04T00:00:00Z", to: "2026-03-04T12:00:00Z" }, [21, 54], 25],
    ["a reference and a status", { externalId: "fiftieth", status: "failed" }, [21, 204], 6],
  ])(
    "a list of posts with %s takes a bounded number of requests",
    async (_, query, bound, items) => {
      const { result, requests: made } = await list(query);
      expect(made).toBeLessThanOrEqual(bound[isTen ? 0 : 1]);
      if (size === 1_000) expect(result.items).toHaveLength(items);
    },
  );

  test("a post of any profile takes three", async () => {
    const id = all.failed.made[7]?.id ?? "";
    const { result, requests: made } = await counted(() =>
      getApplicationPost(relay.services.publishing, all.failed.scope, id),
    );
    expect(result.id).toBe(id);
    expect(made).toBe(3);
  });

  test.each<[name: string, query: object, bound: Bound]>([
    ["no filter", {}, [21, 51]],
    ["no filter and 100 at once", { limit: "100" }, [21, 201]],
    ["a network that no post has", { platform: "mastodon" }, [21, 54]],
    ["a time", { from: "2026-03-04T12:00:05Z", limit: "100" }, [21, 201]],
  ])("a schedule with %s takes a bounded number of requests", async (_, query, bound) => {
    const { requests: made } = await counted(() =>
      listSchedule(
        relay.services.publishing,
        all.scheduled.scope,
        ListScheduleQuery().parse(query),
      ),
    );
    expect(made).toBeLessThanOrEqual(bound[isTen ? 0 : 1]);
  });
});

describe.each(SIZES)("in an application whose %i posts have ended", (size) => {
  const scope = {
    platformId: `plt_ended-${size}`,
    applicationId: `app_ended-${size}`,
  } as ApplicationScope;
  const types = ["post.processing", "leg.succeeded", "post.succeeded"] as const;

  test("statistics take a bounded number of requests, and three when all is counted", async () => {
    const rows: Row[] = [];
    const now = relay.clock.now().getTime() - 60_000;
    for (let count = 0; count < size * types.length; count += 1) {
      const at = new Date(now - (size * types.length - count));
      const columns = outcomeRow.encode({
        type: types[count % types.length] ?? "post.processing",
        createdAt: at.toISOString(),
        network: "bluesky",
        code: null,
      });
      rows.push({ ...columns, rowKey: `${idBefore("event", at.getTime())}${"0".repeat(16)}` });
    }
    await relay.tables.events.putAll(scope.applicationId, rows);
    const stats = () =>
      counted(() => getStats(relay.services.webhooks, scope, GetStatsQuery().parse({})));
    const first = await stats();
    expect(first.requests).toBeLessThanOrEqual(size === 10 ? 4 : 8);
    const succeeded = first.result.days.reduce((sum, { posts: own }) => sum + own.succeeded, 0);
    expect(succeeded).toBe(size === MANY ? 1_666 : size);
    if (size === MANY) return;
    expect((await stats()).requests).toBe(3);
  });
});

test("a search through many posts that don't fit says that there are more, and ends", async () => {
  const { scope } = await posts(5_000, "failed");
  const query = { externalId: "unknown" };
  const first = await listApplicationPosts(
    relay.services.publishing,
    scope,
    ListApplicationPostsQuery().parse(query),
  );
  expect(first).toMatchObject({ items: [], nextCursor: expect.any(String) });
  const cursor = first.nextCursor ?? "";
  const second = await listApplicationPosts(
    relay.services.publishing,
    scope,
    ListApplicationPostsQuery().parse({ ...query, cursor }),
  );
  expect(second).toMatchObject({ items: [], nextCursor: null });
});
