import { expect, test } from "vitest";
import type { Row } from "../../src/shared/runtime/storage/row.ts";
import { newErasure } from "../../src/shared/erasure/erasure-stages.ts";
import {
  anApplication,
  aPlatform,
  dataOf,
  PASSWORD,
  type TestPlatform,
} from "../setup/factories.ts";
import { findForgottenWork, purgeExpired } from "../setup/walks.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();

const tenants = () => relay.tables.core;

async function rowOf({ id }: TestPlatform, prefix: string): Promise<Row> {
  const range = { partitionKey: id, from: prefix, before: `${prefix}~`, limit: 1 };
  const [stored] = await tenants().list(range);
  if (stored === undefined) throw new Error(`there is no row ${prefix}`);
  return stored.row;
}

/** Puts a number where the row has text. */
async function damage(platform: TestPlatform, prefix: string, column: string): Promise<void> {
  const { rowKey } = await rowOf(platform, prefix);
  await tenants().putProperties(platform.id, { rowKey, [column]: 1 });
}

test("a platform whose row is damaged is refused and not listed, and walks visit and count it", async () => {
  const [broken, sound] = [await aPlatform(relay), await aPlatform(relay)];
  await damage(broken, "P", "name");
  expect((await relay.call("GET", "/v1/me", { session: broken.session })).status).toBe(500);
  expect((await relay.call("GET", "/v1/me", { session: sound.session })).status).toBe(200);

  const { platforms } = relay.services.tenants.stores;
  const listed = await platforms.list(undefined, 1_000);
  const walked = await platforms.listIds(undefined, 1_000);
  const listedIds = listed.items.map(({ id }) => id);
  expect(listedIds).toContain(sound.id);
  expect(listedIds).not.toContain(broken.id);
  const walkedIds = walked.items.map(({ id }) => id);
  expect(walkedIds).toEqual(expect.arrayContaining([sound.id, broken.id]));
  await findForgottenWork(relay.services);
  const lines = relay.logLines.filter((text) => text.includes("find-forgotten-work"));
  expect(lines).toEqual([expect.stringContaining('"damagedPlatforms":1')]);
});

test("an application whose row is damaged can't be read, lists leave it out, and it stops no purge", async () => {
  const platform = await aPlatform(relay);
  const [broken, sound] = [
    await anApplication(relay, platform),
    await anApplication(relay, platform),
  ];
  const rowKey = (await tenants().list({ partitionKey: platform.id, limit: 100 }))
    .map(({ row }) => row.rowKey)
    .find((key) => key.startsWith("A|") && key.endsWith(broken.id));
  await tenants().putProperties(platform.id, { rowKey: rowKey ?? "", name: 1 });
  const { session } = platform;
  const read = (id: string) => relay.call("GET", `/v1/applications/${id}`, { session });
  expect((await read(broken.id)).status).toBe(500);
  expect((await read(sound.id)).status).toBe(200);
  const listed = dataOf(await relay.call("GET", "/v1/applications", { session }));
  expect(listed.map(({ id }: { id: string }) => id)).toEqual([sound.id]);
  const ids = await relay.services.tenants.stores.applications.listIds(platform.id);
  expect(ids).toHaveLength(2);

  await purgeExpired(relay.services);
  expect(relay.logLines.filter((line) => line.includes("a walk failed"))).toEqual([]);
  expect(relay.logLines.filter((line) => line.includes("an item of a walk failed"))).toEqual([]);
});

test("a user whose row is damaged can't log in and is not listed", async () => {
  const platform = await aPlatform(relay);
  const { session, email } = platform;
  const body = { email: `colleague-${email}`, password: PASSWORD };
  const colleague = dataOf(await relay.call("POST", "/v1/users", { session, body }));
  await damage(platform, "U|", "passwordHash");
  expect((await rowOf(platform, "U|")).rowKey).toContain(colleague.id);
  expect((await relay.call("POST", "/v1/auth/login", { body })).status).toBe(500);
  const listed = dataOf(await relay.call("GET", "/v1/users", { session }));
  expect(listed.map((user: { email: string }) => user.email)).toEqual([email]);
});

test("an erasure whose row is damaged does not keep the others from going on", async () => {
  const platform = await aPlatform(relay);
  const { id: platformId } = platform;
  const at = relay.clock.now();
  const { erasures } = relay.services.erasure;
  const owner = {
    platformId,
    applicationId: "app_1",
    requestedBy: { kind: "session", id: "u" },
  } as const;
  await erasures.open(newErasure({ ...owner, id: "prf_broken" }, at));
  await erasures.open(newErasure({ ...owner, id: "prf_sound" }, at));
  await relay.tables.erasures.putProperties("open", { rowKey: "prf_broken", step: "1" });
  const found: string[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await erasures.list(after);
    found.push(...items.map(({ id }) => id));
    after = next;
  } while (after !== undefined);
  expect(found).toEqual(["prf_sound"]);
});
