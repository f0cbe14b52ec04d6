import type { Timer } from "../shared/http/worker.ts";

const load = async () => (await import("./background.ts")).background;

/**
 * One timer for all that comes by a schedule: each one more is a scale group of its own, which wakes up for itself. It
 * comes each minute, and runs every walk that is due.
 */
export const timers: readonly Timer[] = [
  {
    name: "run-due-walks",
    schedule: ({ config }) => {
      const seconds = config.walks.tickMs / 1_000;
      return seconds === 60 ? "0 * * * * *" : `*/${seconds} * * * * *`;
    },
    run: async (services, system) => (await load()).runDueWalks(services.background, system),
  },
];
