import type { RowWrite } from "../runtime/storage/row.ts";
import type { Origin } from "../runtime/telemetry/work-context.ts";
import { type EventType, eventWrite } from "../events/events.ts";
import type { Connection, ConnectionRecord } from "./connection.ts";

/** Reason for the end of a connection that neither its platform nor another account has ended. */
export type RemovalReason = "deauthorized_at_network" | "disconnected_on_page";

/** Reads what is needed to show the connections of an account, and returns a function that shows them. */
export type Viewer = (
  account: Pick<Connection, "network" | "account" | "limits">,
) => Promise<(connection: Connection) => ConnectionRecord>;

/** What an event of a connection needs in addition to the connection after the change. */
export interface EventContext {
  /** The work that requested the change, because one transaction has changes of several. */
  readonly origin: Origin;
  readonly now: Date;
  readonly view: (connection: Connection) => ConnectionRecord;
  readonly reason?: RemovalReason | undefined;
}

/** Returns the write that adds an event of a connection to the transaction of its change. */
export function connectionEvent(
  type: Extract<EventType, `connection.${string}`>,
  connection: Connection,
  { origin, now, view, reason }: EventContext,
): RowWrite {
  const { applicationId, profileId } = connection;
  const data = { connection: view(connection), ...(reason === undefined ? {} : { reason }) };
  const whose = { sequence: null, applicationId, profileId, postId: null };
  return eventWrite({ type, ...whose, data, origin }, now);
}

/** Returns the events of linking an account. If another account was replaced, its event comes first. */
export function eventsOfLinking(
  connection: Connection,
  before: Connection | undefined,
  context: EventContext,
): RowWrite[] {
  const isReplaced =
    before !== undefined &&
    before.account.id !== connection.account.id &&
    before.status !== "revoked";
  const removed = isReplaced
    ? [connectionEvent("connection.removed", { ...before, status: "revoked" }, context)]
    : [];
  return [...removed, connectionEvent("connection.linked", connection, context)];
}
