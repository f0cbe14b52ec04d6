import type { Timer } from "../shared/http/worker.ts";
import { repairStalledLegs } from "../shared/posts/repair-stalled-legs.ts";

export const timers: readonly Timer[] = [
  {
    name: "sweep-stalled-work",
    schedule: ({ config }) => config.publishing.sweepSchedule,
    run: repairStalledLegs,
  },
];
