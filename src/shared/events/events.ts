/* The part of events that other folders use: the rows that report a change, and their stores. */

export {
  EVENT_TYPES,
  eventPayload,
  eventWrite,
  isAnnounced,
  newEvent,
  PENDING_ROWS,
  toEvent,
  toEventRow,
  type Event,
  type EventOutcome,
  type EventType,
} from "./event.ts";
export {
  EventStore,
  type LoggedEvent,
  type LoggedOutcome,
  type PendingEvents,
} from "./event-store.ts";
