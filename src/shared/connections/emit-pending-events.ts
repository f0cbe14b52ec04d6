import { newId, timeOfId } from "../runtime/ids.ts";
import { emitEvent } from "../webhooks/events/emit-event.ts";
import type { ConnectionRef } from "./connection.ts";
import type { ConnectionsDeps } from "./deps.ts";
import type { PendingEvent } from "./pending-event.ts";
import { viewConnection } from "./view-connection.ts";

/**
 * An event that is emitted later than this gets a new id, because readers of the list of events continue after the last
 * id that they saw. Within this time its writer may still be emitting it under the first id, and so does everybody
 * else.
 */
const LATE_MS = 60_000;

/**
 * Emits the pending events of a connection, in order. Returns whether all were emitted. Never throws: the others stay
 * in the row until the next change of the connection, or the hourly search.
 */
export async function emitPendingEvents(
  services: ConnectionsDeps,
  { profileId, network }: ConnectionRef,
): Promise<boolean> {
  const ref = { profileId, network };
  try {
    const pending = await services.pendingEvents.list(ref);
    return pending.length === 0 || (await emitAll(services, ref, pending));
  } catch (error) {
    services.log.warn("events of a connection are still pending", { ...ref, error });
    return false;
  }
}

async function emitAll(
  services: ConnectionsDeps,
  ref: ConnectionRef,
  pending: readonly PendingEvent[],
): Promise<boolean> {
  const known = await findEmitted(services, pending);
  const ids = freshIds(services, pending, known);
  const named = ids.size === 0 ? pending : await services.pendingEvents.rename(ref, ids);
  const emitted: string[] = [];
  for (const event of named) {
    if (!known.has(event.id) && !(await emit(services, event))) break;
    emitted.push(event.id);
  }
  await services.pendingEvents.remove(ref, emitted);
  return emitted.length === named.length;
}

/** Returns those that were emitted by a process which ended before it removed them. */
async function findEmitted(
  services: ConnectionsDeps,
  pending: readonly PendingEvent[],
): Promise<ReadonlySet<string>> {
  const emitted = new Set<string>();
  for (const { id, connection } of pending) {
    const { platformId, applicationId } = connection;
    if (await services.events.isEmitted(platformId, applicationId, id)) emitted.add(id);
  }
  return emitted;
}

/** Returns new ids for the first late event and for those after it, which would otherwise come before it. */
function freshIds(
  services: ConnectionsDeps,
  pending: readonly PendingEvent[],
  emitted: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const now = services.clock.now();
  const ids = new Map<string, string>();
  for (const { id } of pending) {
    const isLate = ids.size > 0 || now.getTime() - timeOfId("event", id) > LATE_MS;
    if (isLate && !emitted.has(id)) ids.set(id, newId("event", now));
  }
  return ids;
}

async function emit(services: ConnectionsDeps, event: PendingEvent): Promise<boolean> {
  const { id, type, at, connection, reason, origin, lostBefore } = event;
  const { platformId, applicationId, profileId } = connection;
  const isKept = await emitEvent(services, platformId, {
    id,
    type,
    createdAt: at,
    sequence: null,
    applicationId,
    profileId,
    postId: null,
    data: {
      connection: await viewConnection(services, connection),
      ...(reason === undefined ? {} : { reason }),
    },
    origin,
  });
  if (isKept && lostBefore > 0)
    services.log.error("event lost", { platformId, connection: connection.id, count: lostBefore });
  return isKept;
}
