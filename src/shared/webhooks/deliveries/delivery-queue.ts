import * as z from "zod";
import type { Due } from "../../due/due-store.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { MessageQueue } from "../../runtime/storage/queue.ts";
import { HINT_TRACE, hintTrace } from "../../runtime/telemetry/hint-trace.ts";
import type { DeliveryRef } from "./delivery.ts";

/** A hint that a delivery is due. Ids and the time only: the rows are the truth. */
export const DeliveryHint = shape(() =>
  z.object({
    v: z.literal(1),
    endpointId: z.string(),
    deliveryId: z.string(),
    dueAt: z.string(),
    ...HINT_TRACE(),
  }),
);
export type DeliveryHint = ShapeOf<typeof DeliveryHint>;

export const DELIVERY_QUEUE = "deliver-webhooks";

export class DeliveryQueue {
  readonly #queue: MessageQueue;

  constructor(queue: MessageQueue) {
    this.#queue = queue;
  }

  /** May be lost, doubled, early or late without harm. */
  async hint({ ref, dueAt }: Due<DeliveryRef>, delaySeconds: number): Promise<void> {
    const hint: DeliveryHint = { v: 1, ...ref, dueAt, ...hintTrace() };
    await this.#queue.send(hint, delaySeconds);
  }
}
