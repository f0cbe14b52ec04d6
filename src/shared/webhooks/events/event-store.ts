import { idBefore } from "../../runtime/ids.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import { EVENT_ROWS, toEvent, toEventRow, type Event } from "./event.ts";

/** Platform-wide events are kept once per application: each has a log of its own. */
export interface LoggedEvent extends Event {
  readonly applicationId: string;
}

/**
 * Events on their way (table `core`, written with what they tell of) and each application's log of them (table
 * `events`, in the order of their ids, which is the order of time).
 */
export class EventStore {
  readonly #core: Table;
  readonly #log: Table;

  constructor(core: Table, log: Table) {
    this.#core = core;
    this.#log = log;
  }

  /** For an event of its own, where no transaction has changes to write beside it. One that waits stays as it is. */
  async add(platformId: string, event: Event): Promise<void> {
    await this.#core.insertIfAbsent(platformId, toEventRow(EVENT_ROWS + event.id, event));
  }

  /** Whether the event waits to be fanned out or was. */
  async isTold(platformId: string, applicationId: string, eventId: string): Promise<boolean> {
    const waiting = await this.#core.find(platformId, EVENT_ROWS + eventId);
    // The log second: an event that leaves the one in between is found in the other.
    return waiting !== undefined || (await this.find(applicationId, eventId)) !== undefined;
  }

  /** Events of the platform that were not fanned out yet, after the given one, oldest first. */
  async listWaiting(platformId: string, limit: number, after = ""): Promise<Event[]> {
    const rows = await this.#core.list({
      partitionKey: platformId,
      from: EVENT_ROWS + (after === "" ? "" : `${after} `),
      before: afterPrefix(EVENT_ROWS),
      limit,
    });
    return rows.map(({ row }) => toEvent(row));
  }

  /** The events have reached the log and every delivery: repeating any of it would change nothing. */
  async removeWaiting(platformId: string, events: readonly Event[]): Promise<void> {
    await this.#core.deleteAll(
      platformId,
      events.map(({ id }) => EVENT_ROWS + id),
    );
  }

  async log(events: readonly LoggedEvent[]): Promise<void> {
    const byApplication = Map.groupBy(events, ({ applicationId }) => applicationId);
    for (const [applicationId, own] of byApplication) {
      const rows = own.map((event) => toEventRow(event.id, event));
      await this.#log.putAll(applicationId, rows);
    }
  }

  /** Removes a page of what waits to be fanned out about a profile. */
  removeWaitingOfProfile(platformId: string, profileId: string, after: string | undefined) {
    return this.#core.removeSelected(
      {
        partitionKey: platformId,
        from: EVENT_ROWS,
        before: afterPrefix(EVENT_ROWS),
        property: "profileId",
        values: [profileId],
      },
      after,
    );
  }

  /** Removes a page of what the application's log tells about a profile. */
  removeLoggedOfProfile(applicationId: string, profileId: string, after: string | undefined) {
    return this.#log.removeSelected(
      { partitionKey: applicationId, property: "profileId", values: [profileId] },
      after,
    );
  }

  /** Removes a page of what the application's log tells of the time before. */
  removeLoggedBefore(applicationId: string, time: Date, after: string | undefined) {
    const before = idBefore("event", time.getTime());
    return this.#log.removeSelected({ partitionKey: applicationId, before }, after);
  }

  async find(applicationId: string, eventId: string): Promise<Event | undefined> {
    const stored = await this.#log.find(applicationId, eventId);
    return stored === undefined ? undefined : toEvent(stored.row);
  }

  /** The application's events after the given one, oldest first. */
  async listAfter(applicationId: string, after: string, limit: number): Promise<Event[]> {
    const rows = await this.#log.list({
      partitionKey: applicationId,
      from: `${after} `,
      limit,
    });
    return rows.map(({ row }) => toEvent(row));
  }
}
