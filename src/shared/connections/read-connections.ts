import { notFound } from "../runtime/errors.ts";
import type { Reader } from "../runtime/storage/codec.ts";
import type { Connection, ConnectionRef, ProfileRef } from "./connection.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { recordAccepted } from "./accepted-account.ts";

/** Lists the profile's connections, including revoked ones, without damaged rows. */
export function connectionsOf(
  { stores }: ConnectionsDeps,
  profile: ProfileRef,
  reader?: Reader,
): Promise<readonly Connection[]> {
  return stores.connections.listOfProfile(profile, reader === undefined ? {} : { reader });
}

export function openConnection({ stores }: ConnectionsDeps, ref: ConnectionRef) {
  return stores.connections.open(ref);
}

/** Records, for people to see, that a network accepted a call with the connection. Never throws. */
export async function recordUse(services: ConnectionsDeps, connection: Connection): Promise<void> {
  try {
    await recordAccepted(services, connection);
    await services.stores.connections.recordUse(connection);
  } catch (error) {
    services.log.warn("use of a connection not recorded", { connection: connection.id, error });
  }
}

/** Returns the profile that a connect session of the platform is for. @throws AppError `not_found` */
export async function profileOfSession(
  { stores }: ConnectionsDeps,
  session: { readonly platformId: string; readonly id: string },
): Promise<string> {
  const found = await stores.connectSessions.find(session);
  if (found === undefined) throw notFound();
  return found.profileId;
}
