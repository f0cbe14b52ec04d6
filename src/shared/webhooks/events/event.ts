import { newId } from "../../runtime/ids.ts";
import {
  fromChunks,
  numberOf,
  textOf,
  textOrNull,
  toChunks,
  type Row,
  type RowWrite,
} from "../../runtime/storage/row.ts";
import {
  NO_ORIGIN,
  originOf,
  originProperties,
  type Origin,
} from "../../runtime/telemetry/origin.ts";

/** Everything that customers are told of. */
export const EVENT_TYPES = [
  "post.scheduled",
  "post.processing",
  "post.succeeded",
  "post.partial",
  "post.failed",
  "post.canceled",
  "leg.succeeded",
  "leg.failed",
  "connection.linked",
  "connection.expiring",
  "connection.needs_reauth",
  "connection.removed",
  "billing.balance_low",
  "billing.budget_reached",
  "webhook.test",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Something that happened, with the things as they were then. */
export interface Event {
  readonly id: string;
  readonly type: EventType;
  readonly createdAt: string;
  /** Grows per post; null for what is no post's. */
  readonly sequence: number | null;
  /** Null: every application of the platform is told. */
  readonly applicationId: string | null;
  readonly profileId: string | null;
  readonly postId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** The request that it goes back to. Ours alone: receivers are not told. */
  readonly origin: Origin;
}

export type NewEvent = Omit<Event, "id" | "createdAt" | "origin"> & { readonly origin?: Origin };

const PREFIX = "E|";
export const EVENT_ROWS = PREFIX;
const NO_SEQUENCE = -1;

/** An event that happened now. */
export function toldNow(event: NewEvent, now: Date): Event {
  const { origin = NO_ORIGIN, ...told } = event;
  return { ...told, origin, id: newId("event", now), createdAt: now.toISOString() };
}

/** The write that puts an event beside what it tells of, in one transaction; it is fanned out from there. */
export function eventWrite(event: NewEvent, now: Date): RowWrite {
  const stored = toldNow(event, now);
  return { kind: "create", row: toEventRow(PREFIX + stored.id, stored) };
}

export function toEventRow(rowKey: string, event: Event): Row {
  return {
    rowKey,
    id: event.id,
    type: event.type,
    createdAt: event.createdAt,
    sequence: event.sequence ?? NO_SEQUENCE,
    applicationId: event.applicationId ?? "",
    profileId: event.profileId ?? "",
    postId: event.postId ?? "",
    ...originProperties(event.origin),
    ...toChunks("data", JSON.stringify(event.data)),
  };
}

export function toEvent(row: Row): Event {
  const sequence = numberOf(row, "sequence");
  return {
    id: textOf(row, "id"),
    // Safe: the row was written by `toEventRow` from this very type.
    type: textOf(row, "type") as EventType,
    createdAt: textOf(row, "createdAt"),
    sequence: sequence === NO_SEQUENCE ? null : sequence,
    applicationId: textOrNull(row, "applicationId"),
    profileId: textOrNull(row, "profileId"),
    postId: textOrNull(row, "postId"),
    data: JSON.parse(fromChunks("data", row)) as Event["data"],
    origin: originOf(row),
  };
}

/** What customers are told, in the pull list and, as far as it fits, at their endpoints. */
export function eventPayload(event: Event) {
  const { id, type, createdAt, sequence, applicationId, profileId, data } = event;
  return { id, type, apiVersion: "v1", createdAt, sequence, applicationId, profileId, data };
}
