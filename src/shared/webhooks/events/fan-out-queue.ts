import * as z from "zod";
import type { OpenWorkStore } from "../../due/open-work-store.ts";
import type { Log } from "../../runtime/log.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { MessageQueue } from "../../runtime/storage/queue.ts";
import { HINT_TRACE, hintTrace } from "../../runtime/telemetry/hint-trace.ts";

/** A hint that a platform has events which nobody was told of yet. */
export const FanOutHint = shape(() =>
  z.object({ v: z.literal(1), platformId: z.string(), ...HINT_TRACE() }),
);
export type FanOutHint = ShapeOf<typeof FanOutHint>;

export const FAN_OUT_QUEUE = "fan-out-events";

export class FanOutQueue {
  readonly #queue: MessageQueue;
  readonly #openWork: OpenWorkStore;
  readonly #log: Log;

  constructor(queue: MessageQueue, parts: { readonly openWork: OpenWorkStore; readonly log: Log }) {
    this.#queue = queue;
    this.#openWork = parts.openWork;
    this.#log = parts.log;
  }

  /** Never throws: an event waits in its row, and the sweeper sends a hint that was lost again. */
  async hint(platformId: string): Promise<void> {
    const hint: FanOutHint = { v: 1, platformId, ...hintTrace() };
    try {
      await this.#queue.send(hint);
    } catch (error) {
      this.#log.warn("hint not sent, the sweep will", { platformId, error });
    }
  }

  /** Does the same for a change whose platform was not marked before it was made. Never throws either. */
  async markAndHint(platformId: string, now: Date): Promise<void> {
    try {
      await this.#openWork.mark(platformId, now);
    } catch (error) {
      this.#log.warn("platform not marked as having open work, its next post marks it", {
        platformId,
        error,
      });
    }
    await this.hint(platformId);
  }
}
