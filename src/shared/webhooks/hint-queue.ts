import * as z from "zod";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { hintOf } from "../runtime/storage/queue.ts";

export const WebhookHint = shape(() =>
  z.discriminatedUnion("kind", [
    /** A platform has pending events. */
    hintOf("events", { platformId: z.string() }),
    /** An endpoint has deliveries to make. `dueAt` is the time of the due row that caused the hint. */
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
 * Runs the same work for a key one at a time. A call that finds it running returns immediately, and the running work is
 * done once more, so that nothing which existed before the call is missed. With a batcher, callers would wait, and
 * their messages would take up the host's limit.
 */
export class Rerun {
  readonly #wanted = new Map<string, boolean>();

  /** Returns true when the work must be done once more after `endsAt`, in milliseconds of `performance`. */
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
