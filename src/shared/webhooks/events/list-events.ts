import { boundToView, listViewOf } from "../../callers/caller.ts";
import type { ApplicationScope } from "../../callers/scope.ts";
import { idBefore, timeOfId } from "../../runtime/ids.ts";
import type { Page } from "../../runtime/page.ts";
import type { WebhooksDeps } from "../deps.ts";
import { type Event, eventPayload } from "../../events/events.ts";
import type { ListEvents } from "../schema.ts";

export const LISTED_MS = 30 * 24 * 60 * 60 * 1000;
/**
 * How old an event must be to be listed. Ids are made before their transaction is written, so a reader that continues
 * after a younger event would miss an older one written later. A storage call takes up to 10 s, and clocks differ.
 */
export const LISTED_AFTER_MS = 15_000;
const PENDING_MAX = 1_000;
/** How many events a restricted key's page is selected from. The page may be short or empty before the end. */
const PICKED_FROM_MAX = 300;

export type EventPayload = ReturnType<typeof eventPayload>;

/** Reads logged and pending events, because those that are not fanned out yet must not be missing. */
async function eventsAfter(
  deps: WebhooksDeps,
  { platformId, applicationId }: ApplicationScope,
  after: string,
  limit: number,
): Promise<Event[]> {
  // Before the log, so that an event that moves in between is found there.
  const pending = await deps.stores.events.listPending(platformId, PENDING_MAX, after);
  const logged = await deps.stores.events.listAfter(applicationId, after, limit);
  const last = pending.length < PENDING_MAX ? undefined : pending.at(-1)?.id;
  const byId = new Map<string, Event>();
  for (const event of pending)
    if (event.applicationId === null || event.applicationId === applicationId)
      byId.set(event.id, { ...event, applicationId });
  for (const event of logged) byId.set(event.id, event);
  return [...byId.values()]
    .filter(({ id }) => last === undefined || id <= last)
    .sort((left, right) => (left.id < right.id ? -1 : 1));
}

/**
 * Lists the application's events of the last 30 days after the given one, oldest first. These are the events that
 * webhooks send. A restricted key sees those about its profiles.
 * @throws AppError `invalid_cursor`
 */
export async function listEvents(
  deps: WebhooksDeps,
  scope: ApplicationScope,
  { after, cursor, limit }: ListEvents,
): Promise<Page<EventPayload>> {
  const view = listViewOf(scope.caller);
  const bound = {
    list: "events",
    applicationId: scope.applicationId,
    after,
    ...boundToView(view),
  };
  const now = deps.clock.now();
  const asked = deps.cursors.read(cursor, bound) ?? after ?? "";
  // The id before every id of the events that are kept.
  const kept = idBefore("event", now.getTime() - LISTED_MS);
  const most = view === undefined ? limit : PICKED_FROM_MAX;
  const found = await eventsAfter(deps, scope, asked > kept ? asked : kept, most + 1);
  const listable = found.filter(
    ({ id }) => timeOfId("event", id) <= now.getTime() - LISTED_AFTER_MS,
  );
  const read = listable.slice(0, most);
  const seen = read.filter(
    ({ profileId }) => view === undefined || view.profileIds.has(profileId ?? ""),
  );
  const items = seen.slice(0, limit);
  const last =
    seen.length > limit ? items.at(-1) : listable.length > most ? read.at(-1) : undefined;
  return {
    items: items.map((event) => eventPayload(event, deps.config.publicBaseUrl)),
    nextCursor: last === undefined ? null : deps.cursors.make(last.id, bound),
    limit,
  };
}
