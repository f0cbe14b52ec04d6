import type { Timer } from "../shared/http/worker.ts";

const load = async () => (await import("./background.ts")).background;

export const timers: readonly Timer[] = [
  {
    name: "fire-due-posts",
    schedule: ({ config }) => config.publishing.fireSchedule,
    run: async (services) => (await load()).enqueueDuePosts(services),
  },
  {
    name: "hint-due-deliveries",
    schedule: ({ config }) => config.publishing.fireSchedule,
    run: async (services) => (await load()).enqueueDueDeliveries(services),
  },
  {
    name: "sweep-stalled-work",
    schedule: ({ config }) => config.publishing.sweepSchedule,
    run: async (services) => (await load()).repairStalledLegs(services),
  },
  {
    name: "erase-profiles",
    schedule: ({ config }) => config.publishing.sweepSchedule,
    run: async (services, system) => (await load()).eraseProfiles(services, system),
  },
  {
    name: "find-forgotten-work",
    schedule: ({ config }) => config.publishing.reconcileSchedule,
    run: async (services) => (await load()).findForgottenWork(services),
  },
  {
    name: "reconcile-wallets",
    schedule: ({ config }) => config.publishing.reconcileSchedule,
    run: async (services) => (await load()).reconcileWallets(services),
  },
  {
    name: "look-after-accounts",
    schedule: ({ config }) => config.publishing.healthSchedule,
    run: async (services) => (await load()).checkAccounts(services),
  },
  {
    name: "purge-expired-rows",
    schedule: ({ config }) => config.publishing.purgeSchedule,
    run: async (services) => (await load()).purgeExpired(services),
  },
  {
    name: "warn-of-api-versions",
    schedule: ({ config }) => config.publishing.purgeSchedule,
    run: async (services) => (await load()).warnOfApiVersions(services),
  },
];
