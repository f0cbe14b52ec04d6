import type { PlatformScope } from "../callers/scope.ts";
import type { Services } from "../services.ts";
import { available, nextUtcDay, spentToday } from "./wallet.ts";

export interface Balance {
  readonly tokenBalance: number;
  readonly tokenReserved: number;
  readonly available: number;
  readonly dailyTokenBudget: number | null;
  readonly usedToday: number;
  readonly resetsAt: string;
}

/** What the platform owns, what of it is promised, and what today's budget leaves. */
export async function getBalance(services: Services, scope: PlatformScope): Promise<Balance> {
  const wallet = await services.wallets.read(scope.platformId);
  const now = services.clock.now();
  return {
    tokenBalance: wallet.balance,
    tokenReserved: wallet.reserved,
    available: available(wallet),
    dailyTokenBudget: wallet.dailyBudget,
    usedToday: spentToday(wallet, now),
    resetsAt: nextUtcDay(now),
  };
}
