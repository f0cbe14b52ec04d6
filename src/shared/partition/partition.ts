/* The part of core that other folders use: a platform's wallet, and the transactions that change its partition. */

export {
  accessOperation,
  isDecidedAgain,
  OutdatedAccess,
  requireSameVersion,
} from "./access-version.ts";
export {
  countsKey,
  countsWrite,
  countWrite,
  readCounts,
  summed,
  toCounts,
  type Counts,
} from "./application-counts.ts";
export type {
  Commit,
  PartitionDecision,
  PartitionOperation,
  PartitionView,
  Partitions,
} from "./operation.ts";
export {
  estimateTokens,
  priceOf,
  RATE_CARD,
  rateCard,
  type BillableOperation,
  type Operation,
  type RateCard,
} from "./rate-card.ts";
export { createPartitions } from "./stores.ts";
export {
  creditMarkerRow,
  ENTRY_ROWS,
  entryKey,
  MARKER_ROWS,
  markerKey,
  markerRow,
  toEntry,
  type StoredEntry,
} from "./wallet-row.ts";
export { WALLET_KEY } from "./partition-store.ts";
export {
  canCredit,
  nextUtcDay,
  paced,
  refusal,
  secondsUntil,
  spentToday,
  utcDay,
  viewBalance,
  type Balance,
  type Movement,
  type Wallet,
} from "./wallet.ts";
