import * as z from "zod";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { hintOf } from "../runtime/storage/queue.ts";

export const WebhookHint = shape(() =>
  z.discriminatedUnion("kind", [
    /** A platform has pending events. */
    hintOf("events", { platformId: z.string() }),
    /** An endpoint has deliveries to be made. `dueAt` is the time of the due row that the hint comes from. */
    hintOf("deliveries", { endpointId: z.string(), dueAt: z.string().optional() }),
  ]),
);
export type WebhookHint = ShapeOf<typeof WebhookHint>;
export interface DeliveryHint {
  readonly endpointId: string;
  readonly dueAt?: string | undefined;
}

export const WEBHOOK_QUEUE = "webhooks";

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
