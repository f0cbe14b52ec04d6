/* The part of billing that other folders use: charges, and the verbs of its routes. */

export { creditPlatform, getBalance, getLimits, updateLimits } from "./balance.ts";
export {
  charge,
  chargeTogether,
  creditId,
  creditWallet,
  debitOf,
  type Charge,
  type Debit,
} from "./charge.ts";
export type { BillingDeps } from "./deps.ts";
export { listUsage } from "./usage.ts";
