import type { EventOutcome, LoggedOutcome } from "../../events/events.ts";
import { idBefore, timeOfId } from "../../runtime/ids.ts";
import { LOST, retryLostRaces } from "../../runtime/retry-lost-races.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import type { WebhooksDeps } from "../deps.ts";
import { addOutcome, type DayCounts, isCounted, NO_COUNTS } from "./day-counts.ts";
import { dayRow } from "./day-store.ts";
import { LISTED_AFTER_MS, LISTED_MS } from "./list-events.ts";

/** As many as one query returns. */
const EVENTS_OF_PAGE = 1_000;
/** Pages that one call counts. */
const PAGES_MAX = 5;
/** Their rows fit into a transaction. */
const DAYS_AT_ONCE = 31;

const outcomeDay = ({ createdAt }: EventOutcome) => createdAt.slice(0, 10);

export interface CountedDays {
  /** The days that were asked for, without damaged ones. */
  readonly days: ReadonlyMap<string, DayCounts>;
  /** Up to when events are counted. */
  readonly asOf: string;
  /** Whether no event is left that can be counted now. */
  readonly isUpToDate: boolean;
}

/**
 * Adds the application's events that aren't counted yet to the counts of their days, in the order of their ids: 5,000 of
 * them, or those of 31 days. Days and the id of the last counted event are written in one transaction, so each event is
 * counted once, however often and in how many processes this is repeated. Returns the days from `from` on, or none.
 * @throws DamagedRow when a day that has to change is damaged
 */
export function countDays(
  deps: WebhooksDeps,
  { platformId, applicationId }: { readonly platformId: string; readonly applicationId: string },
  from?: string,
): Promise<CountedDays> {
  const { events: log, days: store } = deps.stores;
  return retryLostRaces(async () => {
    const now = deps.clock.now().getTime();
    const { end, days: stored } = await store.read(applicationId, from);
    // Before the log, so that an event that moves in between is found there. One that is stuck for longer than events
    // are kept doesn't keep the others.
    const [stuck] = await log.listPending(platformId, 1, idBefore("event", now - LISTED_MS));
    const stuckAt = stuck === undefined ? Infinity : timeOfId("event", stuck.id);
    const settledAt = Math.min(now - LISTED_AFTER_MS, stuckAt);
    const settled = idBefore("event", settledAt);
    const before = settledAt === stuckAt && stuck !== undefined ? stuck.id : settled;
    const events: LoggedOutcome[] = [];
    let isUpToDate = false;
    for (let page = 0; page < PAGES_MAX && !isUpToDate; page += 1) {
      const after = events.at(-1)?.id ?? end.last;
      const found = await log.listOutcomes(applicationId, { after, before, limit: EVENTS_OF_PAGE });
      events.push(...found);
      isUpToDate = found.length < EVENTS_OF_PAGE;
    }
    const counted: EventOutcome[] = [];
    const days = new Set<string>();
    let { last } = end;
    for (const { id, outcome } of events) {
      if (outcome !== undefined && isCounted(outcome)) {
        days.add(outcomeDay(outcome));
        if (days.size > DAYS_AT_ONCE) {
          isUpToDate = false;
          break;
        }
        counted.push(outcome);
      }
      last = id;
    }
    const unread = counted.map(outcomeDay).filter((day) => from === undefined || day < from);
    const found = await store.findDays(applicationId, [...new Set(unread)]);
    const rows = new Map([...stored, ...found]);
    const changed = new Map<string, DayCounts>();
    for (const outcome of counted) {
      const day = outcomeDay(outcome);
      const row = rows.get(day)?.row;
      const before = changed.get(day) ?? (row === undefined ? NO_COUNTS : dayRow.decode(row).ended);
      changed.set(day, addOutcome(before, outcome));
    }
    const written = [...changed].map(([day, counts]) => ({
      day,
      counts,
      etag: rows.get(day)?.etag,
    }));
    const isWritten =
      last === end.last || (await store.write(applicationId, { ...end, last }, written));
    if (!isWritten) return LOST;
    const shown = new Map<string, DayCounts>();
    for (const [day, { row }] of stored) {
      const counts = changed.get(day) ?? unlessDamaged(() => dayRow.decode(row).ended);
      if (counts !== undefined) shown.set(day, counts);
    }
    for (const [day, counts] of changed)
      if (from !== undefined && day >= from) shown.set(day, counts);
    const asOf = isUpToDate ? settledAt : timeOfId("event", last);
    return { days: shown, asOf: new Date(asOf).toISOString(), isUpToDate };
  });
}
