import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { BENCH_NETWORKS, BENCH_PREFIX, openTenant, startRelay } from "../../bench/relay.ts";
import type { RequestCounts } from "../../bench/request-counter.ts";
import { readCosts } from "../../bench/results.ts";
import { costOf, COUNTED, RoundTrips, type Counted } from "../../bench/round-trips.ts";

let counts: Readonly<Record<Counted, RequestCounts>>;

beforeAll(async () => {
  const storage = { tables: inject("azurite"), queues: inject("azurite"), stop: async () => {} };
  const services = startRelay(storage, `${BENCH_PREFIX}${randomBytes(6).toString("hex")}`);
  counts = await new RoundTrips(services, await openTenant(services)).count(COUNTED);
});

describe("round trips to storage", () => {
  test("accepting a post takes a look at each account, then its transaction, then the hint", () => {
    const { byKind, sequential } = counts.accept;
    expect(byKind).toEqual({ transaction: 1, send: 1, write: 0, read: BENCH_NETWORKS.length });
    expect(sequential).toBeLessThanOrEqual(3);
  });

  test("answering with a post, or with a page of them, takes two side by side", () => {
    expect(counts.readPost).toMatchObject({ total: 2, sequential: 1 });
    expect(counts.listPosts).toMatchObject({ total: 2, sequential: 1 });
  });

  test("a scheduled post is one row in the due table, one transaction and no hint to publish", () => {
    expect(counts.acceptScheduled.byKind).toMatchObject({ transaction: 1, write: 1 });
    expect(counts.acceptScheduled.sequential).toBeLessThanOrEqual(5);
  });

  test("a repeated Idempotency-Key sends no message and writes no row", () => {
    expect(counts.acceptReplayed.byKind).toMatchObject({ send: 0, write: 0 });
  });

  test.each(["readPost", "listPosts", "me", "connections", "usage"] as const)(
    "%s takes at most two in turn and writes nothing",
    (name) => {
      const { byKind, sequential } = counts[name];
      expect(byKind).toMatchObject({ transaction: 0, send: 0, write: 0 });
      expect(sequential).toBeLessThanOrEqual(2);
    },
  );

  // What may grow on purpose is written down again by `npm run bench:counts`.
  test.each(COUNTED)("%s costs no more than bench/results.json says", async (name) => {
    const recorded = (await readCosts())[name];
    if (recorded === undefined) throw new Error(`bench/results.json has no cost of ${name}`);
    const { requests, sequential, transactions, messages, entitiesRead } = costOf(counts[name]);
    expect(requests).toBeLessThanOrEqual(recorded.requests);
    expect(sequential).toBeLessThanOrEqual(recorded.sequential);
    expect(transactions).toBeLessThanOrEqual(recorded.transactions);
    expect(messages).toBeLessThanOrEqual(recorded.messages);
    // The list's and the ledger's rows depend on how much was accepted before.
    if (name !== "listPosts" && name !== "usage")
      expect(entitiesRead).toBeLessThanOrEqual(recorded.entitiesRead);
  });
});
