import type { Timer } from "../shared/http/worker.ts";

const load = async () => (await import("./background.ts")).background;

/**
 * One timer for all that comes by a schedule: each one more is a scale group of its own, which wakes up for itself. It
 * comes as often as the finest schedule, and looks what else is due.
 */
export const timers: readonly Timer[] = [
  {
    name: "run-due-walks",
    schedule: ({ config }) => config.publishing.timerSchedule,
    run: async (services, system) => (await load()).runDueWalks(services, system),
  },
];
