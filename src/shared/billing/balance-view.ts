import { available, nextUtcDay, spentToday, type Wallet } from "./wallet.ts";

/** What the platform owns, what of it is promised, and what today's budget leaves. */
export interface Balance {
  readonly tokenBalance: number;
  readonly tokenReserved: number;
  readonly available: number;
  readonly dailyTokenBudget: number | null;
  readonly usedToday: number;
  readonly resetsAt: string;
}

export function viewBalance(wallet: Wallet, now: Date): Balance {
  return {
    tokenBalance: wallet.balance,
    tokenReserved: wallet.reserved,
    available: available(wallet),
    dailyTokenBudget: wallet.dailyBudget,
    usedToday: spentToday(wallet, now),
    resetsAt: nextUtcDay(now),
  };
}
