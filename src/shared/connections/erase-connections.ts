import type { ProfileScope } from "../callers/scope.ts";
import { AppError } from "../runtime/errors.ts";
import type { ConnectionStore } from "./connection-store.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { removeConnection } from "./remove-connection.ts";

/** The service accepts at most fifteen comparisons in one filter. */
const SESSIONS_OF_FILTER = 12;

const linkedConnections = (connections: ConnectionStore, scope: ProfileScope) =>
  connections.listOfProfile(scope, { missesNone: true });

/** Purges the secrets of the profile's accounts and ends their authorizations at the networks. May be repeated. */
export async function endConnections(
  services: ConnectionsDeps,
  scope: ProfileScope,
): Promise<void> {
  for (const { id, status } of await linkedConnections(services.stores.connections, scope))
    if (status !== "revoked")
      await removeConnection(services, scope, id).catch((error: unknown) => {
        // A concurrent run has removed it.
        if (!(error instanceof AppError && error.code === "not_found")) throw error;
      });
}

export async function clearConnections(services: ConnectionsDeps, scope: ProfileScope) {
  // An account that was being linked while the profile was closed may be linked by now.
  await endConnections(services, scope);
  const connections = await linkedConnections(services.stores.connections, scope);
  for (const connection of connections) await services.stores.connections.remove(connection);
  return { removed: connections.length, next: undefined };
}

/** Removes a page of a profile's connect sessions with their OAuth states. */
export async function clearSessions(
  { stores: { connectSessions, oauthStates } }: ConnectionsDeps,
  scope: ProfileScope,
  after: string | undefined,
) {
  const { ids, next } = await connectSessions.idsOfProfile(scope, after);
  for (let start = 0; start < ids.length; start += SESSIONS_OF_FILTER) {
    const batch = ids.slice(start, start + SESSIONS_OF_FILTER);
    // Before the sessions, because the states are found by them.
    await oauthStates.removeOfSessions(batch);
    await connectSessions.removeAll(scope, batch);
  }
  return { removed: ids.length, next };
}

/** Removes a page of the rows that say which authorizations a profile has. */
export const clearAuthorizations = (
  { stores }: ConnectionsDeps,
  { profileId }: ProfileScope,
  after: string | undefined,
) => stores.authorizations.removeOfProfile(profileId, after);
