import { DamagedRow } from "../runtime/storage/damaged-row.ts";
import { checkWallet, type WalletCheck } from "./check-wallet.ts";
import type { TakeStep } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";
import { overPlatforms } from "./over-platforms.ts";

/** A platform that was not found right for longer is an alert of its own: silence proves nothing. */
const UNCHECKED_MS_MAX = 6 * 60 * 60 * 1000;

/** Keeps the result of a check, and reports a platform whose last full check is too long ago. */
async function keepResult(
  services: BackgroundDeps,
  platformId: string,
  result: WalletCheck["kind"],
): Promise<void> {
  const now = services.clock.now();
  const since = await services.wallets.ledger.keepResult(platformId, result, now);
  // A mismatch has a line of its own, in every run.
  if (since === null || result === "mismatch") return;
  if (now.getTime() - Date.parse(since) <= UNCHECKED_MS_MAX) return;
  services.metrics.count("wallets.unchecked", {});
  services.log.error("wallet not fully checked", { event: "wallet_unchecked", platformId, since });
}

/** A damaged row is a mismatch of its own platform, and does not keep the others from being checked. */
async function resultOf(services: BackgroundDeps, platformId: string): Promise<WalletCheck> {
  try {
    return await checkWallet(services, platformId);
  } catch (error) {
    if (error instanceof DamagedRow) return { kind: "mismatch", mismatches: [error.message] };
    // The last full check may be long ago, and nobody else would say so.
    await keepResult(services, platformId, "moving");
    throw error;
  }
}

/** Checks a platform and keeps the result. Returns what does not agree. */
export async function reconcilePlatform(
  services: BackgroundDeps,
  platformId: string,
): Promise<readonly string[]> {
  const result = await resultOf(services, platformId);
  const mismatches = result.kind === "mismatch" ? result.mismatches : [];
  try {
    await keepResult(services, platformId, result.kind);
  } catch (error) {
    // The mark may be the very row that is damaged.
    if (!(error instanceof DamagedRow) || mismatches.length === 0) throw error;
  }
  return mismatches;
}

/** Makes the steps that check every platform. A mismatch is an error line for an alert to find. */
export function reconcileWallets(services: BackgroundDeps): TakeStep {
  return overPlatforms(services, "reconcile-wallets", async (platformId) => {
    const mismatches = await reconcilePlatform(services, platformId);
    if (mismatches.length === 0) return {};
    services.metrics.count("wallets.mismatched", {});
    services.log.error("wallet does not reconcile", {
      event: "wallet_mismatch",
      platformId,
      mismatches,
    });
    return { counts: { mismatched: 1 } };
  });
}
