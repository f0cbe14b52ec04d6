import type { ProfileScope } from "../callers/scope.ts";
import { notFound } from "../runtime/errors.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { toSessionView, type ConnectSession } from "./connect-session.ts";
import { listConnections } from "./list-connections.ts";

/** The session when it belongs to the scope's profile. @throws AppError 404, for another tenant's alike */
export async function ownSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  sessionId: string,
): Promise<ConnectSession> {
  const session = await services.connectSessions.find(sessionId);
  const isOwn = session?.platformId === scope.platformId && session.profileId === scope.profileId;
  if (!isOwn) throw notFound();
  return session;
}

export async function getSession(
  services: ConnectionsDeps,
  scope: ProfileScope,
  sessionId: string,
) {
  const session = await ownSession(services, scope, sessionId);
  const { items } = await listConnections(services, scope);
  return toSessionView(session, items, services.clock.now());
}
