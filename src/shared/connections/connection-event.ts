import type { RowWrite } from "../runtime/storage/row.ts";
import type { Origin } from "../runtime/telemetry/work-context.ts";
import { type EventType, eventWrite } from "../events/events.ts";
import type { Connection, ConnectionView } from "./connection.ts";

/** Why a connection ended that neither its platform nor another account ended. */
export type RemovalReason = "deauthorized_at_network";

/** Reads what is needed to show the connections of an account, and returns how they are shown. */
export type Viewer = (
  account: Pick<Connection, "network" | "account" | "limits">,
) => Promise<(connection: Connection) => ConnectionView>;

/** What an event of a connection says beside the connection as it is after the change. */
export interface EventContext {
  /** The work under way when the change was asked for: a transaction has changes of several. */
  readonly origin: Origin;
  readonly now: Date;
  readonly view: (connection: Connection) => ConnectionView;
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

/** Returns the events of linking an account. The event of an account that was replaced comes first. */
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
