import { randomUUID } from "node:crypto";
import { recordAudit } from "../audit/record.ts";
import type { PlatformScope } from "../callers/scope.ts";
import type { BillingDeps } from "./deps.ts";
import { nextUtcDay, spentToday, type Wallet, viewBalance, type Balance } from "./wallet.ts";

/** Returns the wallet as its owner sees it. */
export async function getBalance(services: BillingDeps, scope: PlatformScope): Promise<Balance> {
  return viewBalance(await services.wallets.read(scope.platformId), services.clock.now());
}

export interface SpendingLimits {
  readonly dailyTokenBudget: number | null;
  readonly usedToday: number;
  readonly resetsAt: string;
  readonly updatedAt: string | null;
}

function toLimits(wallet: Wallet, now: Date): SpendingLimits {
  return {
    dailyTokenBudget: wallet.dailyBudget,
    usedToday: spentToday(wallet, now),
    resetsAt: nextUtcDay(now),
    updatedAt: wallet.budgetChangedAt,
  };
}

/** Returns the customer's own limit for a UTC day; reserved tokens count. */
export async function getLimits(
  services: BillingDeps,
  scope: PlatformScope,
): Promise<SpendingLimits> {
  return toLimits(await services.wallets.read(scope.platformId), services.clock.now());
}

/** Sets or removes the limit. One below today's spending only blocks new spending. */
export async function updateLimits(
  services: BillingDeps,
  scope: PlatformScope,
  { dailyTokenBudget }: { readonly dailyTokenBudget: number | null },
): Promise<SpendingLimits> {
  await services.wallets.commit(scope.platformId, {
    id: `budget|${randomUUID()}`,
    rowKeys: [],
    decide: () => ({
      kind: "write",
      movements: [],
      writes: [],
      dailyBudget: dailyTokenBudget,
      answer: undefined,
    }),
  });
  recordAudit(services, scope, { action: "billing.limits_updated" });
  return getLimits(services, scope);
}
