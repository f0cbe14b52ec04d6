import { DUE_SHARDS } from "../due/enqueue-due.ts";
import { hintDuePosts } from "../publishing/schedule/start-post.ts";
import { eraseProfiles } from "../tenants/erasure/erase-profiles.ts";
import { hintDueDeliveries } from "../webhooks/deliveries/queue-delivery.ts";
import { checkAccounts } from "./account-checks/check-accounts.ts";
import { finishWithdrawals } from "./finish-withdrawals.ts";
import { findForgottenWork } from "./find-forgotten-work.ts";
import { PURGE_WALKS } from "./purge-expired.ts";
import { reconcileWallets } from "./reconcile-wallet.ts";
import { repairStalledLegs } from "./repair-stalled-legs.ts";
import { tellForgotten } from "./tell-forgotten.ts";
import { PLATFORM_SHARDS, type Walk } from "./walk.ts";
import { warnOfApiVersions } from "./warn-of-api-versions.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Everything that comes by a schedule. Names stand in rows, log lines and `docs/operate.md`. */
export const WALKS: readonly Walk[] = [
  {
    name: "fire-due-posts",
    schedule: "fireSchedule",
    shards: DUE_SHARDS,
    behindSecondsMax: 5 * MINUTE,
    begin: hintDuePosts,
  },
  {
    name: "hint-due-deliveries",
    schedule: "fireSchedule",
    shards: DUE_SHARDS,
    behindSecondsMax: 10 * MINUTE,
    begin: hintDueDeliveries,
  },
  {
    name: "sweep-stalled-work",
    schedule: "sweepSchedule",
    shards: PLATFORM_SHARDS,
    behindSecondsMax: 15 * MINUTE,
    begin: repairStalledLegs,
  },
  {
    name: "erase-profiles",
    schedule: "sweepSchedule",
    shards: 2,
    isSlow: true,
    hasWork: ({ erasures, clock }) => erasures.hasDue(clock.now()),
    behindSecondsMax: 6 * HOUR,
    begin: eraseProfiles,
  },
  {
    name: "find-forgotten-work",
    schedule: "reconcileSchedule",
    shards: PLATFORM_SHARDS,
    behindSecondsMax: 3 * HOUR,
    begin: findForgottenWork,
  },
  {
    name: "tell-forgotten-connections",
    schedule: "reconcileSchedule",
    shards: 1,
    behindSecondsMax: 3 * HOUR,
    begin: tellForgotten,
  },
  {
    name: "finish-withdrawals",
    schedule: "reconcileSchedule",
    shards: 1,
    behindSecondsMax: 3 * HOUR,
    begin: finishWithdrawals,
  },
  {
    name: "reconcile-wallets",
    schedule: "reconcileSchedule",
    shards: PLATFORM_SHARDS,
    behindSecondsMax: 3 * HOUR,
    begin: reconcileWallets,
  },
  {
    name: "look-after-accounts",
    schedule: "healthSchedule",
    shards: 1,
    // A day, less what a timer may be late: rounds begin at the same hour.
    roundSeconds: 23.5 * HOUR,
    isSlow: true,
    behindSecondsMax: 36 * HOUR,
    begin: (services) => checkAccounts(services),
  },
  ...PURGE_WALKS,
  {
    name: "warn-of-api-versions",
    schedule: "purgeSchedule",
    shards: 1,
    behindSecondsMax: 48 * HOUR,
    begin: (services) => async () => {
      await warnOfApiVersions(services);
      return { next: undefined };
    },
  },
];
