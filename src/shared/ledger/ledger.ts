/* The part of billing that other folders use: charges, and the verbs of its routes. */

export { creditPlatform, getBalance, getLimits, updateLimits } from "./balance.ts";
export {
  charge,
  chargeTogether,
  creditId,
  creditWallet,
  debitOf,
  purgeMarkers,
  type Charge,
  type Debit,
} from "./charge.ts";
export type { LedgerDeps, OpenReservation } from "./deps.ts";
export { reconcileWallet } from "./reconcile-wallet.ts";
export { createLedgerStores } from "./stores.ts";
export { listUsage } from "./usage.ts";
