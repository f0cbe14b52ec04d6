import * as z from "zod";
import { newId } from "../runtime/ids.ts";
import { shape } from "../runtime/shape.ts";
import { longJsonOrNull, oneOf, rowCodec } from "../runtime/storage/codec.ts";
import {
  replacedChunks,
  type Columns,
  type Row,
  type RowChange,
  type RowValue,
} from "../runtime/storage/row.ts";
import { currentOrigin, type Origin } from "../runtime/telemetry/work-context.ts";
import { fromConnectionRow, toConnectionRow } from "./connection-row.ts";
import type { Connection, ConnectionRef } from "./connection.ts";

const CONNECTION_EVENTS = [
  "connection.linked",
  "connection.expiring",
  "connection.needs_reauth",
  "connection.removed",
] as const;
/** Why a connection ended that neither its platform nor another account ended. */
export type RemovalReason = "deauthorized_at_network";
type ConnectionEvent = (typeof CONNECTION_EVENTS)[number];

/** An event of a connection, written with the change that it reports, that may not be emitted yet. */
export interface PendingEvent {
  /** The id of the event, which a repeated emit uses again. */
  readonly id: string;
  readonly type: ConnectionEvent;
  readonly at: string;
  /** The connection as it was then, maybe with another account than is linked now. */
  readonly connection: Connection;
  readonly reason?: RemovalReason | undefined;
  readonly origin: Origin;
  /** The number of older events that were dropped to make room. */
  readonly lostBefore: number;
}

/** The most events that one connection keeps. Each change of it, and an hourly search, tries to emit them. */
const PENDING_MAX = 8;
/** What a row has room for, beside the secrets and the limits of up to 100,000 characters each. */
const CHARACTERS_MAX = 150_000;

const storedEvents = shape(() =>
  z.array(
    z.object({
      id: z.string(),
      type: z.enum(CONNECTION_EVENTS),
      at: z.string(),
      /** The row of the connection, without its secrets. */
      connection: z
        .object({ rowKey: z.string() })
        .catchall(z.union([z.string(), z.number(), z.boolean()])),
      reason: z.literal("deauthorized_at_network").optional(),
      origin: z.object({ traceId: z.string().nullable(), requestId: z.string().nullable() }),
      lostBefore: z.number(),
    }),
  ),
);

/** The columns of a connection's row that hold its pending events, oldest first. */
export const pendingEventRow = rowCodec("pending events of a connection", {
  untold: longJsonOrNull(storedEvents),
  // A column of its own, because the service can't select rows where a text is not empty.
  hasUntold: oneOf(["no", "yes"]),
});

export const HAS_PENDING = { property: "hasUntold", values: ["yes"] } as const;

/** Returns an event of this moment that is not written yet. */
export function newEvent(
  type: ConnectionEvent,
  connection: Connection,
  now: Date,
  {
    id = newId("event", now),
    reason,
  }: { readonly id?: string; readonly reason?: RemovalReason | undefined } = {},
): PendingEvent {
  const at = now.toISOString();
  return { id, type, at, connection, reason, origin: currentOrigin(), lostBefore: 0 };
}

/** Returns the events of linking an account. The event of an account that was replaced comes first. */
export function eventsOfLinking(
  connection: Connection,
  before: Connection | undefined,
  now: Date,
  ids: { readonly removed: string; readonly linked: string },
): PendingEvent[] {
  const linked = newEvent("connection.linked", connection, now, { id: ids.linked });
  const isReplaced =
    before !== undefined &&
    before.account.id !== connection.account.id &&
    before.status !== "revoked";
  if (!isReplaced) return [linked];
  const removed = { ...before, status: "revoked" } as const;
  return [newEvent("connection.removed", removed, now, { id: ids.removed }), linked];
}

/** Returns the pending events of a connection's row, oldest first. @throws DamagedRow */
export function pendingEventsOf(ref: ConnectionRef, row: Row): PendingEvent[] {
  const { untold } = pendingEventRow.decode(row);
  return (untold ?? []).map((entry) => ({
    ...entry,
    connection: fromConnectionRow(ref, entry.connection).connection,
  }));
}

/** Returns whether the row has this event. @throws DamagedRow */
export function hasPendingEvent(ref: ConnectionRef, row: Row, eventId: string): boolean {
  return pendingEventsOf(ref, row).some(({ id }) => id === eventId);
}

/** Returns the change that puts a row back as it was before it got this event, unless it was changed since. */
export function withoutEvent(
  ref: ConnectionRef,
  { row, before, eventId }: { row: Row; before: Row | undefined; eventId: string },
): RowChange {
  if (before === undefined || !hasPendingEvent(ref, row, eventId)) return { kind: "leave" };
  return { kind: "write", columns: before };
}

function toStored(events: readonly PendingEvent[]) {
  return events.map(({ id, type, at, connection, reason, origin, lostBefore }) => ({
    id,
    type,
    at,
    connection: { rowKey: connection.network, ...toConnectionRow(connection, "") },
    ...(reason === undefined ? {} : { reason }),
    origin,
    lostBefore,
  }));
}

const sizeOf = (events: readonly PendingEvent[]) => JSON.stringify(toStored(events)).length;
const withoutLimits = (event: PendingEvent): PendingEvent => ({
  ...event,
  connection: { ...event.connection, limits: {} },
});

/** Returns the latest events that fit, with the number of dropped ones in the first. Drops limits before events. */
function bounded(events: readonly PendingEvent[]): readonly PendingEvent[] {
  let kept = sizeOf(events) > CHARACTERS_MAX ? events.map(withoutLimits) : events;
  while (kept.length > PENDING_MAX || sizeOf(kept) > CHARACTERS_MAX) {
    const [oldest, next, ...rest] = kept;
    if (oldest === undefined || next === undefined) break;
    kept = [{ ...next, lostBefore: next.lostBefore + oldest.lostBefore + 1 }, ...rest];
  }
  return kept;
}

/** Returns the columns for exactly these events, to be merged into the row as it was before. */
export function pendingEventColumns(
  events: readonly PendingEvent[],
  before: Row | undefined,
): Columns {
  const kept = bounded(events);
  const isNone = kept.length === 0;
  const columns = pendingEventRow.encode({
    untold: isNone ? null : toStored(kept),
    hasUntold: isNone ? "no" : "yes",
  });
  return { ...(before === undefined ? {} : replacedChunks("untold", "", before)), ...columns };
}

/** Returns the columns with these events added, for the write that changes the row. @throws DamagedRow */
export function withPendingEvents(
  ref: ConnectionRef,
  before: Row | undefined,
  ...added: readonly PendingEvent[]
): Columns {
  const events = before === undefined ? [] : pendingEventsOf(ref, before);
  return pendingEventColumns([...events, ...added], before);
}

/** Returns the columns unchanged, for a write that replaces the row without an event. */
export function samePendingEvents(before: Row): Columns {
  const isKept = ([name]: readonly [string, RowValue]) => /^(?:untold\d+|hasUntold)$/.test(name);
  return Object.fromEntries(Object.entries(before).filter(isKept));
}
