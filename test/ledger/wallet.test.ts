import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyWalletChange,
  applyMovement,
  available,
  canCredit,
  EMPTY_WALLET,
  type EntryType,
  type LedgerEntry,
  type Movement,
  nextUtcDay,
  spendingRefusal,
  spentToday,
  utcDay,
  type Wallet,
} from "../../src/shared/ledger/wallet.ts";

const DAY_MS = 24 * 3_600_000;
const START = Date.parse("2030-01-31T20:00:00.000Z");

function movement(type: EntryType, tokens: number, reservedOn?: string): Movement {
  return {
    type,
    operation: "publish_leg",
    tokens,
    postId: null,
    network: null,
    applicationId: null,
    profileId: null,
    actor: { kind: "system", id: "test" },
    requestId: "req",
    note: null,
    ...(reservedOn === undefined ? {} : { reservedOn }),
  };
}

interface HoldOfReference {
  readonly tokens: number;
  readonly day: string;
}

/** The rules said once more, by summing up what happened instead of carrying totals. */
class Reference {
  readonly credited: number[] = [];
  readonly taken: number[] = [];
  readonly open: HoldOfReference[] = [];
  readonly spent = new Map<string, number>();
  budget: number | null = null;
  entries = 0;

  get reserved(): number {
    return this.open.reduce((sum, hold) => sum + hold.tokens, 0);
  }
  get balance(): number {
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    return sum(this.credited) - sum(this.taken);
  }
  refuses(tokens: number, day: string): string | undefined {
    if (this.balance - this.reserved < tokens) return "insufficient_tokens";
    const spent = this.spent.get(day) ?? 0;
    return this.budget !== null && spent + tokens > this.budget
      ? "daily_budget_reached"
      : undefined;
  }
  spend(tokens: number, day: string): void {
    this.spent.set(day, (this.spent.get(day) ?? 0) + tokens);
  }
}

type Command =
  | { readonly kind: "credit" | "charge" | "reserve"; readonly tokens: number }
  | { readonly kind: "settle" | "release"; readonly which: number }
  | { readonly kind: "budget"; readonly budget: number | null }
  | { readonly kind: "wait"; readonly ms: number };

const tokens = fc.integer({ min: 1, max: 60 });
const which = fc.nat({ max: 20 });
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constant("credit" as const), tokens }),
  fc.record({ kind: fc.constant("charge" as const), tokens }),
  fc.record({ kind: fc.constant("reserve" as const), tokens }),
  fc.record({ kind: fc.constant("reserve" as const), tokens }),
  fc.record({ kind: fc.constant("settle" as const), which }),
  fc.record({ kind: fc.constant("release" as const), which }),
  fc.record({
    kind: fc.constant("budget" as const),
    budget: fc.option(fc.integer({ min: 0, max: 150 }), { nil: null }),
  }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: DAY_MS }) }),
);

/** The wallet under test beside the reference, fed with the same commands. */
class Run {
  readonly reference = new Reference();
  readonly ledger: LedgerEntry[] = [];
  wallet: Wallet = EMPTY_WALLET;
  now = new Date(START);

  apply(type: EntryType, amount: number, reservedOn?: string): void {
    const { wallet, entry } = applyMovement(
      this.wallet,
      movement(type, amount, reservedOn),
      this.now,
    );
    this.wallet = wallet;
    this.ledger.push(entry);
    this.reference.entries += 1;
  }

  spend(type: "debit" | "reserve", amount: number): void {
    const day = utcDay(this.now);
    const refused = spendingRefusal(this.wallet, amount, this.now)?.code;
    expect(refused).toBe(this.reference.refuses(amount, day));
    if (refused !== undefined) return;
    this.apply(type, amount);
    this.reference.spend(amount, day);
    if (type === "debit") this.reference.taken.push(amount);
    else this.reference.open.push({ tokens: amount, day });
  }

  end(type: "settle" | "release", which: number): void {
    const { open } = this.reference;
    const [hold] = open.length === 0 ? [] : open.splice(which % open.length, 1);
    if (hold === undefined) return;
    this.apply(type, hold.tokens, hold.day);
    if (type === "settle") this.reference.taken.push(hold.tokens);
    else if (hold.day === utcDay(this.now)) this.reference.spend(-hold.tokens, hold.day);
  }

  do(asked: Command): void {
    switch (asked.kind) {
      case "credit":
        this.apply("credit", asked.tokens);
        this.reference.credited.push(asked.tokens);
        return;
      case "charge":
        return this.spend("debit", asked.tokens);
      case "reserve":
        return this.spend("reserve", asked.tokens);
      case "settle":
      case "release":
        return this.end(asked.kind, asked.which);
      case "budget":
        this.wallet = { ...this.wallet, dailyBudget: asked.budget };
        this.reference.budget = asked.budget;
        return;
      case "wait":
        this.now = new Date(this.now.getTime() + asked.ms);
    }
  }

  check(): void {
    const { wallet, reference, ledger } = this;
    expect(wallet.balance).toBe(reference.balance);
    expect(wallet.reserved).toBe(reference.reserved);
    expect(wallet.reserved).toBeGreaterThanOrEqual(0);
    expect(wallet.reserved).toBeLessThanOrEqual(wallet.balance);
    expect(available(wallet)).toBe(wallet.balance - wallet.reserved);
    expect(spentToday(wallet, this.now)).toBe(reference.spent.get(utcDay(this.now)) ?? 0);
    expect(wallet.sequence).toBe(reference.entries);
    expect(ledger.at(-1)?.balanceAfter ?? 0).toBe(wallet.balance);
    expect(ledger.at(-1)?.reservedAfter ?? 0).toBe(wallet.reserved);
  }
}

const MOVES_BALANCE: ReadonlySet<EntryType> = new Set(["credit", "debit", "settle"]);
const MOVES_RESERVED: ReadonlySet<EntryType> = new Set(["reserve", "settle", "release"]);
const sumOf = (entries: readonly LedgerEntry[], types: ReadonlySet<EntryType>) =>
  entries.filter(({ type }) => types.has(type)).reduce((sum, entry) => sum + entry.tokens, 0);

describe("any order of credits, charges, reservations, settlements, releases, budgets and days", () => {
  test("keeps balance, reservations, the day's spending and every refusal right", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 80 }), (commands) => {
        const run = new Run();
        for (const asked of commands) {
          run.do(asked);
          run.check();
        }
      }),
      { numRuns: 500 },
    );
  });

  test("leaves a ledger that explains the wallet: sums, chain and numbers without a gap", () => {
    fc.assert(
      fc.property(fc.array(command, { minLength: 20, maxLength: 80 }), (commands) => {
        const run = new Run();
        for (const asked of commands) run.do(asked);
        expect(sumOf(run.ledger, MOVES_BALANCE)).toBe(run.wallet.balance);
        expect(sumOf(run.ledger, MOVES_RESERVED)).toBe(run.wallet.reserved);
        expect(run.ledger.map(({ sequence }) => sequence)).toEqual(
          run.ledger.map((_, index) => index + 1),
        );
        for (const [index, entry] of run.ledger.entries()) {
          const until = run.ledger.slice(0, index + 1);
          expect(entry.balanceAfter).toBe(sumOf(until, MOVES_BALANCE));
          expect(entry.reservedAfter).toBe(sumOf(until, MOVES_RESERVED));
        }
      }),
      { numRuns: 100 },
    );
  });
});

const rich: Wallet = { ...EMPTY_WALLET, balance: 100, reserved: 30 };
const now = new Date(START);

describe("a movement", () => {
  test.each<[EntryType, number, Partial<Wallet>, number]>([
    ["credit", 10, { balance: 110, reserved: 30 }, 10],
    ["debit", 10, { balance: 90, reserved: 30 }, -10],
    ["reserve", 10, { balance: 100, reserved: 40 }, 10],
    ["settle", 10, { balance: 90, reserved: 20 }, -10],
    ["release", 10, { balance: 100, reserved: 20 }, -10],
  ])("a movement of %s changes what it should", (type, amount, after, signed) => {
    const applied = applyMovement(rich, movement(type, amount), now);
    expect(applied.wallet).toMatchObject({ ...after, sequence: 1 });
    expect(applied.entry).toMatchObject({ type, tokens: signed, sequence: 1 });
    expect(applied.entry).not.toHaveProperty("reservedOn");
  });

  test.each<[string, EntryType, number]>([
    ["would take reserved tokens", "debit", 71],
    ["promises more than is owned", "reserve", 71],
    ["releases more than is reserved", "release", 31],
    ["settles more than is reserved", "settle", 31],
    ["is of no tokens", "credit", 0],
    ["is negative", "credit", -1],
    ["is not whole", "debit", 1.5],
    ["is not a number", "debit", Number.NaN],
    ["leaves the range of a wallet", "credit", 2_000_000_000],
  ])("a movement that %s is stopped", (_, type, amount) => {
    expect(() => applyMovement(rich, movement(type, amount), now)).toThrow("invariant broken");
  });

  test("leaves the wallet it was given as it was", () => {
    const frozen = Object.freeze({ ...rich });
    applyMovement(frozen, movement("debit", 5), now);
    expect(frozen).toEqual(rich);
  });
});

describe("a credit", () => {
  test.each<[number, boolean]>([
    [1_999_999_900, true],
    [1_999_999_901, false],
  ])("a credit of %i on a balance of 100 fits: %s", (amount, fits) => {
    expect(canCredit(rich, amount)).toBe(fits);
  });
});

describe("a refusal", () => {
  test.each<[string, Partial<Wallet>, number, string | undefined]>([
    ["all that is available", {}, 70, undefined],
    ["one more", {}, 71, "insufficient_tokens"],
    [
      "exactly the rest of the budget",
      { dailyBudget: 50, day: "2030-01-31", daySpent: 40 },
      10,
      undefined,
    ],
    [
      "more than the rest of the budget",
      { dailyBudget: 50, day: "2030-01-31", daySpent: 40 },
      11,
      "daily_budget_reached",
    ],
    ["what yesterday spent", { dailyBudget: 50, day: "2030-01-30", daySpent: 50 }, 50, undefined],
    ["anything on a budget of nothing", { dailyBudget: 0 }, 1, "daily_budget_reached"],
    [
      "on a budget lowered below what is spent",
      { dailyBudget: 5, day: "2030-01-31", daySpent: 40 },
      1,
      "daily_budget_reached",
    ],
    ["too much for wallet and budget", { dailyBudget: 5 }, 71, "insufficient_tokens"],
  ])("a refusal of %s", (_, changes, amount, code) => {
    expect(spendingRefusal({ ...rich, ...changes }, amount, now)?.code).toBe(code);
  });

  test("tells what was needed and what there is", () => {
    expect(spendingRefusal(rich, 71, now)?.details).toEqual({ required: 71, available: 70 });
    const spent = { ...rich, dailyBudget: 50, day: "2030-01-31", daySpent: 45 };
    expect(spendingRefusal(spent, 6, now)?.details).toEqual({
      budget: 50,
      used: 45,
      required: 6,
      resetsAt: "2030-02-01T00:00:00.000Z",
    });
  });
});

describe("the UTC day", () => {
  test.each([
    ["2030-01-31T23:59:59.999Z", "2030-01-31", "2030-02-01T00:00:00.000Z"],
    ["2028-02-28T00:00:00.000Z", "2028-02-28", "2028-02-29T00:00:00.000Z"],
    ["2030-12-31T12:00:00.000Z", "2030-12-31", "2031-01-01T00:00:00.000Z"],
  ])("the UTC day of %s is %s and ends at %s", (at, day, end) => {
    expect(utcDay(new Date(at))).toBe(day);
    expect(nextUtcDay(new Date(at))).toBe(end);
  });
});

describe("a release", () => {
  test("gives back the budget of the day it was reserved on, and of no other", () => {
    const wallet = { ...rich, day: "2030-01-31", daySpent: 30 };
    const same = applyMovement(wallet, movement("release", 10, "2030-01-31"), now).wallet;
    expect(spentToday(same, now)).toBe(20);
    const other = applyMovement(wallet, movement("release", 10, "2030-01-30"), now).wallet;
    expect(spentToday(other, now)).toBe(30);
  });
});

describe("processes whose clocks differ at midnight", () => {
  const before = new Date("2030-01-31T23:59:59.900Z");
  const after = new Date("2030-02-01T00:00:00.200Z");
  const spend = (wallet: Wallet, at: Date) =>
    applyMovement(wallet, { ...movement("debit", 10), operation: "posts.validate" }, at).wallet;

  test("start the new day's budget once: the day never goes back", () => {
    let wallet: Wallet = { ...rich, dailyBudget: 30, day: "2030-01-31", daySpent: 30 };
    for (const at of [after, before, after]) wallet = spend(wallet, at);
    expect(wallet.day).toBe("2030-02-01");
    expect(wallet.daySpent).toBe(30);
    for (const at of [before, after])
      expect(spendingRefusal(wallet, 1, at)?.code).toBe("daily_budget_reached");
  });

  test("a clock that was days ahead closes the budget no longer than itself", () => {
    const wallet = { ...rich, dailyBudget: 30, day: "2030-03-01", daySpent: 30 };
    expect(spendingRefusal(wallet, 30, after)).toBeUndefined();
  });
});

describe("a price of nothing", () => {
  test("moves nothing and leaves no entry", () => {
    const change = { movements: [movement("reserve", 0), movement("reserve", 5)] };
    const { wallet, entries } = applyWalletChange(rich, change, now);
    expect(entries.map(({ tokens }) => tokens)).toEqual([5]);
    expect(wallet.sequence).toBe(rich.sequence + 1);
  });
});

test("a ledger that has no numbers left takes nothing more", () => {
  const full = { ...rich, sequence: 2 ** 31 - 1 };
  expect(() => applyMovement(full, movement("reserve", 1), now)).toThrow("the ledger is full");
});
