import type { ConnectionsDeps } from "./deps.ts";
import { sessionStatus, type ConnectSession, type SessionState } from "./connect-session.ts";

interface StateDeps extends Pick<ConnectionsDeps, "clock"> {
  readonly tenants: Pick<ConnectionsDeps["tenants"], "isActorActive">;
}

/** Returns the state of a session now. Reads who started it while it is open. */
export async function sessionState(
  services: StateDeps,
  session: ConnectSession,
): Promise<SessionState> {
  const status = sessionStatus(session, services.clock.now());
  return status === "open" && !(await hasOrigin(services, session)) ? "ended" : status;
}

/**
 * Returns whether those who started a session still could: its key or user, and who minted the grant that the key used.
 * None of them comes back once gone, so a session that has ended stays so.
 */
async function hasOrigin(services: StateDeps, session: ConnectSession): Promise<boolean> {
  const { platformId } = session;
  const found = await Promise.all(
    originIds(session).map((id) => services.tenants.isActorActive(platformId, id)),
  );
  return found.every(Boolean);
}

/** Returns the ids of the keys and users that a session stands on. */
export function originIds({ createdBy, grantedBy }: ConnectSession): readonly string[] {
  return grantedBy === null ? [createdBy.id] : [createdBy.id, grantedBy];
}
