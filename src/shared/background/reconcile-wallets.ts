import { reconcileWallet } from "../ledger/ledger.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";
import { overPlatforms } from "./walk.ts";

/** Makes the steps that check every platform. A mismatch is an error line for an alert to find. */
export function reconcileWallets(services: BackgroundDeps): TakeStep {
  return overPlatforms(services, "reconcile-wallets", async (platformId) => {
    const mismatches = await reconcileWallet(services.ledger, platformId);
    if (mismatches.length === 0) return {};
    services.work.metrics.count("wallets.mismatched", {});
    services.log.error("wallet does not reconcile", {
      event: "wallet_mismatch",
      platformId,
      mismatches,
    });
    return { counts: { mismatched: 1 } };
  });
}
