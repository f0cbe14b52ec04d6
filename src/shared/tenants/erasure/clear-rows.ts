import type { ProfileScope } from "../../callers/scope.ts";
import type { TenantsDeps } from "../deps.ts";
import { endConnections } from "./close-posts.ts";

interface ClearedPage {
  readonly removed: number;
  readonly next: string | undefined;
}

type Clear = (
  services: TenantsDeps,
  scope: ProfileScope,
  after: string | undefined,
) => Promise<ClearedPage>;

/** The service takes at most fifteen comparisons in one filter. */
const SESSIONS_OF_FILTER = 12;

async function clearConnections(services: TenantsDeps, scope: ProfileScope): Promise<ClearedPage> {
  // An account that was being linked while the profile was closed may be linked by now.
  await endConnections(services, scope);
  const connections = await services.connections.listOfProfile(scope.profileId, {
    missesNone: true,
  });
  for (const connection of connections) await services.connections.remove(connection);
  return { removed: connections.length, next: undefined };
}

async function clearSessions(
  services: TenantsDeps,
  { profileId }: ProfileScope,
  after: string | undefined,
): Promise<ClearedPage> {
  const { ids, next } = await services.connectSessions.idsOfProfile(profileId, after);
  for (let start = 0; start < ids.length; start += SESSIONS_OF_FILTER) {
    const batch = ids.slice(start, start + SESSIONS_OF_FILTER);
    // Before the sessions, by which they are found.
    await services.oauthStates.removeOfSessions(batch);
    await Promise.all(batch.map((id) => services.connectSessions.remove(id)));
  }
  return { removed: ids.length, next };
}

/**
 * Rows that workers and browsers may still write for a while, with a step for each kind. An erasure stores the number
 * of its step, so a new kind goes to the end. Posts are removed later, once all of this is found empty.
 */
export const CLEARING_STEPS: readonly Clear[] = [
  clearConnections,
  clearSessions,
  (services, { platformId, profileId }, after) =>
    services.events.removePendingOfProfile(platformId, profileId, after),
  (services, { applicationId, profileId }, after) =>
    services.events.removeLoggedOfProfile(applicationId, profileId, after),
  (services, { profileId }, after) => services.deliveries.removeOfProfile(profileId, after),
  (services, { profileId }, after) =>
    services.networkAccounts.removeTextsOfProfile(profileId, after),
  (services, { platformId, profileId }, after) =>
    services.idempotency.removeOfProfile(platformId, profileId, after),
  (services, scope, after) => services.connectionIndex.removeOfProfile(scope, after),
];
