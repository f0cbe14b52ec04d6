import { randomUUID } from "node:crypto";
import type { PlatformScope, OperatorScope } from "../callers/scope.ts";
import type { LedgerDeps } from "./deps.ts";
import { type Balance, nextUtcDay, spentToday, viewBalance, type Wallet } from "./wallet.ts";
import { actorOf } from "../callers/caller.ts";
import { AppError, invariant, notFound } from "../runtime/errors.ts";
import { newId } from "../runtime/ids.ts";
import { creditId, creditWallet } from "./charge.ts";
import { walletWrites } from "./wallet-row.ts";
import { entryView } from "./usage.ts";
import type { Credit } from "./schema.ts";

/** Reads a platform's wallet, which is empty if it never had tokens. @throws DamagedRow */
export const readWallet = (deps: LedgerDeps, platformId: string): Promise<Wallet> =>
  deps.stores.ledger.readWallet(platformId);

export async function getBalance(deps: LedgerDeps, scope: PlatformScope): Promise<Balance> {
  return viewBalance(await readWallet(deps, scope.platformId), deps.clock.now());
}

function toLimits(wallet: Wallet, now: Date) {
  return {
    dailyTokenBudget: wallet.dailyBudget,
    usedToday: spentToday(wallet, now),
    resetsAt: nextUtcDay(now),
    updatedAt: wallet.budgetChangedAt,
  };
}

export type SpendingLimits = ReturnType<typeof toLimits>;

/** Returns the customer's own limit for a UTC day. Reserved tokens count. */
export async function getLimits(deps: LedgerDeps, scope: PlatformScope): Promise<SpendingLimits> {
  return toLimits(await readWallet(deps, scope.platformId), deps.clock.now());
}

/** Sets or removes the limit. A limit below today's spending only blocks new spending. */
export async function updateLimits(
  deps: LedgerDeps,
  scope: PlatformScope,
  { dailyTokenBudget }: { readonly dailyTokenBudget: number | null },
): Promise<SpendingLimits> {
  await deps.partitions.commit(scope.platformId, {
    id: `budget|${randomUUID()}`,
    rowKeys: [],
    decide: (view) => ({
      kind: "write",
      writes: walletWrites(view, { dailyBudget: dailyTokenBudget }),
      answer: undefined,
    }),
  });
  deps.audit.record(scope, { action: "billing.limits_updated" });
  return getLimits(deps, scope);
}

/**
 * Adds tokens to a platform's wallet. The same `reference` credits once; a repeat gets the first entry.
 * @throws AppError `not_found`, `invalid_state` when the platform is closed, `conflict` when the reference credited
 * another amount
 */
export async function creditPlatform(deps: LedgerDeps, scope: OperatorScope, credit: Credit) {
  const { platformId, tokens, note, reference } = credit;
  const platform = await deps.findPlatform(platformId);
  if (platform === undefined) throw notFound();
  if (platform.status === "closed")
    throw new AppError("invalid_state", "The platform is closed. Open it again first.");
  const { sequence, applied } = await creditWallet(deps, platformId, {
    operationId: creditId(reference ?? newId("request", deps.clock.now())),
    tokens,
    actor: actorOf(scope.caller),
    requestId: scope.requestId,
    ...(note !== undefined && { note }),
  });
  if (applied)
    deps.audit.record(scope, {
      action: "billing.credited",
      target: { type: "platform", id: platformId },
      platformId,
    });
  const [entry, wallet] = await Promise.all([
    deps.stores.ledger.find(platformId, sequence),
    readWallet(deps, platformId),
  ]);
  invariant(entry !== undefined, "a credited entry is missing from the ledger");
  // Answering with the first entry would tell the operator that tokens were added which were not.
  if (entry.tokens !== tokens)
    throw new AppError("conflict", "This reference has credited another number of tokens.", {
      details: { existingId: entry.id },
    });
  return { entry: entryView(entry), tokenBalance: wallet.balance };
}
