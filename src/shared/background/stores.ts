import type { PoisonQueue } from "../runtime/storage/queue.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import { WalkStore } from "./walk-store.ts";

export type BackgroundStores = ReturnType<typeof createBackgroundStores>;

/** Creates the store of how far every walk is, and opens the poison queue of each queue. */
export const createBackgroundStores = (
  { housekeeping }: Tables,
  queues: readonly string[],
  open: (name: string) => PoisonQueue,
) => ({
  walks: new WalkStore(housekeeping),
  /** What the host moved out of each queue. It chooses their names. */
  poisonQueues: queues.map((name) => ({ name, poison: open(`${name}-poison`) })),
});
