import { idBefore } from "../../runtime/ids.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { findAll } from "../../runtime/storage/find-all.ts";
import { scan } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import { PENDING_ROWS, toEvent, toEventRow, type Event } from "./event.ts";

/** What sorts after the id of every event. */
const LAST_EVENT = afterPrefix("evt_");

/** Platform-wide events are kept once per application: each has a log of its own. */
export interface LoggedEvent extends Event {
  readonly applicationId: string;
}

/**
 * Pending events (table `core`, written with what they report) and each application's log of events (table `events`, in
 * the order of their ids, which is the order of time).
 */
export class EventStore {
  readonly #core: Table;
  readonly #log: Table;

  constructor(core: Table, log: Table) {
    this.#core = core;
    this.#log = log;
  }

  /** Adds a pending event where no transaction has changes to write beside it. One that is pending stays as it is. */
  async add(platformId: string, event: Event): Promise<void> {
    await this.#core.insertIfAbsent(platformId, toEventRow(PENDING_ROWS + event.id, event));
  }

  /** Returns whether the event is pending or was fanned out. */
  async isEmitted(platformId: string, applicationId: string, eventId: string): Promise<boolean> {
    const pending = await this.#core.find(platformId, PENDING_ROWS + eventId);
    // The log second: an event that moves in between is found there.
    return pending !== undefined || (await this.find(applicationId, eventId)) !== undefined;
  }

  /** Lists the platform's pending events after the given one, oldest first. */
  async listPending(platformId: string, limit: number, after = ""): Promise<readonly Event[]> {
    const { items } = await scan(this.#core, {
      partitionKey: platformId,
      from: PENDING_ROWS + (after === "" ? "" : `${after} `),
      before: afterPrefix(PENDING_ROWS),
      limit,
      pick: ({ row }) => toEvent(row),
    });
    return items;
  }

  /** Removes pending events that have reached the log and every delivery. */
  async removePending(platformId: string, events: readonly Event[]): Promise<void> {
    await this.#core.deleteAll(
      platformId,
      events.map(({ id }) => PENDING_ROWS + id),
    );
  }

  async log(events: readonly LoggedEvent[]): Promise<void> {
    const byApplication = Map.groupBy(events, ({ applicationId }) => applicationId);
    for (const [applicationId, own] of byApplication) {
      const rows = own.map((event) => toEventRow(event.id, event));
      await this.#log.putAll(applicationId, rows);
    }
  }

  /** Removes a page of the pending events about a profile. */
  removePendingOfProfile(platformId: string, profileId: string, after: string | undefined) {
    return this.#core.removeSelected(
      {
        partitionKey: platformId,
        from: PENDING_ROWS,
        before: afterPrefix(PENDING_ROWS),
        property: "profileId",
        values: [profileId],
      },
      after,
    );
  }

  /** Removes a page of the events about a profile from the application's log. */
  removeLoggedOfProfile(applicationId: string, profileId: string, after: string | undefined) {
    return this.#log.removeSelected(
      { partitionKey: applicationId, property: "profileId", values: [profileId] },
      after,
    );
  }

  /** Removes a page of the events before that time from the application's log. */
  removeLoggedBefore(applicationId: string, time: Date, after: string | undefined) {
    const before = idBefore("event", time.getTime());
    return this.#log.removeSelected({ partitionKey: applicationId, before }, after);
  }

  async find(applicationId: string, eventId: string): Promise<Event | undefined> {
    const stored = await this.#log.find(applicationId, eventId);
    return stored === undefined ? undefined : toEvent(stored.row);
  }

  /** Returns those of the application's events that are there, by their ids. Leaves out damaged ones. */
  async findMany(
    applicationId: string,
    eventIds: readonly string[],
  ): Promise<ReadonlyMap<string, Event>> {
    const stored = await findAll(this.#log, applicationId, [...new Set(eventIds)]);
    const read = [...stored.values()].map(({ row }) => unlessDamaged(() => toEvent(row)));
    return new Map(read.flatMap((event) => (event === undefined ? [] : [[event.id, event]])));
  }

  /** Lists the application's events after the given one, oldest first. */
  async listAfter(applicationId: string, after: string, limit: number): Promise<readonly Event[]> {
    const { items } = await scan(this.#log, {
      partitionKey: applicationId,
      from: `${after} `,
      before: LAST_EVENT,
      limit,
      pick: ({ row }) => toEvent(row),
    });
    return items;
  }
}
