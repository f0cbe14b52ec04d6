import { createHash } from "node:crypto";
import type { Origin } from "../../runtime/telemetry/work-context.ts";
import type { EventType } from "../../events/events.ts";

/** Why there was no answer, or why no call is made yet or any more. */
export const DELIVERY_ERRORS = [
  "blocked_address",
  "timeout",
  "connect_failed",
  "tls_failed",
  "connection_lost",
  "too_large",
  "endpoint_failing",
  "endpoint_deleted",
  "endpoint_disabled",
  "event_expired",
  "interrupted",
] as const;
/** One of those, or an answer other than 2xx. */
export type DeliveryError = (typeof DELIVERY_ERRORS)[number] | `http_${number}`;

export type DeliveryStatus = "pending" | "succeeded" | "dead";

export interface DeliveryRef {
  readonly endpointId: string;
  readonly deliveryId: string;
}

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly eventId: string;
  readonly eventType: EventType;
  /** The profile that the event is about. Erasing the profile removes its deliveries. */
  readonly profileId: string | null;
  readonly postId: string | null;
  /** The request that caused its event. */
  readonly origin: Origin;
  readonly status: DeliveryStatus;
  /** Attempts begun. */
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastStatusCode: number | null;
  readonly lastError: DeliveryError | null;
  readonly durationMs: number | null;
  readonly responseBody: string | null;
  readonly redriveOf: string | null;
  /** The delivery that a redrive made from it. */
  readonly redrivenAs: string | null;
  readonly createdAt: string;
  readonly deliveredAt: string | null;
  readonly diedAt: string | null;
}

/**
 * Reports whether the delivery is only attempted while its endpoint's circuit is closed, or as a probe. Redrives and
 * test events are sent immediately, and a delivery that was attempted keeps its schedule.
 */
export function waitsForCircuit({ attempts, redriveOf, eventType }: Delivery): boolean {
  return attempts === 0 && redriveOf === null && eventType !== "webhook.test";
}

export function deliveryRefOf({ endpointId, id }: Delivery): DeliveryRef {
  return { endpointId, deliveryId: id };
}

const ID_PREFIX_LENGTH = "evt_".length;
const TIME_CHARACTERS = 10;
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const RANDOM_CHARACTERS = 16;

/**
 * Returns the id of an event's first delivery to an endpoint. It is always the same: it has the event's time, and a
 * hash instead of a ULID's random part.
 */
export function deliveryIdOf(eventId: string, endpointId: string): string {
  const digest = createHash("sha256").update(`${eventId}|${endpointId}`).digest();
  const hashed = [...digest.subarray(0, RANDOM_CHARACTERS)].map((byte) => CROCKFORD[byte % 32]);
  const time = eventId.slice(ID_PREFIX_LENGTH, ID_PREFIX_LENGTH + TIME_CHARACTERS);
  return `dlv_${time}${hashed.join("")}`;
}

export function viewDelivery(delivery: Delivery) {
  return {
    id: delivery.id,
    webhookId: delivery.endpointId,
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    postId: delivery.postId,
    status: delivery.status,
    attempts: delivery.attempts,
    nextAttemptAt: delivery.nextAttemptAt,
    lastStatusCode: delivery.lastStatusCode,
    lastError: delivery.lastError,
    durationMs: delivery.durationMs,
    responseBody: delivery.responseBody,
    redriveOf: delivery.redriveOf,
    createdAt: delivery.createdAt,
    deliveredAt: delivery.deliveredAt,
  };
}

export type DeliveryView = ReturnType<typeof viewDelivery>;

const JITTER = 0.1;
const RETRY_AFTER_SECONDS_MAX = 24 * 60 * 60;
/** Statuses whose `Retry-After` is respected (RFC 9110, 10.2.3). */
const ASKS_FOR_PATIENCE: ReadonlySet<number> = new Set([429, 503]);

/**
 * Returns the delay before the next attempt, or null when none is left. `random`, in [0, 1), spreads attempts by a
 * tenth either way. A receiver that asks for more time gets it.
 */
export function nextAttemptSeconds(
  delaysSeconds: readonly number[],
  attempts: number,
  random: number,
  retryAfterSeconds: number | null,
): number | null {
  const delay = delaysSeconds[attempts - 1];
  if (delay === undefined) return null;
  const spread = delay * (1 + JITTER * (2 * random - 1));
  return Math.max(spread, retryAfterSeconds ?? 0);
}

/** Parses `Retry-After`, which has seconds or a date. Returns at most a day, or null when it isn't valid. */
export function retryAfterSeconds(
  status: number,
  header: string | undefined,
  now: Date,
): number | null {
  if (header === undefined || !ASKS_FOR_PATIENCE.has(status)) return null;
  const text = header.trim();
  // `Date.parse` reads nearly anything as a date. An HTTP date names its month.
  const date = /[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  const seconds = /^\d+$/.test(text) ? Number(text) : (date - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(0, seconds), RETRY_AFTER_SECONDS_MAX);
}
