import { recordAudit } from "../audit/record.ts";
import { actorOf } from "../callers/caller.ts";
import type { OperatorScope } from "../callers/scope.ts";
import { AppError, invariant, notFound } from "../runtime/errors.ts";
import { newId } from "../runtime/ids.ts";
import type { BillingDeps } from "./deps.ts";
import { creditWallet } from "./charge.ts";
import { entryView } from "./list-usage.ts";
import type { Credit } from "./schema.ts";

/**
 * Adds tokens to a platform's wallet. The same `reference` twice credits once and answers the first entry.
 * @throws AppError `not_found` when there is no such platform, `conflict` when the reference credited another amount
 */
export async function creditPlatform(services: BillingDeps, scope: OperatorScope, credit: Credit) {
  const { platformId, tokens, note, reference } = credit;
  if ((await services.platforms.find(platformId)) === undefined) throw notFound();
  const { sequence, applied } = await creditWallet(services, platformId, {
    operationId: `credit|${reference ?? newId("request", services.clock.now())}`,
    operation: "billing.credit",
    tokens,
    applicationId: null,
    profileId: null,
    postId: null,
    network: null,
    actor: actorOf(scope.caller),
    requestId: scope.requestId,
    ...(note === undefined ? {} : { note }),
  });
  if (applied)
    recordAudit(services, scope, {
      action: "billing.credited",
      target: { type: "platform", id: platformId },
      platformId,
    });
  const [entry, wallet] = await Promise.all([
    services.wallets.findEntry(platformId, sequence),
    services.wallets.read(platformId),
  ]);
  invariant(entry !== undefined, "a credited entry is missing from the ledger");
  // Answering the first entry would tell the operator that tokens were added which were not.
  if (entry.tokens !== tokens)
    throw new AppError("conflict", "This reference has credited another number of tokens.", {
      details: { existingId: entry.id },
    });
  return { entry: entryView(entry), tokenBalance: wallet.balance };
}
