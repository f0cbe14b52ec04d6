import { recordAudit } from "../audit/record.ts";
import type { ProfileScope } from "../callers/scope.ts";
import { AppError } from "../runtime/errors.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { sessionStatus, toSessionView } from "./connect-session.ts";
import { ownSession } from "./get-session.ts";
import { listConnections } from "./list-connections.ts";

/**
 * Ends an open session: a sign-in that is under way links nothing any more.
 * @throws AppError `not_found`, or `invalid_state` when it is not open
 */
export async function cancelSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  sessionId: string,
) {
  const session = await ownSession(services, scope, sessionId);
  const now = services.clock.now();
  const canceled = await services.connectSessions.change(session.id, (current) =>
    sessionStatus(current, now) === "open" ? { ...current, status: "canceled" } : undefined,
  );
  if (canceled === undefined) {
    const status = sessionStatus(session, now);
    const is = status === "open" ? "no longer open" : status;
    throw new AppError("invalid_state", `The connect session is ${is}.`);
  }
  const target = { type: "connect_session", id: session.id };
  recordAudit(services, scope, { action: "connect_session.canceled", target });
  const { items } = await listConnections(services, scope);
  return toSessionView(canceled, items, now);
}
