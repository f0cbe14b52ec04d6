import type { Clock } from "../runtime/process.ts";
import type { TenantsOfLinking } from "./deps.ts";
import { sessionStatus, type ConnectSession, type SessionState } from "./connect-session.ts";

type Actors = Pick<TenantsOfLinking, "isActorActive">;

/** What tells the state of a session. */
export interface StateDeps {
  readonly clock: Clock;
  readonly tenants: Actors;
}

/** Returns the state of a session now. While it is open, the rows of its creators are read. */
export async function sessionState(
  services: StateDeps,
  session: ConnectSession,
): Promise<SessionState> {
  const status = sessionStatus(session, services.clock.now());
  return status === "open" && !(await hasOrigin(services.tenants, session)) ? "ended" : status;
}

/**
 * Reports whether the creators of a session still exist: its key or user, and the one that minted the grant which the
 * key used. None of them comes back once gone, so a session that has ended stays ended.
 */
async function hasOrigin(tenants: Actors, session: ConnectSession): Promise<boolean> {
  const { platformId } = session;
  const found = await Promise.all(
    originIds(session).map((id) => tenants.isActorActive(platformId, id)),
  );
  return found.every(Boolean);
}

/** Returns the ids of the keys and users that a session depends on. */
export function originIds({ createdBy, grantedBy }: ConnectSession): readonly string[] {
  return grantedBy === null ? [createdBy.id] : [createdBy.id, grantedBy];
}
