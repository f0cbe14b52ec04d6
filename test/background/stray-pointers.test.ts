import { expect, test } from "vitest";
import { newId } from "../../src/shared/runtime/ids.ts";
import { aKey, anApplication } from "../setup/factories.ts";
import { purgeExpired } from "../setup/walks.ts";
import { useRelay } from "../setup/use-relay.ts";

const DAY = 24 * 60 * 60_000;

const relay = useRelay();

test("pointers that lead nowhere are removed after a day, and no others", async () => {
  const { services, tables } = relay;
  const application = await anApplication(relay);
  const { platform } = application;
  const key = await aKey(relay, application);
  const damaged = await aKey(relay, application);
  const { rows } = await tables.core.select(
    { partitionKey: platform.id, from: "K|", before: "K}" },
    undefined,
  );
  const broken = rows.find(({ row }) => row.rowKey.endsWith(damaged.id));
  await tables.core.putProperties(platform.id, { rowKey: String(broken?.row.rowKey), scope: 7 });
  const { emails, users } = services.people.stores;
  const email = "nobody@stray.example.com";

  /** Leaves what a process leaves that dies before it wrote what the pointers lead to. */
  const leaveStray = async () => {
    const now = relay.clock.now();
    const id = newId("key", now);
    const row = { v: 1, rowKey: "K", platformId: platform.id, applicationId: application.id };
    await tables.keys.put(id, row);
    const owner = { platformId: platform.id, userId: newId("user", now) };
    await emails.claim(email, owner, now.toISOString());
    return id;
  };
  const stray = await leaveStray();
  const isThere = async (id: string) => (await tables.keys.find(id, "K")) !== undefined;

  await purgeExpired(services);
  expect([await isThere(stray), (await emails.find(email)) !== undefined]).toEqual([true, true]);

  relay.advance(2 * DAY);
  await purgeExpired(services);
  expect([await isThere(stray), await emails.find(email)]).toEqual([false, undefined]);
  expect([await isThere(key.id), await isThere(damaged.id)]).toEqual([true, true]);
  const { items } = await users.list(platform.id, undefined, 10);
  for (const user of items) expect((await emails.find(user.email))?.userId).toBe(user.id);
  expect(items.length).toBeGreaterThan(0);
});
