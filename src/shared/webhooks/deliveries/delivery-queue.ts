import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import { hintShape, type HintQueue } from "../../runtime/storage/queue.ts";

/** A hint that a delivery is due. */
export const DeliveryHint = hintShape(() => ({
  endpointId: z.string(),
  deliveryId: z.string(),
  dueAt: z.string(),
}));
export type DeliveryHint = ShapeOf<typeof DeliveryHint>;

export const DELIVERY_QUEUE = "deliver-webhooks";
export type DeliveryQueue = HintQueue<DeliveryHint>;
