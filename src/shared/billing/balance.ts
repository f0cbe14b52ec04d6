import { randomUUID } from "node:crypto";
import { recordAudit } from "../audit/record.ts";
import type { PlatformScope } from "../callers/scope.ts";
import type { BillingDeps } from "./deps.ts";
import { nextUtcDay, spentToday, type Wallet, viewBalance, type Balance } from "./wallet.ts";

/** Returns the wallet as its owner sees it. */
export async function getBalance(services: BillingDeps, scope: PlatformScope): Promise<Balance> {
  return viewBalance(await services.wallets.read(scope.platformId), services.clock.now());
}

export interface Limits {
  readonly dailyTokenBudget: number | null;
  readonly usedToday: number;
  readonly resetsAt: string;
  readonly updatedAt: string | null;
}

function toLimits(wallet: Wallet, now: Date): Limits {
  return {
    dailyTokenBudget: wallet.dailyBudget,
    usedToday: spentToday(wallet, now),
    resetsAt: nextUtcDay(now),
    updatedAt: wallet.budgetChangedAt,
  };
}

/** Returns the customer's own limit for a UTC day; reserved tokens count. */
export async function getLimits(services: BillingDeps, scope: PlatformScope): Promise<Limits> {
  return toLimits(await services.wallets.read(scope.platformId), services.clock.now());
}

/** Sets or lifts the cap. Below what is spent already it blocks only new spending. */
export async function updateLimits(
  services: BillingDeps,
  scope: PlatformScope,
  { dailyTokenBudget }: { readonly dailyTokenBudget: number | null },
): Promise<Limits> {
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
