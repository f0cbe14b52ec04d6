import { isRecord } from "../runtime/is-record.ts";
import { withDocUrl } from "../runtime/doc-url.ts";
import { newId } from "../runtime/ids.ts";
import {
  fieldsForm,
  integerOrNull,
  longJson,
  rowCodec,
  text,
  textOrNull,
} from "../runtime/storage/codec.ts";
import type { Row, RowWrite } from "../runtime/storage/row.ts";
import { NO_ORIGIN, type Origin } from "../runtime/telemetry/work-context.ts";

export const EVENT_TYPES = [
  "post.scheduled",
  "post.updated",
  "post.processing",
  "post.succeeded",
  "post.partial",
  "post.failed",
  "post.canceled",
  "leg.succeeded",
  "leg.failed",
  "comment.succeeded",
  "comment.failed",
  "leg.removed",
  "leg.removal_failed",
  "connection.linked",
  "connection.expiring",
  "connection.needs_reauth",
  "connection.removed",
  "billing.balance_low",
  "billing.budget_reached",
  "webhook.test",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Something that happened, with the data of that moment. */
export interface Event {
  readonly id: string;
  readonly type: EventType;
  readonly createdAt: string;
  /** Increases with each event of a post. Null for events without a post. */
  readonly sequence: number | null;
  /** Null when the event goes to every application of the platform. */
  readonly applicationId: string | null;
  readonly profileId: string | null;
  readonly postId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** The request that caused it. It is never sent to receivers. */
  readonly origin: Origin;
}

export type NewEvent = Omit<Event, "id" | "createdAt" | "origin"> & { readonly origin?: Origin };

/** Prefix of the keys of pending events. */
export const PENDING_ROWS = "E|";

export const eventRow = rowCodec("event", {
  id: text(),
  type: text<EventType>(),
  createdAt: text(),
  sequence: integerOrNull(),
  applicationId: textOrNull(),
  profileId: textOrNull(),
  postId: textOrNull(),
  traceId: textOrNull(),
  requestId: textOrNull(),
  data: longJson(fieldsForm),
});

/** What the counts of a day need of an event. Columns of their own, so that counting doesn't read the data of events. */
export const outcomeRow = rowCodec("outcome of an event", {
  type: text<EventType>(),
  createdAt: text(),
  /** That of the leg. Null for other events. */
  network: textOrNull(),
  /** Why the leg failed. */
  code: textOrNull(),
});
export type EventOutcome = ReturnType<typeof outcomeRow.decode>;

export function newEvent(event: NewEvent, now: Date): Event {
  const { origin = NO_ORIGIN, ...rest } = event;
  return { ...rest, origin, id: newId("event", now), createdAt: now.toISOString() };
}

/** Returns the write that adds a pending event to the transaction that it reports. It is fanned out from there. */
export function eventWrite(event: NewEvent, now: Date): RowWrite {
  const made = newEvent(event, now);
  return { kind: "create", row: toEventRow(PENDING_ROWS + made.id, made) };
}

/** Reports whether a write adds an event that needs a hint. The writer of a post's events sends hints of its own. */
export function isAnnounced(write: RowWrite): boolean {
  return (
    write.kind === "create" &&
    write.row.rowKey.startsWith(PENDING_ROWS) &&
    write.row["postId"] === ""
  );
}

export function toEventRow(rowKey: string, { origin, ...event }: Event): Row {
  // An origin may be an object with further fields, which don't belong into the event.
  const { traceId, requestId } = origin;
  const leg = isRecord(event.data["leg"]) ? event.data["leg"] : {};
  const code = isRecord(leg["error"]) ? leg["error"]["code"] : undefined;
  const outcome = outcomeRow.encodePart({
    network: typeof leg["platform"] === "string" ? leg["platform"] : null,
    code: typeof code === "string" ? code : null,
  });
  return { ...eventRow.encode({ ...event, traceId, requestId }), ...outcome, rowKey };
}

export function toEvent(row: Row): Event {
  const { traceId, requestId, ...event } = eventRow.decode(row);
  return { ...event, origin: { traceId, requestId } };
}

/** The parts of a leg that can fail with an error of their own. */
const FOLLOWING = ["firstComment", "removal"];

function withErrorUrl(part: unknown, baseUrl: string): unknown {
  if (!isRecord(part) || !isRecord(part["error"])) return part;
  return { ...part, error: withUrl(part["error"], baseUrl) };
}

function withUrl(found: unknown, baseUrl: string): unknown {
  if (!isRecord(found) || typeof found["code"] !== "string") return found;
  return withDocUrl({ ...found, code: found["code"] }, baseUrl);
}

function legOfEvent(leg: unknown, baseUrl: string): unknown {
  const failed = withErrorUrl(leg, baseUrl);
  if (!isRecord(failed)) return failed;
  const { warnings } = failed;
  const known = Array.isArray(warnings)
    ? { ...failed, warnings: warnings.map((found) => withUrl(found, baseUrl)) }
    : failed;
  const parts = FOLLOWING.filter((name) => isRecord(known[name]));
  const urls = parts.map((name) => [name, withErrorUrl(known[name], baseUrl)] as const);
  return urls.length === 0 ? known : { ...known, ...Object.fromEntries(urls) };
}

function postOfEvent(post: unknown, baseUrl: string): unknown {
  if (!isRecord(post) || !Array.isArray(post["legs"])) return post;
  return { ...post, legs: post["legs"].map((leg) => legOfEvent(leg, baseUrl)) };
}

function connectionOfEvent(connection: unknown, baseUrl: string): unknown {
  if (!isRecord(connection)) return connection;
  return { ...connection, lastError: withUrl(connection["lastError"], baseUrl) };
}

/** Formats an event as it is listed and, if it fits, sent to endpoints. `baseUrl` is the relay's own. */
export function eventPayload(event: Event, baseUrl: string) {
  const { id, type, createdAt, sequence, applicationId, profileId } = event;
  // Adds links to the reference. Rows don't store them, because the relay's address may change.
  const data = {
    ...event.data,
    ...("post" in event.data && { post: postOfEvent(event.data["post"], baseUrl) }),
    ...("leg" in event.data && { leg: legOfEvent(event.data["leg"], baseUrl) }),
    ...("connection" in event.data && {
      connection: connectionOfEvent(event.data["connection"], baseUrl),
    }),
  };
  return { id, type, apiVersion: "v1", createdAt, sequence, applicationId, profileId, data };
}
