import type { PoisonQueue } from "../runtime/storage/queue.ts";

/** A queue, and what the host moved out of it. */
export interface Poisoned {
  readonly name: string;
  readonly poison: PoisonQueue;
}

/** Opens the poison queue of each queue. The host chooses their names. */
export function openPoisonQueues(
  queues: readonly string[],
  open: (name: string) => PoisonQueue,
): readonly Poisoned[] {
  return queues.map((name) => ({ name, poison: open(`${name}-poison`) }));
}
