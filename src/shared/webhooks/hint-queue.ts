import * as z from "zod";
import type { Log } from "../runtime/log.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { hintOf, type HintQueue } from "../runtime/storage/queue.ts";
import type { Wakes } from "../wake/wake.ts";

export const WebhookHint = shape(() =>
  z.discriminatedUnion("kind", [
    /** A platform has pending events. */
    hintOf("events", { platformId: z.string() }),
    /** An endpoint has deliveries to be made. `dueAt` is the time of the due row that the hint comes from. */
    hintOf("deliveries", { endpointId: z.string(), dueAt: z.string().optional() }),
    /** A walk has more to do. It is here because each queue costs something while it is idle. */
    hintOf("walk", { name: z.string(), isAsked: z.boolean().optional() }),
  ]),
);
export type WebhookHint = ShapeOf<typeof WebhookHint>;
export interface DeliveryHint {
  readonly endpointId: string;
  readonly dueAt?: string | undefined;
}

export const WEBHOOK_QUEUE = "webhooks";
export type WebhookQueue = HintQueue<WebhookHint>;

/** How a walk is to be run. */
interface AskedWalk {
  /** Begins a round even if it is not due. */
  readonly isAsked?: true;
  readonly delaySeconds?: number;
}

/** Sends hints for events and walks. A failure to send does no harm: the sweep and the timer find the work. */
export class FanOutQueue {
  readonly #queue: WebhookQueue;
  readonly #wakes: Pick<Wakes, "mark">;
  readonly #log: Log;

  constructor(
    queue: WebhookQueue,
    parts: { readonly wakes: Pick<Wakes, "mark">; readonly log: Log },
  ) {
    this.#queue = queue;
    this.#wakes = parts.wakes;
    this.#log = parts.log;
  }

  /** Sends a hint. Never throws. */
  async hint(platformId: string): Promise<void> {
    try {
      await this.#queue.hint({ kind: "events", platformId });
    } catch (error) {
      this.#log.warn("hint not sent, the sweep will", { platformId, error });
    }
  }

  /** Sends a hint to continue a walk. Never throws: the timer finds a walk that stopped. */
  async continueWalk(name: string, { isAsked, delaySeconds = 0 }: AskedWalk = {}): Promise<void> {
    try {
      const hint = { v: 1, kind: "walk", name, ...(isAsked === true ? { isAsked } : {}) } as const;
      await this.#queue.sendAlone(hint, delaySeconds);
    } catch (error) {
      this.#log.warn("walk not handed over, the timer will", { walk: name, error });
    }
  }

  /** Marks the platform in the wake index, then sends a hint. Never throws. */
  async markAndHint(platformId: string, now: Date): Promise<void> {
    try {
      await this.#wakes.mark("platform", platformId, now);
    } catch (error) {
      const message = "platform not marked as having open work, its next post marks it";
      this.#log.warn(message, { platformId, error });
    }
    await this.hint(platformId);
  }
}

/**
 * Runs the same work for a key one at a time. A call that finds it running returns at once, and the run that is under
 * way does the work once more, so that nothing which was there before the call is missed. Callers of a batcher would wait,
 * and their messages would take the room that the host gives to others.
 */
export class Rerun {
  readonly #wanted = new Map<string, boolean>();

  /** Returns true when the work is wanted once more after `endsAt`, in milliseconds of `performance`. */
  async run(key: string, work: () => Promise<void>, endsAt = Infinity): Promise<boolean> {
    if (this.#wanted.has(key)) {
      this.#wanted.set(key, true);
      return false;
    }
    const isWanted = () => this.#wanted.get(key) === true;
    try {
      do {
        this.#wanted.set(key, false);
        await work();
      } while (isWanted() && performance.now() < endsAt);
      return isWanted();
    } finally {
      this.#wanted.delete(key);
    }
  }
}
