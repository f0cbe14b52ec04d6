import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, inject, test } from "vitest";
import {
  type Charge,
  chargeTogether,
  creditWallet,
  walletWrites,
} from "../../src/shared/ledger/ledger.ts";
import type { StoredEntry } from "../../src/shared/ledger/wallet-row.ts";
import { LedgerStore } from "../../src/shared/ledger/ledger-store.ts";
import { Partitions } from "../../src/shared/partition/partition.ts";
import type { LedgerDeps } from "../../src/shared/ledger/deps.ts";
import { openTable } from "../../src/shared/runtime/storage/tables.ts";
import type { Table } from "../../src/shared/runtime/storage/table.ts";
import { codeOf } from "../partition/wallet-processes.ts";
import { aCharge } from "../setup/a-charge.ts";

let core: Table;
let ledger: LedgerStore;
let stores: readonly [Partitions, Partitions];
const SILENT = {
  alongside: () => [],
  mark: () => Promise.resolve(),
  onEvent: () => undefined,
  onRefused: () => Promise.resolve(),
};
const PLATFORM = "plt_test";

/** Two processes on one table. */
const now = () => new Date();

beforeEach(() => {
  const account = { kind: "connection_string", connectionString: inject("azurite") } as const;
  core = openTable(account, `t${randomBytes(8).toString("hex")}`);
  const open = () => new Partitions(core, now, () => undefined, SILENT);
  stores = [open(), open()];
  ledger = new LedgerStore(core);
});

// Safe: charging and crediting need the partitions alone.
const servicesOf = (partitions: Partitions) => ({ partitions }) as unknown as LedgerDeps;

function chargeOf(operationId: string, tokens: number, overrides: Partial<Charge> = {}): Charge {
  return aCharge(operationId, tokens, { requestId: `req_${operationId}`, ...overrides });
}

const charge = (store: Partitions, id: string, tokens: number, overrides?: Partial<Charge>) =>
  chargeTogether(servicesOf(store), PLATFORM, [chargeOf(id, tokens, overrides)]);
const credit = (store: Partitions, id: string, tokens: number) =>
  creditWallet(servicesOf(store), PLATFORM, chargeOf(id, tokens));

async function wholeLedger(limit: number): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 100; pages += 1) {
    const page = await ledger.list(PLATFORM, {}, { after, limit });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    entries.push(...page.items);
    if (page.next === undefined) return entries;
    after = page.next;
  }
  throw new Error("the ledger does not end");
}

describe("a wallet shared by two processes", () => {
  test("pays exactly what there is: of 200 charges at once the 120 that it can pay", async () => {
    const [first, second] = stores;
    await credit(first, "tokens", 120);
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        codeOf(charge(index % 2 === 0 ? first : second, `charge ${index}`, 1)),
      ),
    );
    const count = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
    expect({ ok: count("ok"), refused: count("insufficient_tokens") }).toEqual({
      ok: 120,
      refused: 80,
    });
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({
      balance: 0,
      reserved: 0,
      sequence: 121,
    });
    const entries = (await wholeLedger(1_000)).toReversed();
    expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
    expect(entries.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(0);
    expect(entries.map(({ balanceAfter }) => balanceAfter)).toEqual(
      entries.map((_, index) => 120 - index),
    );
    const paid = new Set(entries.slice(1).map(({ requestId }) => requestId));
    expect(paid.size).toBe(120);
  });

  test("charges an operation once, however often and wherever it is asked for", async () => {
    const [first, second] = stores;
    await credit(first, "tokens", 100);
    const asked = Array.from({ length: 20 }, (_, index) =>
      codeOf(charge(index % 2 === 0 ? first : second, "same", 7)),
    );
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["ok"]));
    expect(await codeOf(charge(second, "same", 7))).toBe("ok");
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({ balance: 93, sequence: 2 });
  });

  test("credits a reference once and tells every repeat the first one's entry", async () => {
    const [first, second] = stores;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        credit(index % 2 === 0 ? first : second, "invoice 7", 500),
      ),
    );
    expect(new Set(answers.map(({ sequence }) => sequence))).toEqual(new Set([1]));
    expect(await credit(second, "invoice 7", 500)).toEqual({ applied: false, sequence: 1 });
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({ balance: 500, sequence: 1 });
    expect(await ledger.find(PLATFORM, 1)).toMatchObject({
      type: "credit",
      operation: "billing.credit",
      tokens: 500,
      balanceAfter: 500,
    });
  });

  test("sees at once what the other process credited", async () => {
    const [first, second] = stores;
    await credit(first, "little", 1);
    expect(await codeOf(charge(first, "early", 50))).toBe("insufficient_tokens");
    await credit(second, "much", 100);
    expect(await codeOf(charge(first, "late", 50))).toBe("ok");
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({ balance: 51 });
  });

  test("takes several charges together or none of them", async () => {
    const [first] = stores;
    await credit(first, "tokens", 10);
    const services = servicesOf(first);
    const both = (id: string) =>
      chargeTogether(services, PLATFORM, [
        chargeOf(id, 1),
        chargeOf(`${id} media`, 5, { operation: "media.validate" }),
      ]);
    expect(await codeOf(both("fits"))).toBe("ok");
    expect(await codeOf(both("does not fit"))).toBe("insufficient_tokens");
    expect(await codeOf(both("fits"))).toBe("ok");
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({ balance: 4, sequence: 3 });
  });
});

describe("a wallet", () => {
  test("a wallet of a platform that never had tokens is empty, and refuses", async () => {
    const [first] = stores;
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({
      balance: 0,
      reserved: 0,
      dailyBudget: null,
    });
    expect(await codeOf(charge(first, "any", 1))).toBe("insufficient_tokens");
    expect(await wholeLedger(10)).toEqual([]);
    expect(await ledger.find(PLATFORM, 1)).toBeUndefined();
  });

  test("each platform has a wallet of its own", async () => {
    const [first] = stores;
    await credit(first, "tokens", 10);
    await creditWallet(servicesOf(first), "plt_other", chargeOf("tokens", 3));
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({ balance: 10 });
    expect(await ledger.readWallet("plt_other")).toMatchObject({ balance: 3 });
  });

  test("keeps the daily budget, and its absence, over every change", async () => {
    const [first, second] = stores;
    const setBudget = (dailyBudget: number | null) =>
      first.commit(PLATFORM, {
        id: `budget ${dailyBudget}`,
        rowKeys: [],
        decide: (view) => ({
          kind: "write",
          writes: walletWrites(view, { dailyBudget }),
          answer: undefined,
        }),
      });
    await credit(first, "tokens", 100);
    await setBudget(5);
    expect(await codeOf(charge(second, "over", 6))).toBe("daily_budget_reached");
    expect(await codeOf(charge(second, "within", 5))).toBe("ok");
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({ dailyBudget: 5, daySpent: 5 });
    await setBudget(null);
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({ dailyBudget: null });
    expect(await codeOf(charge(second, "over", 6))).toBe("ok");
  });

  test("refuses a credit beyond what it can hold", async () => {
    const [first] = stores;
    await credit(first, "nearly all", 2_000_000_000);
    expect(await codeOf(credit(first, "one more", 1))).toBe("invalid_state");
    expect(await ledger.readWallet(PLATFORM)).toMatchObject({ balance: 2_000_000_000 });
  });
});

describe("the ledger", () => {
  const startedAt = new Date().toISOString();

  beforeEach(async () => {
    const [first] = stores;
    await credit(first, "tokens", 1_000);
    for (let index = 0; index < 12; index += 1)
      await charge(first, `charge ${index}`, index + 1, {
        applicationId: index % 2 === 0 ? "app_even" : "app_odd",
        profileId: index % 3 === 0 ? "prf_third" : null,
        postId: index === 5 ? "pst_five" : null,
        operation: index < 6 ? "posts.validate" : "media.validate",
        network: index === 5 ? "bluesky" : null,
        ...(index === 5 ? { note: "fifth" } : {}),
      });
  });

  test("lists the newest first, in pages that miss and repeat nothing", async () => {
    for (const limit of [1, 4, 13, 50]) {
      const entries = await wholeLedger(limit);
      expect(entries.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 13 }, (_, index) => 13 - index),
      );
    }
  });

  test("goes on where a page ended although entries were added meanwhile", async () => {
    const [first] = stores;
    const page = await ledger.list(PLATFORM, {}, { after: undefined, limit: 5 });
    await charge(first, "meanwhile", 1);
    const next = await ledger.list(PLATFORM, {}, { after: page.next, limit: 5 });
    expect([...page.items, ...next.items].map(({ sequence }) => sequence)).toEqual([
      13, 12, 11, 10, 9, 8, 7, 6, 5, 4,
    ]);
  });

  test.each<[string, Record<string, string>, readonly number[]]>([
    ["application", { applicationId: "app_even" }, [12, 10, 8, 6, 4, 2]],
    ["profile", { profileId: "prf_third" }, [11, 8, 5, 2]],
    ["post", { postId: "pst_five" }, [7]],
    ["operation", { operation: "posts.validate" }, [7, 6, 5, 4, 3, 2]],
    ["two of them", { applicationId: "app_odd", operation: "media.validate" }, [13, 11, 9]],
    [
      "a start that is over",
      { from: startedAt },
      Array.from({ length: 13 }, (_, index) => 13 - index),
    ],
    ["an end before everything", { to: startedAt }, []],
    ["a start after everything", { from: "2999-01-01T00:00:00.000Z" }, []],
  ])("filters by %s", async (_, filter, sequences) => {
    const found = await ledger.list(PLATFORM, filter, { after: undefined, limit: 50 });
    expect(found.items.map(({ sequence }) => sequence)).toEqual(sequences);
    expect(found.next).toBeUndefined();
  });

  test("keeps everything that an entry tells", async () => {
    const entry = await ledger.find(PLATFORM, 7);
    expect(entry).toMatchObject({
      type: "debit",
      operation: "posts.validate",
      tokens: -6,
      sequence: 7,
      balanceAfter: 1_000 - (1 + 2 + 3 + 4 + 5 + 6),
      reservedAfter: 0,
      postId: "pst_five",
      network: "bluesky",
      applicationId: "app_odd",
      profileId: null,
      actor: { kind: "system", id: "test" },
      requestId: "req_charge 5",
      note: "fifth",
    });
    expect(entry?.id).toMatch(/^led_/);
  });
});
