import { expect, test } from "vitest";
import { WALLET_KEY } from "../../../src/shared/ledger/wallet-row.ts";
import { HEAD_KEY } from "../../../src/shared/partition/head-row.ts";
import { TABLE_NAMES, type Tables } from "../../../src/shared/runtime/storage/tables.ts";
import { aPublisher, unique } from "../../setup/publisher.ts";
import { useSandboxedRelay } from "../../setup/sandboxed-relay.ts";
import { forFile } from "../../setup/for-file.ts";

const { relay } = useSandboxedRelay();
const publisher = forFile(() => aPublisher(relay, ["mastodon"]));

const rows = () => [...(relay.storage?.rows(TABLE_NAMES) ?? [])];

test("a row that is changed keeps the columns that a later build has written to it", async () => {
  const scheduleAt = new Date(relay.clock.now().getTime() + 120_000).toISOString();
  const request = { text: unique("Later"), platforms: ["mastodon"], scheduleAt };
  const { id } = (await publisher.accept(request)) as { id: string };
  for (const { table, partitionKey, rowKey } of rows())
    await relay.tables[table as keyof Tables].putProperties(partitionKey, {
      rowKey,
      later: "kept",
    });
  const before = new Map(
    rows().map(({ properties, ...place }) => [JSON.stringify(place), JSON.stringify(properties)]),
  );

  const headers = publisher.headers;
  const later = new Date(relay.clock.now().getTime() + 180_000).toISOString();
  const body = { text: unique("Later still"), scheduleAt: later };
  await relay.call("PATCH", `/v1/posts/${id}`, { key: publisher.key, headers, body });
  relay.advance(240_000);
  await relay.runTimer("fire-due-posts");
  await relay.drain();
  expect(await publisher.read(id)).toMatchObject({ status: "succeeded" });

  const changed = rows().filter(({ properties, ...place }) => {
    const known = before.get(JSON.stringify(place));
    return known !== undefined && known !== JSON.stringify(properties);
  });
  const kinds = new Set(
    changed.map(({ rowKey }) => (rowKey.startsWith("P|") ? rowKey.split("|").length : rowKey)),
  );
  // The post, its leg, the head, and the wallet.
  expect([...kinds]).toEqual(expect.arrayContaining([4, 5, HEAD_KEY, WALLET_KEY]));
  const without = changed.filter(({ properties }) => properties["later"] !== "kept");
  expect(without.map(({ table, rowKey }) => `${table} ${rowKey}`)).toEqual([]);
});
