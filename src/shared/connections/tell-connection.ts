import { newId, timeOfId } from "../runtime/ids.ts";
import type { ConnectionsDeps } from "./deps.ts";
import { emitEvent } from "../webhooks/events/emit-event.ts";
import type { ConnectionPlace } from "./connection-index-store.ts";
import { viewConnection } from "./quota.ts";
import type { Untold } from "./untold.ts";

/**
 * Readers of the list of events go on after the last id that they saw: an event that is told later than this gets an id
 * of now. Sooner, its maker may still be writing it under the first one, and everybody else does so too.
 */
const LATE_MS = 60_000;

/**
 * Tells the application what became of a connection and was not told yet, in order. Never throws: what can't be told
 * now stays in the row for the next change of the connection, or for the hourly search. Answers whether all was told.
 */
export async function tellUntold(
  services: ConnectionsDeps,
  { profileId, network }: ConnectionPlace,
): Promise<boolean> {
  const place = { profileId, network };
  try {
    const untold = await services.untold.list(place);
    return untold.length === 0 || (await tellAll(services, place, untold));
  } catch (error) {
    services.log.warn("events of a connection wait to be told", { ...place, error });
    return false;
  }
}

async function tellAll(
  services: ConnectionsDeps,
  place: ConnectionPlace,
  untold: readonly Untold[],
): Promise<boolean> {
  const known = await findTold(services, untold);
  const names = freshIds(services, untold, known);
  const named = names.size === 0 ? untold : await services.untold.rename(place, names);
  const told: string[] = [];
  for (const entry of named) {
    if (!known.has(entry.id) && !(await tell(services, entry))) break;
    told.push(entry.id);
  }
  await services.untold.settle(place, told);
  return told.length === named.length;
}

/** Those that a process told which ended before it could note it. */
async function findTold(
  services: ConnectionsDeps,
  untold: readonly Untold[],
): Promise<ReadonlySet<string>> {
  const told = new Set<string>();
  for (const { id, connection } of untold) {
    const { platformId, applicationId } = connection;
    if (await services.events.isTold(platformId, applicationId, id)) told.add(id);
  }
  return told;
}

/** For the first one that is late, and those after it, which would else stand before it. */
function freshIds(
  services: ConnectionsDeps,
  untold: readonly Untold[],
  told: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const now = services.clock.now();
  const names = new Map<string, string>();
  for (const { id } of untold) {
    const isLate = names.size > 0 || now.getTime() - timeOfId("event", id) > LATE_MS;
    if (isLate && !told.has(id)) names.set(id, newId("event", now));
  }
  return names;
}

async function tell(services: ConnectionsDeps, entry: Untold): Promise<boolean> {
  const { id, type, at, connection, origin, lostBefore } = entry;
  const { platformId, applicationId, profileId } = connection;
  const isKept = await emitEvent(services, platformId, {
    id,
    type,
    createdAt: at,
    sequence: null,
    applicationId,
    profileId,
    postId: null,
    data: { connection: await viewConnection(services, connection) },
    origin,
  });
  if (isKept && lostBefore > 0)
    services.log.error("event lost", { platformId, connection: connection.id, count: lostBefore });
  return isKept;
}
