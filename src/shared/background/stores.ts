import { HintQueue, type MessageQueue, type PoisonQueue } from "../runtime/storage/queue.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import type { WalkHint } from "./walk-queue.ts";
import { WalkStore } from "./walk-store.ts";

export type BackgroundStores = ReturnType<typeof createBackgroundStores>;

/** Creates the store of how far every walk is, and opens the queue of walks and the poison queue of each queue. */
export const createBackgroundStores = (
  { housekeeping }: Tables,
  walkQueue: MessageQueue,
  queues: readonly string[],
  openPoison: (name: string) => PoisonQueue,
) => ({
  walkQueue: new HintQueue<WalkHint>(walkQueue),
  walks: new WalkStore(housekeeping),
  /** The host has moved messages there and chooses the names. */
  poisonQueues: queues.map((name) => ({ name, poison: openPoison(`${name}-poison`) })),
});
