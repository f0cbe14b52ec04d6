import { describe, expect, test } from "vitest";
import type { ApplicationScope } from "../../src/shared/callers/scope.ts";
import { listingChange } from "../../src/shared/connections/connection-index.ts";
import { connectionKey, toConnectionRow } from "../../src/shared/connections/connection-row.ts";
import { toConnection, type Connection } from "../../src/shared/connections/connection.ts";
import {
  listApplicationConnections,
  ListApplicationConnectionsQuery,
} from "../../src/shared/connections/connections.ts";
import type { NetworkName } from "../../src/shared/networks/networks.ts";
import { idBefore } from "../../src/shared/runtime/ids.ts";
import type { Row, RowWrite } from "../../src/shared/runtime/storage/row.ts";
import { ProfileStore } from "../../src/shared/tenants/profiles/profile-store.ts";
import { ListProfilesQuery } from "../../src/shared/tenants/profiles/schema.ts";
import { listProfiles } from "../../src/shared/tenants/tenants.ts";
import { boundedLinked } from "../setup/bounded.ts";
import { DEMO_APPS } from "../setup/demo-apps.ts";
import { aLinkedAccount } from "../setup/factories.ts";
import { forFile } from "../setup/for-file.ts";
import { IS_LONG } from "../setup/long-check.ts";
import { startRelay } from "../setup/relay.ts";

/** Newer ones are stored whole; of older ones only what lists them, because no call may read more. */
const WHOLE = 300;
const SIZES = [10, 1_000, IS_LONG ? 100_000 : 10_000] as const;
const NOW_MS = Date.parse("2026-03-04T12:00:00Z");

let requests = 0;
const relay = forFile(async () => {
  const started = await startRelay({
    settings: DEMO_APPS,
    tableFault: () => {
      requests += 1;
      return "pass";
    },
  });
  started.storage?.giveWholePages();
  return started;
});

/** Runs a call; answers what it returned, and how many requests it made. */
async function counted<Result>(call: () => Promise<Result>) {
  requests = 0;
  const result = await call();
  return { result, requests };
}

/** The rows that a new profile writes, without writing them. */
async function rowsOfProfile(profile: Parameters<ProfileStore["create"]>[1]): Promise<Row[]> {
  let writes: readonly RowWrite[] = [];
  const view = { accessVersion: "", now: new Date(NOW_MS), row: () => undefined };
  const store = new ProfileStore(relay.tables.core, (_platformId, operation) => {
    const decision = operation.decide(view);
    if (decision.kind !== "write") throw new Error("a new profile was not written");
    ({ writes } = decision);
    return Promise.resolve(decision.answer);
  });
  await store.create("", profile);
  return writes.flatMap((write) => (write.kind === "create" ? [write.row] : []));
}

/** An application with so many profiles, each with an account that is refused or not: the worst for what is read. */
async function accounts(size: number, network: NetworkName) {
  const platformId = `plt_${size}-${network}`;
  const applicationId = `app_${size}-${network}`;
  const rows: Row[] = [];
  for (let count = 0; count < size; count += 1) {
    const at = new Date(NOW_MS - count * 1_000);
    const tail = String(count).padStart(16, "0");
    const profileId = idBefore("profile", at.getTime()) + tail;
    const linking = {
      id: idBefore("connection", at.getTime()) + tail,
      platformId,
      applicationId,
      profileId,
      network,
      linked: boundedLinked(aLinkedAccount(`account ${count}`)),
    };
    const active = toConnection(linking, undefined, at);
    const connection: Connection = { ...active, status: "needs_reauth" };
    for (const write of listingChange(undefined, connection))
      if (write.kind === "create") rows.push(write.row);
    const time = at.toISOString();
    const profile = await rowsOfProfile({
      id: profileId,
      applicationId,
      title: `Shop ${tail}`,
      externalId: `shop-${tail}`,
      metadata: {},
      status: "active",
      createdAt: time,
      updatedAt: time,
    });
    const isWhole = count < WHOLE;
    rows.push(...profile.filter(({ rowKey }) => rowKey.startsWith("FT|") || isWhole));
    if (!isWhole) continue;
    rows.push({ ...toConnectionRow(connection, ""), rowKey: connectionKey(connection) });
  }
  const unique = new Map(rows.map((row) => [row.rowKey, row]));
  // The model keeps keys in order, and adds the last one fastest.
  const ordered = [...unique.values()].sort((left, right) => (left.rowKey < right.rowKey ? -1 : 1));
  await relay.tables.core.putAll(platformId, ordered);
  const caller = { kind: "session", userId: "", platformId, role: "owner" };
  // Safe: the calls use nothing else of it.
  return { platformId, applicationId, caller } as unknown as ApplicationScope;
}

const list = (scope: ApplicationScope, query: object) =>
  counted(() =>
    listApplicationConnections(
      relay.services.connections,
      scope,
      ListApplicationConnectionsQuery().parse(query),
    ),
  );

describe.each(SIZES)("in an application with %i linked accounts", (size) => {
  const scope = forFile(() => accounts(size, "mastodon"));

  test.each<[name: string, query: object, bound: number, items: number]>([
    ["no filter", {}, 51, 25],
    ["no filter and 100 at once", { limit: "100" }, 201, 100],
    ["a network", { platform: "mastodon" }, 51, 25],
    [
      "a network that no account is of, and 100 at once",
      { platform: "bluesky", limit: "100" },
      1,
      0,
    ],
    ["the status attention", { status: "attention" }, 51, 25],
    ["the status attention and 100 at once", { status: "attention", limit: "100" }, 201, 100],
    ["the status needs_reauth", { status: "needs_reauth" }, 51, 25],
    ["the status needs_reauth and 100 at once", { status: "needs_reauth", limit: "100" }, 201, 100],
    ["a status that none has", { status: "active" }, 101, 0],
    ["a status that none has, and 100 at once", { status: "revoked", limit: "100" }, 101, 0],
  ])("a list with %s takes a bounded number of requests", async (_, query, bound, items) => {
    const { result, requests: made } = await list(scope, query);
    expect(result.items).toHaveLength(Math.min(items, size));
    expect(made).toBeLessThanOrEqual(bound);
    expect(made).toBeLessThanOrEqual(1 + 2 * Math.max(size, items));
  });

  test.each<[name: string, query: object, bound: number, items: number]>([
    ["many names", { q: "shop" }, 51, 25],
    ["many names, and 100 at once", { q: "sho", limit: "100" }, 201, 100],
    ["one name", { q: "shop 0000000000000003" }, 3, 1],
    ["one reference", { q: "shop-0000000000000003" }, 3, 1],
    ["a name that no profile has", { q: "shoes" }, 1, 0],
  ])("a search for %s takes a bounded number of requests", async (_, query, bound, items) => {
    const { result, requests: made } = await counted(() =>
      listProfiles(relay.services.tenants, scope, ListProfilesQuery().parse(query)),
    );
    expect(result.items).toHaveLength(Math.min(items, size));
    expect(made).toBeLessThanOrEqual(bound);
  });
});

test("an account with a quota takes one more request", async () => {
  const scope = await accounts(110, "linkedin");
  const some = await list(scope, {});
  expect(some.result.items.every(({ quota }) => quota !== null)).toBe(true);
  expect(some.requests).toBe(1 + 3 * 25);
  const many = await list(scope, { limit: "100" });
  expect(many.requests).toBe(1 + 3 * 100);
});

test("a search through many accounts that don't fit says that there are more, and ends", async () => {
  const scope = await accounts(1_500, "mastodon");
  const first = (await list(scope, { platform: "bluesky" })).result;
  expect(first).toMatchObject({ items: [], nextCursor: expect.any(String) });
  const cursor = first.nextCursor ?? "";
  const second = (await list(scope, { platform: "bluesky", cursor })).result;
  expect(second).toMatchObject({ items: [], nextCursor: null });
});
