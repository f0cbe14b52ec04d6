import type { Timer } from "../shared/host/worker.ts";

const loadWalks = async () => (await import("./background-verbs.ts")).backgroundVerbs;

/**
 * One timer for all scheduled work. It fires each minute and runs every walk that is due. Each further timer would be a
 * scale group of its own, which wakes up separately.
 */
export const timers: readonly Timer[] = [
  {
    name: "run-due-walks",
    schedule: ({ config }) => {
      const seconds = config.walks.tickMs / 1_000;
      return seconds === 60 ? "0 * * * * *" : `*/${seconds} * * * * *`;
    },
    run: async (services, system) => (await loadWalks()).runDueWalks(services.background, system),
  },
];
