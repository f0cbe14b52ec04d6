import {
  integer,
  integerOrNull,
  oneOf,
  rowCodec,
  text,
  textOrNull,
} from "../../runtime/storage/codec.ts";
import type { EventType } from "../events/event.ts";
import type { DeliveryError } from "./delivery.ts";

/** A delivery; the partition has its endpoint. */
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
  leaseUntil: textOrNull(),
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
