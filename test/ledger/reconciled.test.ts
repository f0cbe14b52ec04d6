import { expect, test } from "vitest";
import { checkWallet, reconcileWallet } from "../../src/shared/ledger/reconcile-wallet.ts";
import { chargeTogether, creditWallet } from "../../src/shared/ledger/ledger.ts";
import { toEntry, WALLET_KEY } from "../../src/shared/ledger/wallet-row.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { aCharge } from "../setup/a-charge.ts";

const { relay } = useSandboxedRelay();

const HOUR_MS = 3_600_000;

const submit = async (publisher: Publisher) =>
  await publisher.accept({
    text: unique("Reconciled"),
    platforms: ["bluesky", "mastodon"],
  });

let spent = 0;
const chargeOf = ({ application }: Publisher, more: object = {}) =>
  aCharge(`spent ${(spent += 1)}`, 1, { applicationId: application.id, ...more });
const spend = (publisher: Publisher, more: object = {}) =>
  chargeTogether(relay.services.ledger, publisher.owner.platformId, [chargeOf(publisher, more)]);

/** Lets something happen at every reading of the wallet from now on, as often as said. */
function atWalletReads(times: number, happen: () => Promise<unknown>) {
  const { ledger } = relay.services.ledger.stores;
  const read = ledger.readWallet.bind(ledger);
  let left = times;
  ledger.readWallet = async (platformId) => {
    const wallet = await read(platformId);
    if (left > 0) {
      left -= 1;
      await happen();
    }
    return wallet;
  };
  return () => {
    ledger.readWallet = read;
  };
}

test("a wallet that moves all the time is checked all the same", async () => {
  const publisher = await aPublisher(relay);
  const { platformId } = publisher.owner;
  const first = await submit(publisher);
  const stop = atWalletReads(100, async () => {
    await spend(publisher);
    await submit(publisher);
    await publisher.settle(first.id);
  });
  try {
    for (let round = 0; round < 3; round += 1)
      expect(await checkWallet(relay.services.ledger, platformId)).toEqual({ kind: "checked" });
  } finally {
    stop();
  }
});

test("tokens that a leg has too many are found while the wallet moves", async () => {
  const publisher = await aPublisher(relay);
  const { platformId } = publisher.owner;
  await submit(publisher);
  const wallet = await relay.tables.core.find(platformId, WALLET_KEY);
  const reserved = Number(wallet?.row["reserved"]) + 10;
  await relay.tables.core.putProperties(platformId, { rowKey: WALLET_KEY, reserved });
  const stop = atWalletReads(100, () => spend(publisher));
  try {
    const { kind } = await checkWallet(relay.services.ledger, platformId);
    expect(kind).toBe("mismatch");
  } finally {
    stop();
  }
});

test("a platform that is not fully checked for six hours raises an alert, one that is does not", async () => {
  const publisher = await aPublisher(relay);
  const { platformId } = publisher.owner;
  const unchecked = () => relay.logLines.filter((line) => line.includes("wallet_unchecked"));
  await reconcileWallet(relay.services.ledger, platformId);
  const { posts } = relay.services.publishing.stores;
  const list = posts.listOpenWork.bind(posts);
  posts.listOpenWork = () => Promise.reject(new Error("storage is away"));
  try {
    for (const hours of [3, 4]) {
      relay.clock.advance(hours * HOUR_MS);
      await expect(reconcileWallet(relay.services.ledger, platformId)).rejects.toThrow("away");
      expect(unchecked()).toHaveLength(hours === 3 ? 0 : 1);
    }
  } finally {
    posts.listOpenWork = list;
  }
  expect(unchecked()[0]).toContain(platformId);
  await reconcileWallet(relay.services.ledger, platformId);
  const { mark } = await relay.services.ledger.stores.ledger.findMark(platformId);
  expect(mark).toMatchObject({ result: "checked", checkedAt: mark.resultAt });
});

/** What the ledger of the publisher's application adds up to by a key of its entries. */
async function summed(
  { owner, application }: Publisher,
  keyOf: (entry: ReturnType<typeof toEntry>) => unknown,
) {
  const rows = await relay.tables.core.list({
    partitionKey: owner.platformId,
    from: "L|",
    before: "M",
    limit: 5_000,
  });
  const sums: Record<string, number> = {};
  for (const { row } of rows) {
    const entry = toEntry(row);
    if (entry.applicationId !== application.id) continue;
    if (entry.type === "reserve" || entry.type === "release") continue;
    sums[String(keyOf(entry))] = (sums[String(keyOf(entry))] ?? 0) + entry.tokens;
  }
  return sums;
}

async function totals(publisher: Publisher, query: string) {
  const { key } = publisher.application;
  const answer = await relay.call("GET", `/v1/billing/usage?${query}`, { key });
  const items = dataOf(answer) as { key: string | null; tokens: number }[];
  return {
    sums: Object.fromEntries(items.map(({ key, tokens }) => [String(key), tokens])),
    body: answer.body,
  };
}

test("totals are the ledger's, folded or not, also when two fold at once", async () => {
  const publisher = await aPublisher(relay);
  const { platformId } = publisher.owner;
  const { services } = relay;
  for (let day = 0; day < 20; day += 1) {
    for (const profileId of ["prf_a", "prf_b", null]) await spend(publisher, { profileId });
    relay.clock.advance(24 * HOUR_MS);
    if (day % 3 === 0)
      await Promise.all([1, 2, 3].map(() => reconcileWallet(services.ledger, platformId)));
  }
  for (let round = 0; round < 2; round += 1) {
    const byDay = await totals(publisher, "groupBy=day");
    expect(byDay.sums).toEqual(await summed(publisher, ({ createdAt }) => createdAt.slice(0, 10)));
    expect(byDay.body.asOf).toBeUndefined();
    expect(byDay.body.range).toEqual({ from: null, to: null });
    expect((await totals(publisher, "groupBy=profile")).sums).toEqual(
      await summed(publisher, ({ profileId }) => profileId),
    );
    await reconcileWallet(services.ledger, platformId);
  }
  const from = new Date(relay.clock.now().getTime() - 5 * 24 * HOUR_MS);
  const to = new Date(from.getTime() + 2 * 24 * HOUR_MS + 1);
  const query = `groupBy=operation&profileId=prf_a&from=${from.toISOString()}&to=${to.toISOString()}`;
  const some = await totals(publisher, query);
  expect(some.sums).toEqual({ "posts.validate": -3 });
  const midnight = (time: Date) => `${time.toISOString().slice(0, 10)}T00:00:00.000Z`;
  const end = new Date(to.getTime() + 24 * HOUR_MS);
  expect(some.body.range).toEqual({ from: midnight(from), to: midnight(end) });
});

test("totals of one post are its own entries, and a long tail says up to when it counts", async () => {
  const publisher = await aPublisher(relay);
  const { platformId } = publisher.owner;
  await spend(publisher);
  relay.clock.advance(HOUR_MS);
  const post = await submit(publisher);
  await publisher.settle(post.id);
  expect((await totals(publisher, `groupBy=operation&postId=${post.id}`)).sums).toEqual({
    publish_leg: -20,
  });
  expect((await totals(publisher, "groupBy=operation&postId=pst_none")).sums).toEqual({});
  await creditWallet(relay.services.ledger, platformId, {
    ...chargeOf(publisher),
    tokens: 10_000,
  });
  await Promise.all(Array.from({ length: 2_001 }, () => spend(publisher)));
  const unfolded = await totals(publisher, "groupBy=operation");
  expect(unfolded.sums).toEqual({});
  expect(unfolded.body.asOf).toMatch(/Z$/);
  await reconcileWallet(relay.services.ledger, platformId);
  const folded = await totals(publisher, "groupBy=operation");
  expect(folded.sums).toEqual(await summed(publisher, ({ operation }) => operation));
  expect(folded.body.asOf).toBeUndefined();
});
