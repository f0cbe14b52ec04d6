import type { Timer } from "../shared/http/worker.ts";
import { enqueueDuePosts } from "../shared/posts/enqueue-due-posts.ts";
import { purgeRateWindows } from "../shared/limits/purge-rate-windows.ts";
import { reconcileWallets } from "../shared/posts/reconcile-wallet.ts";
import { enqueueDueDeliveries } from "../shared/webhooks/due-delivery.ts";
import { repairStalledLegs } from "../shared/posts/repair-stalled-legs.ts";

export const timers: readonly Timer[] = [
  {
    name: "fire-due-posts",
    schedule: ({ config }) => config.publishing.fireSchedule,
    run: enqueueDuePosts,
  },
  {
    name: "hint-due-deliveries",
    schedule: ({ config }) => config.publishing.fireSchedule,
    run: enqueueDueDeliveries,
  },
  {
    name: "sweep-stalled-work",
    schedule: ({ config }) => config.publishing.sweepSchedule,
    run: repairStalledLegs,
  },
  {
    name: "reconcile-wallets",
    schedule: ({ config }) => config.publishing.reconcileSchedule,
    run: reconcileWallets,
  },
  {
    name: "purge-expired-rows",
    schedule: ({ config }) => config.publishing.purgeSchedule,
    run: purgeRateWindows,
  },
];
