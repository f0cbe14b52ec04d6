import { reconcileWallet } from "../ledger/ledger.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";
import { overPlatforms } from "./walk.ts";

/** Makes the steps that check every platform. A mismatch is an error line for an alert to find. */
export function reconcileWallets(deps: BackgroundDeps): TakeStep {
  return overPlatforms(deps, "reconcile-wallets", async (platformId) => {
    const mismatches = await reconcileWallet(deps.ledger, platformId);
    if (mismatches.length === 0) return {};
    deps.work.metrics.count("wallets.mismatched", {});
    deps.log.error("wallet does not reconcile", {
      event: "wallet_mismatch",
      platformId,
      mismatches,
    });
    return { counts: { mismatched: 1 } };
  });
}
