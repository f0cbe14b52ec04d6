import { bounded } from "../setup/bounded.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { connectionKey } from "../../src/shared/connections/connection-row.ts";
import type { LinkingFields } from "../../src/shared/connections/connection.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { createLog } from "../../src/shared/runtime/log.ts";
import { linkedCount } from "../setup/factories.ts";
import { useRelay } from "../setup/use-relay.ts";

let linking: LinkingFields;

const relay = useRelay();
beforeEach(() => {
  const now = relay.clock.now();
  linking = {
    id: newId("connection", now),
    platformId: newId("platform", now),
    applicationId: newId("application", now),
    profileId: newId("profile", now),
    network: "mastodon",
    linked: {
      account: {
        id: "a.test/1",
        username: "alice",
        displayName: "Alice",
        avatarUrl: null,
        url: "https://a.test/@alice",
        kind: "person",
      },
      credentials: bounded({ accessToken: "a-secret-token" }),
      instanceUrl: "https://a.test",
      scopes: ["write:statuses"],
      limits: bounded({ charactersMax: 500 }),
      expiresAt: null,
    },
  };
});

const store = () => relay.services.connections.stores.connections;
const table = () => relay.tables.core;
const place = (network: "mastodon" | "bluesky" = "mastodon") => ({ ...linking, network });
const save = async (change: Partial<LinkingFields> = {}) =>
  (await store().saveLinked({ ...linking, ...change })).connection;
const withAccount = (id: string): LinkingFields["linked"] => ({
  ...linking.linked,
  account: { ...linking.linked.account, id },
});

describe("what is stored", () => {
  test("comes back as it was, with secrets sealed", async () => {
    const connection = await save();
    expect(await store().find(place())).toEqual(connection);
    expect(await store().openCredentials(connection)).toEqual(linking.linked.credentials);
    const row = (await table().find(linking.platformId, connectionKey(linking)))?.row;
    expect(JSON.stringify(row)).toContain("v1.development.");
    expect(JSON.stringify(row)).not.toContain("a-secret-token");
  });

  test("secrets that were copied to another profile's row don't open there", async () => {
    await save();
    const stored = await table().find(linking.platformId, connectionKey(linking));
    const thief = { ...place(), profileId: newId("profile", relay.clock.now()) };
    const row = { ...stored?.row, rowKey: connectionKey(thief) };
    await table().put(linking.platformId, row);
    const opened = await store().open(thief);
    expect(opened?.connection.account.username).toBe("alice");
    expect(opened?.credentials).toBeUndefined();
  });

  test("shorter secrets leave nothing of longer ones behind", async () => {
    const long = { accessToken: "x".repeat(90_000) };
    await save({ linked: { ...linking.linked, credentials: bounded(long) } });
    const connection = await save();
    const refreshed = await store().saveRefreshed(connection, {
      credentials: bounded({ accessToken: "short" }),
      expiresAt: null,
    });
    expect(await store().openCredentials(refreshed ?? connection)).toEqual({
      accessToken: "short",
    });
  });
});

describe("linking", () => {
  test("the same account keeps its age, another one starts again, both raise the generation", async () => {
    const first = await save();
    relay.advance(1000);
    const again = await save();
    const other = await save({
      id: newId("connection", relay.clock.now()),
      linked: withAccount("a.test/2"),
    });
    expect([again.createdAt, again.generation]).toEqual([first.createdAt, first.generation + 1]);
    expect(other.createdAt > first.createdAt).toBe(true);
    expect(other.generation).toBe(again.generation + 1);
  });

  test("ten at once leave one connection that opens", async () => {
    const linked = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        save({ linked: { ...linking.linked, credentials: bounded({ accessToken: `t${index}` }) } }),
      ),
    );
    const [connection, ...more] = await store().listOfProfile(linking);
    expect(more).toEqual([]);
    expect(connection?.generation).toBe(10);
    expect(new Set(linked.map(({ generation }) => generation)).size).toBe(10);
    const credentials = connection && (await store().openCredentials(connection));
    expect(credentials?.["accessToken"]).toMatch(/^t\d$/);
  });

  test("connections are counted by platform, those linked again once, removed ones not", async () => {
    const { platformId } = linking;
    await save();
    await save();
    const bluesky = { ...place("bluesky"), id: newId("connection", relay.clock.now()) };
    await save(bluesky);
    const profileId = newId("profile", relay.clock.now());
    await save({ profileId, id: newId("connection", relay.clock.now()) });
    expect(await linkedCount(relay, platformId)).toBe(3);
    await store().revoke(bluesky);
    expect(await linkedCount(relay, platformId)).toBe(2);
    const revoked = await store().find(place("bluesky"));
    if (revoked === undefined) throw new Error("a revoked connection has no row");
    await store().remove(revoked);
    expect(await linkedCount(relay, platformId)).toBe(2);
    expect(await linkedCount(relay, newId("platform", relay.clock.now()))).toBe(0);
  });

  test("an account counts as linked until the last profile that has it lets go", async () => {
    const id = `a.test/${newId("request", relay.clock.now())}`;
    const profiles = [linking.profileId, newId("profile", relay.clock.now())];
    const linked = withAccount(id);
    const ids = profiles.map(() => newId("connection", relay.clock.now()));
    for (const [index, profileId] of profiles.entries())
      await save({ profileId, id: ids[index] ?? "", linked });
    await store().revoke({ ...place(), profileId: profiles[0] ?? "", id: ids[0] ?? "" });
    expect(await store().isLinked("mastodon", id)).toBe(true);
    const other = newId("connection", relay.clock.now());
    await save({ profileId: profiles[1] ?? "", id: other, linked: withAccount(`${id}-other`) });
    expect(await store().isLinked("mastodon", id)).toBe(false);
  });
});

describe("marking", () => {
  const failure = { code: "connection_needs_reauth", networkCode: null } as const;
  const mark = async (generation: number) => {
    const linked = await store().find(place());
    return linked !== undefined && (await store().mark({ ...linked, generation }, failure));
  };

  test("one of several who mark a connection is told that it did", async () => {
    const { generation } = await save();
    const marked = await Promise.all([1, 2, 3, 4].map(() => mark(generation)));
    expect(marked.filter(Boolean)).toHaveLength(1);
    expect(await store().find(place())).toMatchObject({
      status: "needs_reauth",
      lastError: { code: "connection_needs_reauth" },
    });
  });

  test("a failure of older credentials marks nothing", async () => {
    const { generation } = await save();
    await save();
    expect(await mark(generation)).toBe(false);
    expect((await store().find(place()))?.status).toBe("active");
  });

  test("linking again makes a marked account active", async () => {
    const { generation } = await save();
    await mark(generation);
    expect(await save()).toMatchObject({ status: "active", lastError: null });
  });

  test("use is recorded to the minute and brings no removed connection back", async () => {
    const connection = await save();
    const find = async () => (await store().find(place()))?.lastUsedAt;
    await store().recordUse(connection);
    const first = await find();
    expect(first).not.toBeNull();
    await store().recordUse(connection);
    expect(await find()).toBe(first);
    relay.advance(60_000);
    await store().recordUse(connection);
    expect(Date.parse((await find()) ?? "") - Date.parse(first ?? "")).toBeGreaterThanOrEqual(
      60_000,
    );
  });
});

test("facts about a host are sealed, and found by their host and network alone", async () => {
  const { hosts } = relay.services.connections.stores;
  await hosts.save("mastodon", "a.test", { clientSecret: "b-secret" });
  expect(await hosts.find("mastodon", "a.test")).toEqual({ clientSecret: "b-secret" });
  expect(await hosts.find("mastodon", "b.test")).toBeUndefined();
  expect(await hosts.find("bluesky", "a.test")).toBeUndefined();
});

test("a connection in the log shows no token", () => {
  const lines: string[] = [];
  const log = createLog({ level: "debug", sink: (_level, line) => lines.push(line) });
  log.info("linked", { linked: linking.linked });
  expect(lines.join()).not.toContain("a-secret-token");
});
