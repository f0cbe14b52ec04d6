/* What other folders use of events: the rows that report a change, and where they are kept. */

export {
  EVENT_TYPES,
  eventPayload,
  eventWrite,
  newEvent,
  PENDING_ROWS,
  toEvent,
  toEventRow,
  type Event,
  type EventType,
} from "./event.ts";
export { EventStore, type LoggedEvent, type PendingEvents } from "./event-store.ts";
