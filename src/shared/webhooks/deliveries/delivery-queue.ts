import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import { hintShape, type HintQueue } from "../../runtime/storage/queue.ts";

/** A hint that an endpoint has deliveries to be made. */
export const DeliveryHint = hintShape(() => ({
  endpointId: z.string(),
  /** Of version 0.2.0, whose hints named each delivery. */
  deliveryId: z.string().optional(),
  /** The time of the due row that the hint comes from. */
  dueAt: z.string().optional(),
}));
export type DeliveryHint = ShapeOf<typeof DeliveryHint>;

export const DELIVERY_QUEUE = "deliver-webhooks";
export type DeliveryQueue = HintQueue<DeliveryHint>;
