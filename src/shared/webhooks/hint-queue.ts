import * as z from "zod";
import type { OpenWorkStore } from "../due/open-work-store.ts";
import type { Log } from "../runtime/log.ts";
import type { ShapeOf } from "../runtime/shape.ts";
import { type MessageQueue, hintShape, HintQueue } from "../runtime/storage/queue.ts";

/** A hint that a platform has pending events, or that a walk is to go on. */
export const FanOutHint = hintShape(() => ({
  /** "" with a walk. */
  platformId: z.string(),
  /** Here, because each queue that there is costs something while it is idle. */
  walk: z
    .object({ name: z.string(), shard: z.int().min(0), isAsked: z.boolean().optional() })
    .optional(),
}));
export type FanOutHint = ShapeOf<typeof FanOutHint>;

export const FAN_OUT_QUEUE = "fan-out-events";

/** The queue of these hints. A failure to send does no harm: the event stays pending until the sweep sends another. */
export class FanOutQueue {
  readonly #queue: HintQueue<FanOutHint>;
  readonly #openWork: OpenWorkStore;
  readonly #log: Log;

  constructor(queue: MessageQueue, parts: { readonly openWork: OpenWorkStore; readonly log: Log }) {
    this.#queue = new HintQueue(queue);
    this.#openWork = parts.openWork;
    this.#log = parts.log;
  }

  /** Sends a hint. Never throws. */
  async hint(platformId: string): Promise<void> {
    try {
      await this.#queue.hint({ platformId });
    } catch (error) {
      this.#log.warn("hint not sent, the sweep will", { platformId, error });
    }
  }

  /** Sends a hint to continue a shard of a walk. Never throws: the timer finds a walk that stopped. */
  async continueWalk(name: string, shard: number): Promise<void> {
    try {
      await this.#queue.sendAlone({ v: 1, platformId: "", walk: { name, shard } });
    } catch (error) {
      this.#log.warn("walk not handed over, the timer will", { walk: name, shard, error });
    }
  }

  /** Sends a hint in a message of its own. @throws Error when the queue does not answer */
  sendAlone(hint: FanOutHint): Promise<void> {
    return this.#queue.sendAlone(hint);
  }

  /** Marks the platform in the open-work index, then sends a hint. Never throws. */
  async markAndHint(platformId: string, now: Date): Promise<void> {
    try {
      await this.#openWork.mark(platformId, now);
    } catch (error) {
      const message = "platform not marked as having open work, its next post marks it";
      this.#log.warn(message, { platformId, error });
    }
    await this.hint(platformId);
  }
}

/** A hint that an endpoint has deliveries to be made. */
export const DeliveryHint = hintShape(() => ({
  endpointId: z.string(),
  /** The time of the due row that the hint comes from. */
  dueAt: z.string().optional(),
}));
export type DeliveryHint = ShapeOf<typeof DeliveryHint>;

export const DELIVERY_QUEUE = "deliver-webhooks";
export type DeliveryQueue = HintQueue<DeliveryHint>;

/**
 * Runs the same work for a key one at a time. A call that finds it running returns at once, and the run that is under
 * way does the work once more, so that nothing which was there before the call is missed.
 */
export class Rerun {
  readonly #wanted = new Map<string, boolean>();

  async run(key: string, work: () => Promise<void>): Promise<void> {
    if (this.#wanted.has(key)) {
      this.#wanted.set(key, true);
      return;
    }
    try {
      do {
        this.#wanted.set(key, false);
        await work();
      } while (this.#wanted.get(key) === true);
    } finally {
      this.#wanted.delete(key);
    }
  }
}
