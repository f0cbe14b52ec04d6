import * as z from "zod";
import type { Log } from "../log.ts";
import type { MessageQueue } from "../storage/queue.ts";

/** A hint that a platform has events which nobody was told of yet. */
export const FanOutHint = z.object({ v: z.literal(1), platformId: z.string() });
export type FanOutHint = z.output<typeof FanOutHint>;

export const FAN_OUT_QUEUE = "fan-out-events";

export class FanOutQueue {
  readonly #queue: MessageQueue;
  readonly #log: Log;

  constructor(queue: MessageQueue, log: Log) {
    this.#queue = queue;
    this.#log = log;
  }

  /** Never throws: an event waits in its row, and the sweeper sends a hint that was lost again. */
  async hint(platformId: string): Promise<void> {
    const hint: FanOutHint = { v: 1, platformId };
    try {
      await this.#queue.send(hint);
    } catch (error) {
      this.#log.warn("hint not sent, the sweeper will", { platformId, error });
    }
  }
}
