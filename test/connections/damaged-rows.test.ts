import { expect, test } from "vitest";
import { checkAccountsOfProfile } from "../../src/shared/connections/check-accounts.ts";
import { connectionKey } from "../../src/shared/connections/connection-row.ts";
import { DamagedRow } from "../../src/shared/runtime/storage/damaged-row.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";

const { relay } = useSandboxedRelay();

test("lists leave a damaged connection out, a check counts it and goes on, an erasure stops at it", async () => {
  const { key, profileId, owner } = await aPublisher(relay);
  const { connections, accountChecks } = relay.services.connections.stores;
  const ref = { ...owner, network: "bluesky" } as const;
  const damage = { rowKey: connectionKey(ref), generation: "1" };
  await relay.tables.core.putProperties(owner.platformId, damage);

  const path = `/v1/profiles/${profileId}/connections`;
  const listed = dataOf(await relay.call("GET", path, { key }));
  expect(listed.map(({ platform }: { platform: string }) => platform)).toEqual(["mastodon"]);
  await expect(connections.find(ref)).rejects.toThrow(DamagedRow);
  await expect(connections.listOfProfile(owner, { missesNone: true })).rejects.toThrow(DamagedRow);
  await expect(accountChecks.reseal(ref)).rejects.toThrow(DamagedRow);

  const { tally } = await checkAccountsOfProfile(relay.services.connections, owner, [
    "bluesky",
    "mastodon",
  ]);
  expect(tally).toMatchObject({ ok: 1, failed: 1 });
});

test("a damaged host is not taken for one that is not known, and is left out when all are sealed again", async () => {
  const { hosts } = relay.services.connections.stores;
  await hosts.save("mastodon", "damaged.test", { clientId: "1" });
  const { rows } = await relay.tables.instances.select(
    { property: "host", values: ["damaged.test"] },
    undefined,
  );
  for (const { partitionKey } of rows)
    await relay.tables.instances.putProperties(partitionKey, { rowKey: "H", data0: 1 });
  await expect(hosts.find("mastodon", "damaged.test")).rejects.toThrow(DamagedRow);
  let after: string | undefined;
  do ({ next: after } = await hosts.resealPage(after));
  while (after !== undefined);
});
