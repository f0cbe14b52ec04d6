import { WALLET_KEY } from "../../src/shared/ledger/wallet-row.ts";
import { expect, test } from "vitest";
import { reconcileWallet } from "../../src/shared/ledger/reconcile-wallet.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { reconcileWallets } from "../setup/walks.ts";

const { relay } = useSandboxedRelay();

const submit = async (publisher: Publisher, word = "") =>
  await publisher.accept({
    text: unique(`Reconciled ${word}`),
    platforms: ["bluesky", "mastodon"],
  });
const check = ({ owner }: Publisher) => reconcileWallet(relay.services.ledger, owner.platformId);

/** Changes a row of the platform behind the product's back. */
async function tamper({ owner }: Publisher, rowKey: string, change: Record<string, number>) {
  const { core } = relay.tables;
  await core.putProperties(owner.platformId, { rowKey, ...change });
}

test("a platform with published, failed and open posts reconciles in every check", async () => {
  const publisher = await aPublisher(relay);
  await publisher.settle((await submit(publisher)).id);
  await publisher.settle((await submit(publisher, "[fail:content_rejected]")).id);
  expect(await check(publisher)).toEqual([]);
  await submit(publisher);
  expect(await check(publisher)).toEqual([]);
  expect(await check(publisher)).toEqual([]);
});

test("a wallet, an entry or a leg that was changed is reported, and nothing is repaired", async () => {
  const publisher = await aPublisher(relay);
  const { ledger } = relay.services.ledger.stores;
  const { platformId } = publisher.owner;
  await submit(publisher);
  const before = await ledger.readWallet(platformId);
  await tamper(publisher, WALLET_KEY, { balance: before.balance + 5 });
  expect(await check(publisher)).toEqual([
    `the ledger says a balance of ${before.balance}, the wallet ${before.balance + 5}`,
  ]);
  await tamper(publisher, WALLET_KEY, { balance: before.balance, reserved: before.reserved + 10 });
  expect(await check(publisher)).toHaveLength(2);
  expect((await ledger.readWallet(platformId)).reserved).toBe(before.reserved + 10);
  await reconcileWallets(relay.services);
  const lines = relay.logLines.filter((line) => line.includes("wallet does not reconcile"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(platformId);
});

test("a missing entry is reported", async () => {
  const publisher = await aPublisher(relay);
  await submit(publisher);
  const { platformId } = publisher.owner;
  const { core } = relay.tables;
  const [newest] = await core.list({ partitionKey: platformId, from: "L|", before: "M", limit: 1 });
  await core.delete(platformId, newest?.row.rowKey ?? "");
  expect((await check(publisher)).join()).toContain("the ledger ends at");
});
