import { afterEach, describe, expect, test } from "vitest";
import { STRICT_HOST } from "../../sandbox/mastodon/state.ts";
import { freshCredentials } from "../../src/shared/connections/fresh-credentials.ts";
import type { Tables } from "../../src/shared/runtime/storage/tables.ts";
import { enabledTotp, type Authenticator } from "../setup/authenticator.ts";
import { dataOf, PASSWORD } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { storedRows } from "../setup/stored-rows.ts";
import { aLinkedOwner, openWholeWorld } from "./accounts.ts";
import { checkAccounts } from "../setup/walks.ts";
import { connectionOf } from "../setup/stored.ts";
import { forTest } from "../setup/for-file.ts";

const key = (byte: number) => Buffer.alloc(32, byte).toString("base64");
const OLD = { spring: key(1) };
const BOTH = { summer: key(2), ...OLD };
const NEW = { summer: key(2) };

const instances: Relay[] = [];
const world = forTest(() => openWholeWorld({ DATA_KEYS: JSON.stringify(OLD) }));
afterEach(async () => {
  for (const instance of instances.splice(0)) await instance.stop();
});

/** An instance of the deployment after its settings were changed. */
async function withKeys(keys: Readonly<Record<string, string>>): Promise<Relay> {
  const instance = await startRelay({
    sameDeploymentAs: world.relay,
    settings: { DATA_KEYS: JSON.stringify(keys) },
  });
  instances.push(instance);
  return instance;
}

interface Sealed {
  readonly owners: Awaited<ReturnType<typeof aLinkedOwner>>[];
  readonly endpointId: string;
  readonly secrets: readonly string[];
  readonly app: Authenticator;
}

/** Something of everything that is stored sealed. */
async function sealSomething(): Promise<Sealed> {
  const { relay } = world;
  const owners = [await aLinkedOwner(world, "mastodon"), await aLinkedOwner(world, "bluesky")];
  const [{ owner } = { owner: undefined }] = owners;
  if (owner === undefined) throw new Error("nobody is there");
  const body = { url: "https://hooks.example.com/hook" };
  const made = dataOf(await relay.call("POST", "/v1/webhooks", { key: owner.key, body }));
  const path = `/v1/webhooks/${made.id}/rotate-secret`;
  const rotated = dataOf(await relay.call("POST", path, { key: owner.key }));
  const app = await enabledTotp(relay, owner.application.platform.session);
  return { owners, endpointId: made.id, secrets: [rotated.secret, made.secret], app };
}

/** Everything that was sealed is of use to a process with these keys. */
async function expectOpen(relay: Relay, { owners, endpointId, secrets, app }: Sealed) {
  const { services } = relay;
  for (const { owner, connection } of owners) {
    const now = await connectionOf(world.services, owner, connection.network);
    expect(await freshCredentials(services.connections, now)).toMatchObject({ kind: "usable" });
  }
  const [{ owner } = { owner: undefined }] = owners;
  const platform = owner?.application.platform;
  const opened = await services.webhooks.stores.endpoints.open(
    platform?.id ?? "",
    endpointId,
    services.clock.now(),
  );
  expect(opened?.secrets).toEqual(secrets);
  expect(await services.connections.stores.hosts.find("mastodon", STRICT_HOST)).toMatchObject({
    clientSecret: expect.any(String),
  });
  const body = { email: platform?.email, password: PASSWORD, totpCode: app.code() };
  expect((await relay.call("POST", "/v1/auth/login", { body })).status).toBe(200);
}

const sealedWith = async (id: string) =>
  (await storedRows(world.relay)).filter(({ text }) => text.includes(`"v1.${id}.`)).length;

describe("a rotation of data keys", () => {
  test("seals everything with the new key, so that the old one can go", async () => {
    const sealed = await sealSomething();
    const before = await sealedWith("spring");
    // Two connections, a webhook, a user, and the registration with a server.
    expect(before).toBeGreaterThanOrEqual(5);
    const rotating = await withKeys(BOTH);
    await checkAccounts(rotating.services);
    expect(await sealedWith("spring")).toBe(0);
    expect(await sealedWith("summer")).toBe(before);
    const report = rotating.logLines.find((line) => line.includes("sealed texts by data key"));
    expect(JSON.parse(report ?? "{}")).toMatchObject({
      dataKeys: [{ id: "summer", texts: expect.any(Number) }],
    });
    await expectOpen(await withKeys(NEW), sealed);
  });

  test("keeps the columns that a later build has written to what it seals again", async () => {
    const { relay } = world;
    await sealSomething();
    const isSealed = ({ text }: { text: string }) => /"v1\.(spring|summer)\./.test(text);
    const before = (await storedRows(relay)).filter(isSealed);
    for (const { table, partitionKey, rowKey } of before)
      await relay.tables[table as keyof Tables].putProperties(partitionKey, {
        rowKey,
        later: "kept",
      });
    await checkAccounts((await withKeys(BOTH)).services);
    expect(await sealedWith("spring")).toBe(0);
    const after = (await storedRows(relay)).filter(isSealed);
    expect(after.length).toBe(before.length);
    const without = after.filter(({ text }) => !text.includes('"later":"kept"'));
    expect(without.map(({ table, rowKey }) => `${table} ${rowKey}`)).toEqual([]);
  });

  test("before the round is over the old key is still needed, and the report says so", async () => {
    const { owners } = await sealSomething();
    const early = await withKeys(NEW);
    const [first] = owners;
    if (first === undefined) throw new Error("nobody is there");
    expect(
      await early.services.connections.stores.connections.openCredentials(first.connection),
    ).toBeUndefined();
    // What is sealed with a key that is not there can't be sealed again: it stays on the report.
    const wrong = await withKeys({ summer: key(2), autumn: key(3) });
    await checkAccounts(wrong.services);
    const report = wrong.logLines.find((line) => line.includes("sealed texts by data key"));
    expect(JSON.parse(report ?? "{}").dataKeys).toContainEqual({
      id: "spring",
      texts: expect.any(Number),
    });
  });

  test("says in the log whose credentials do not open without it", async () => {
    const { owners } = await sealSomething();
    const early = await withKeys(NEW);
    const [first] = owners;
    if (first === undefined) throw new Error("nobody is there");
    expect(await freshCredentials(early.services.connections, first.connection)).toMatchObject({
      failure: { code: "connection_needs_reauth" },
    });
    const lines = early.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: "error",
        message: "credentials do not open: their data key is gone",
        connection: first.connection.id,
      }),
    );
  });

  test("a rotation of data keys does not undo what is stored at the same time", async () => {
    const { owner, connection } = await aLinkedOwner(world, "bluesky");
    // The new key comes last at first, so that every instance opens it before any seals with it.
    const earlier = await withKeys({ ...OLD, ...NEW });
    const rotating = await withKeys(BOTH);
    world.relay.advance(3 * 3_600_000);
    const [fresh] = await Promise.all([
      freshCredentials(earlier.services.connections, connection),
      ...[1, 2, 3, 4].map(() =>
        rotating.services.connections.stores.accountChecks.reseal({ ...owner, network: "bluesky" }),
      ),
    ]);
    await rotating.services.connections.stores.accountChecks.reseal({
      ...owner,
      network: "bluesky",
    });
    if (fresh.kind !== "usable") throw new Error("not renewed");
    const now = await connectionOf(world.services, owner, "bluesky");
    expect(now.generation).toBe(connection.generation + 1);
    expect(await rotating.services.connections.stores.connections.openCredentials(now)).toEqual(
      fresh.credentials,
    );
  });

  test("costs nothing while there is one key alone", async () => {
    await sealSomething();
    await checkAccounts(world.services);
    expect(world.relay.logLines.join("\n")).not.toContain("sealed texts by data key");
    expect(await sealedWith("summer")).toBe(0);
  });
});
