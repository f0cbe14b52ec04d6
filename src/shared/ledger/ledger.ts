/* The part of the ledger that other folders use: prices, the wallet, charges, and the verbs of `/v1/billing`. */

export { creditPlatform, getBalance, getLimits, readWallet, updateLimits } from "./balance.ts";
export {
  chargeTogether,
  creditId,
  creditWallet,
  debitWrites,
  purgeMarkers,
  type Charge,
  type Debit,
} from "./charge.ts";
export type { LedgerDeps, OpenReservation } from "./deps.ts";
export { estimateTokens, priceOf, RATE_CARD, rateCard, type WalletAct } from "./rate-card.ts";
export { exportUsage } from "./export-usage.ts";
export { reconcileWallet } from "./reconcile-wallet.ts";
export { createLedgerStores } from "./stores.ts";
export { listPlatformUsage, listUsage } from "./usage.ts";
export { WalletAlerts } from "./wallet-alerts.ts";
export { markerKey, markerRow, walletOf, walletWrites } from "./wallet-row.ts";
export {
  paced,
  spendingRefusal,
  secondsUntil,
  utcDay,
  type Movement,
  type Wallet,
} from "./wallet.ts";
