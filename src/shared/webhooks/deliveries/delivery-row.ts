import {
  integer,
  integerOrNull,
  oneOf,
  type Reader,
  rowCodec,
  text,
  textOrNull,
} from "../../runtime/storage/codec.ts";
import { newestFirst } from "../../runtime/storage/newest-first.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { EventType } from "../../events/events.ts";
import type { Delivery, DeliveryError } from "./delivery.ts";

/** A delivery. The partition is its endpoint. */
export const deliveryRow = rowCodec("delivery", {
  id: text(),
  platformId: text(),
  applicationId: text(),
  eventId: text(),
  eventType: text<EventType>(),
  profileId: textOrNull(),
  postId: textOrNull(),
  status: oneOf(["pending", "succeeded", "dead"]),
  attempts: integer(),
  nextAttemptAt: textOrNull(),
  lastError: textOrNull<DeliveryError>(),
  responseBody: textOrNull(),
  redriveOf: textOrNull(),
  redrivenAs: textOrNull(),
  createdAt: text(),
  deliveredAt: textOrNull(),
  diedAt: textOrNull(),
  traceId: textOrNull(),
  requestId: textOrNull(),
  lastStatusCode: integerOrNull(),
  durationMs: integerOrNull(),
});

export const deliveries = newestFirst("delivery", "D|", toDelivery);
export const deliveryKey = deliveries.key;

export function toDeliveryRow({ origin, ...delivery }: Delivery): Row {
  const { traceId, requestId } = origin;
  const columns = deliveryRow.encode({ ...delivery, traceId, requestId });
  return { ...columns, rowKey: deliveryKey(delivery.id) };
}

export function toDelivery(endpointId: string, row: Row, reader?: Reader): Delivery {
  const { traceId, requestId, ...delivery } = deliveryRow.decode(row, reader);
  return { ...delivery, endpointId, origin: { traceId, requestId } };
}
