import type { Clock } from "../runtime/process.ts";
import type { TenantsOfLinking } from "./deps.ts";
import { sessionStatus, type ConnectSession, type SessionState } from "./connect-session.ts";

type Actors = Pick<TenantsOfLinking, "isMakerActive">;

/** What tells the state of a session. */
export interface StateDeps {
  readonly clock: Clock;
  readonly tenants: Actors;
}

/** Returns the state of a session now. While it is open, the rows of its makers are read. */
export async function sessionState(
  services: StateDeps,
  session: ConnectSession,
): Promise<SessionState> {
  const status = sessionStatus(session, services.clock.now());
  return status === "open" && !(await hasMakers(services.tenants, session)) ? "ended" : status;
}

/** Reports whether the makers of a session are active. None of them comes back, so a session that has ended stays ended. */
async function hasMakers(tenants: Actors, session: ConnectSession): Promise<boolean> {
  const { platformId, makers } = session;
  const found = await Promise.all(makers.map((maker) => tenants.isMakerActive(platformId, maker)));
  return found.every(Boolean);
}
