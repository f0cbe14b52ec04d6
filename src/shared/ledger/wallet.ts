import { AppError, invariant } from "../runtime/errors.ts";
import type { Actor } from "../callers/caller.ts";
import type { NetworkName } from "../networks/networks.ts";
import type { WalletAct } from "./rate-card.ts";

/** A platform's prepaid tokens. Available = balance − reserved, never below zero. */
export interface Wallet {
  /** Tokens that the platform owns. */
  readonly balance: number;
  /** The part that is reserved for open legs. */
  readonly reserved: number;
  /**
   * Number of the last ledger entry. The ledger has no gaps. The column is an Int32, so a platform's ledger ends at
   * 2,147,483,647 entries: twenty-two years at a hundred posts a minute, day and night, each with two legs. After that,
   * `applyMovement` refuses every movement.
   */
  readonly sequence: number;
  readonly dailyBudget: number | null;
  readonly budgetChangedAt: string | null;
  /** The UTC day that `daySpent` counts. */
  readonly day: string;
  readonly daySpent: number;
  /** Until when the platform's legs are slowed to its pace, or null. */
  readonly paceUntil: string | null;
  /** When a fall below the mark was last reported, or null when tokens were added since. */
  readonly lowAt: string | null;
  /** Whether an operator has ever credited the platform. A starting credit doesn't count. */
  readonly isCredited: boolean;
}

export const EMPTY_WALLET: Wallet = {
  balance: 0,
  reserved: 0,
  sequence: 0,
  dailyBudget: null,
  budgetChangedAt: null,
  day: "",
  daySpent: 0,
  paceUntil: null,
  lowAt: null,
  isCredited: false,
};

/** Keeps every number of a row within Int32. */
const BALANCE_MAX = 2_000_000_000;
const SEQUENCE_MAX = 2 ** 31 - 1;

export type EntryType = "credit" | "debit" | "reserve" | "settle" | "release";

/** A change of the wallet before it is applied. `tokens` is positive; the entry has the sign. */
export interface Movement {
  readonly type: EntryType;
  readonly operation: WalletAct;
  readonly tokens: number;
  readonly postId: string | null;
  readonly network: NetworkName | null;
  readonly applicationId: string | null;
  readonly profileId: string | null;
  readonly actor: Actor;
  readonly requestId: string;
  readonly note: string | null;
  /** For a reservation, the networks of its legs. They are stored in the ledger but never shown. */
  readonly legs?: readonly NetworkName[];
  /** For a release, the UTC day of the reservation. Only that day's budget gets the tokens back. */
  readonly reservedOn?: string;
}

/** One immutable line of the ledger: the movement with its sign, and the wallet after it. */
export interface LedgerEntry extends Omit<Movement, "reservedOn" | "legs"> {
  /** Null unless it is a reservation. */
  readonly legs: readonly NetworkName[] | null;
  readonly sequence: number;
  readonly balanceAfter: number;
  readonly reservedAfter: number;
  readonly createdAt: string;
}

export function utcDay(now: Date): string {
  return now.toISOString().slice(0, 10);
}

/** Returns the next midnight UTC, when a new daily budget begins. */
export function nextUtcDay(now: Date): string {
  return new Date(
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1),
  ).toISOString();
}

export function available(wallet: Wallet): number {
  return wallet.balance - wallet.reserved;
}

/**
 * Returns the UTC day that the budget counts. It doesn't go back around midnight, when the clocks of processes differ
 * and each change of the day would begin a new budget. It does go back after a clock that was far ahead, so that no
 * budget stays closed.
 */
function budgetDay(wallet: Wallet, now: Date): string {
  const tomorrow = nextUtcDay(now).slice(0, 10);
  return wallet.day === tomorrow ? tomorrow : utcDay(now);
}

export function spentToday(wallet: Wallet, now: Date): number {
  return wallet.day === budgetDay(wallet, now) ? wallet.daySpent : 0;
}

/** Returns the refusal if these tokens can't be spent or reserved now. */
export function spendingRefusal(wallet: Wallet, tokens: number, now: Date): AppError | undefined {
  const needed = `This needs ${tokens} ${tokens === 1 ? "token" : "tokens"}`;
  if (available(wallet) < tokens) {
    return new AppError("insufficient_tokens", `${needed}; ${available(wallet)} available.`, {
      details: { required: tokens, available: available(wallet) },
    });
  }
  const used = spentToday(wallet, now);
  if (wallet.dailyBudget === null || used + tokens <= wallet.dailyBudget) return undefined;
  return new AppError(
    "daily_budget_reached",
    `${needed}; the daily budget of ${wallet.dailyBudget} leaves ${Math.max(0, wallet.dailyBudget - used)}.`,
    { details: { budget: wallet.dailyBudget, used, required: tokens, resetsAt: nextUtcDay(now) } },
  );
}

/** How each kind of entry changes balance and reserved. The balance is the sum of credit, debit and settle. */
const EFFECT: Readonly<Record<EntryType, { balance: number; reserved: number; sign: 1 | -1 }>> = {
  credit: { balance: 1, reserved: 0, sign: 1 },
  debit: { balance: -1, reserved: 0, sign: -1 },
  reserve: { balance: 0, reserved: 1, sign: 1 },
  settle: { balance: -1, reserved: -1, sign: -1 },
  release: { balance: 0, reserved: -1, sign: -1 },
};

function daySpentAfter(wallet: Wallet, movement: Movement, today: string, now: Date): number {
  const spent = spentToday(wallet, now);
  switch (movement.type) {
    case "debit":
    case "reserve":
      return spent + movement.tokens;
    case "release":
      return movement.reservedOn === today ? Math.max(0, spent - movement.tokens) : spent;
    case "credit":
    case "settle":
      return spent;
  }
}

/**
 * Applies a movement. Returns the wallet after it and the ledger entry.
 * @throws Error when the movement would break `0 <= reserved <= balance`: callers call `spendingRefusal` first
 */
export function applyMovement(
  wallet: Wallet,
  movement: Movement,
  now: Date,
): { readonly wallet: Wallet; readonly entry: LedgerEntry } {
  const { reservedOn: _, ...kept } = movement;
  const { tokens } = movement;
  invariant(Number.isSafeInteger(tokens) && tokens > 0, `a movement of ${tokens} tokens`);
  invariant(wallet.sequence < SEQUENCE_MAX, "the ledger is full");
  const effect = EFFECT[movement.type];
  const today = budgetDay(wallet, now);
  const next: Wallet = {
    ...wallet,
    balance: wallet.balance + effect.balance * tokens,
    reserved: wallet.reserved + effect.reserved * tokens,
    sequence: wallet.sequence + 1,
    day: today,
    daySpent: daySpentAfter(wallet, movement, today, now),
    isCredited:
      wallet.isCredited || (movement.type === "credit" && movement.actor.kind === "operator"),
  };
  invariant(0 <= next.reserved, "reserved went negative");
  invariant(next.reserved <= next.balance, "more reserved than owned");
  invariant(next.balance <= BALANCE_MAX, "the balance left its range");
  return {
    wallet: next,
    entry: {
      ...kept,
      legs: movement.legs ?? null,
      tokens: effect.sign * tokens,
      sequence: next.sequence,
      balanceAfter: next.balance,
      reservedAfter: next.reserved,
      createdAt: now.toISOString(),
    },
  };
}

/** Reports whether the wallet stays within its range after a credit. */
export function canCredit(wallet: Wallet, tokens: number): boolean {
  return wallet.balance + tokens <= BALANCE_MAX;
}

/** The effect of one decision on a wallet. */
export interface WalletChange {
  readonly movements?: readonly Movement[];
  readonly dailyBudget?: number | null;
  /** The pace of the platform's legs after this. */
  readonly paceUntil?: string;
}

/** Returns the wallet after a change, and its ledger entries. @throws Error as `applyMovement` does */
export function applyWalletChange(
  wallet: Wallet,
  change: WalletChange,
  now: Date,
): { readonly wallet: Wallet; readonly entries: LedgerEntry[] } {
  const { movements = [], dailyBudget, paceUntil = wallet.paceUntil } = change;
  const entries: LedgerEntry[] = [];
  let next =
    dailyBudget === undefined
      ? wallet
      : { ...wallet, dailyBudget, budgetChangedAt: now.toISOString() };
  for (const movement of movements) {
    // A free operation moves nothing and has no ledger entry.
    if (movement.tokens === 0) continue;
    const applied = applyMovement(next, movement, now);
    next = applied.wallet;
    entries.push(applied.entry);
  }
  return { wallet: { ...next, paceUntil }, entries };
}

/** Returns the balance, the reserved tokens, and the rest of today's budget. */
export function viewBalance(wallet: Wallet, now: Date) {
  return {
    tokenBalance: wallet.balance,
    tokenReserved: wallet.reserved,
    available: available(wallet),
    dailyTokenBudget: wallet.dailyBudget,
    usedToday: spentToday(wallet, now),
    resetsAt: nextUtcDay(now),
  };
}

export type Balance = ReturnType<typeof viewBalance>;

/** A platform's legs are published immediately while it is no further ahead of its pace than this. */
const AHEAD_MS = 5_000;

/**
 * Returns the start of a platform's next legs. After a first burst, they begin one after the other at the platform's
 * pace, so that thousands of legs of one platform leave room for others. It is pure and needs no write of its own,
 * because every reservation writes the wallet.
 */
export function paced(wallet: Wallet, legs: number, now: Date, legsPerSecond: number) {
  const from = Math.max(now.getTime(), Date.parse(wallet.paceUntil ?? now.toISOString()));
  const until = from + Math.ceil((legs * 1000) / legsPerSecond);
  const startMs = until - AHEAD_MS;
  return {
    // The wallet's next `paceUntil`.
    paceUntil: new Date(until).toISOString(),
    // When these legs begin, or null for now.
    startAt: startMs <= now.getTime() ? null : new Date(startMs).toISOString(),
  };
}

export function secondsUntil(startAt: string | null, now: Date): number {
  return startAt === null ? 0 : Math.max(0, (Date.parse(startAt) - now.getTime()) / 1000);
}
