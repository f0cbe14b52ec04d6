import { idBefore } from "../runtime/ids.ts";
import {
  FREE,
  isHeld,
  LEASE_COLUMNS,
  type LeaseColumns,
  type LeasedState,
} from "../runtime/lease.ts";
import { RecentMap } from "../runtime/recent-map.ts";
import { rowCodec } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import { findAll, scan } from "../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import {
  outcomeRow,
  PENDING_ROWS,
  toEvent,
  toEventRow,
  type Event,
  type EventOutcome,
} from "./event.ts";

/** Directly before the pending events, so that one read has both. */
const LEASE_ROW = "E";
const HOLDERS_KNOWN_MAX = 10_000;

/** The lease of the process that handles a platform's pending events. The row exists only while there is one. */
export const fanOutRow = rowCodec("fan-out lease", LEASE_COLUMNS);

/** A platform's pending events, oldest first, and the lease of the process that handles them. */
export interface PendingEvents extends LeasedState<LeaseColumns> {
  readonly pending: readonly Event[];
}

/** Sorts after the id of every event. */
const LAST_EVENT = afterPrefix("evt_");

/** An event of the whole platform is stored once per application, because each application has its own log. */
export interface LoggedEvent extends Event {
  readonly applicationId: string;
}

/** What the counts of a day need of a logged event. */
export interface LoggedOutcome {
  readonly id: string;
  /** Undefined when the row is damaged. */
  readonly outcome: EventOutcome | undefined;
}

/** Columns of an event that counting reads. */
const OUTCOME_COLUMNS = [...Object.keys(outcomeRow.columns), "needs"];

/**
 * Stores pending events (table `core`, written together with the change that they report) and each application's log of
 * events (table `events`, in the order of ids, which is the order of time).
 */
export class EventStore {
  readonly #core: Table;
  readonly #log: Table;
  /** Until when other processes have leases on platforms' events, as far as this process has seen. */
  readonly #heldUntil = new RecentMap<string>(HOLDERS_KNOWN_MAX);

  constructor(core: Table, log: Table) {
    this.#core = core;
    this.#log = log;
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

  /** Reads the first of the platform's pending events and their lease. A damaged lease counts as expired. */
  async readPending(platformId: string, limit: number): Promise<PendingEvents> {
    let lease: LeasedState<LeaseColumns> = { state: FREE, etag: undefined };
    const { items: pending } = await scan(this.#core, {
      partitionKey: platformId,
      from: LEASE_ROW,
      before: afterPrefix(PENDING_ROWS),
      limit,
      pick({ row, etag }) {
        if (row.rowKey !== LEASE_ROW) return toEvent(row);
        lease = { state: unlessDamaged(() => fanOutRow.decode(row)) ?? FREE, etag };
        return undefined;
      },
    });
    return { pending, ...lease };
  }

  /** Writes the lease on the platform's pending events, in the version that was read. No lease means no row. */
  async writeFanOut(
    platformId: string,
    lease: Partial<LeaseColumns>,
    etag: string | undefined,
  ): Promise<string | undefined> {
    const row = { ...fanOutRow.encodePart(lease), rowKey: LEASE_ROW };
    if (etag === undefined) return this.#core.insertIfAbsent(platformId, row);
    if (lease.leaseId !== null) return this.#core.mergeIfUnchanged(platformId, row, etag);
    return (await this.#core.delete(platformId, LEASE_ROW, etag)) ? "" : undefined;
  }

  /**
   * Asks the process that handles the platform's events to check for more before it stops, by changing the version of
   * its lease: the holder gives back only the version that it knows. Returns false when no process has the lease.
   */
  async askHolder(platformId: string): Promise<boolean> {
    return (await this.writeFanOut(platformId, {}, "*")) !== undefined;
  }

  /** Notes until when another process has the lease on the platform's events. */
  noteHeld(platformId: string, { leaseUntil }: LeaseColumns): void {
    if (leaseUntil !== null) this.#heldUntil.set(platformId, leaseUntil);
  }

  /** Reports whether another process had the lease on the platform's events a short time ago, and may still have it. */
  isShared(platformId: string, now: Date): boolean {
    return isHeld({ leaseUntil: this.#heldUntil.get(platformId) ?? null }, now);
  }

  /** Removes pending events that are in the log and in every delivery. */
  async removePending(platformId: string, events: readonly Event[]): Promise<void> {
    await this.#core.deleteAll(
      platformId,
      events.map(({ id }) => PENDING_ROWS + id),
    );
  }

  async stillPending(platformId: string, events: readonly Event[]): Promise<readonly Event[]> {
    const keys = events.map(({ id }) => PENDING_ROWS + id);
    const stored = await findAll(this.#core, platformId, keys);
    return events.filter(({ id }) => stored.has(PENDING_ROWS + id));
  }

  async log(events: readonly LoggedEvent[]): Promise<void> {
    const byApplication = Map.groupBy(events, ({ applicationId }) => applicationId);
    for (const [applicationId, own] of byApplication) {
      await this.#log.putAll(
        applicationId,
        own.map((event) => toEventRow(event.id, event)),
      );
    }
  }

  removePendingOfPlatform(platformId: string, after: string | undefined) {
    const range = { from: PENDING_ROWS, before: afterPrefix(PENDING_ROWS) };
    return this.#core.removeSelected({ partitionKey: platformId, ...range }, after);
  }

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

  removeLoggedOfProfile(applicationId: string, profileId: string, after: string | undefined) {
    return this.#log.removeSelected(
      { partitionKey: applicationId, property: "profileId", values: [profileId] },
      after,
    );
  }

  removeLoggedBefore(applicationId: string, time: Date, after: string | undefined) {
    const before = idBefore("event", time.getTime());
    return this.#log.removeSelected({ partitionKey: applicationId, before }, after);
  }

  async find(applicationId: string, eventId: string): Promise<Event | undefined> {
    const stored = await this.#log.find(applicationId, eventId);
    return stored === undefined ? undefined : toEvent(stored.row);
  }

  /** Finds the application's events by their ids, without damaged or missing ones. */
  async findMany(
    applicationId: string,
    eventIds: readonly string[],
  ): Promise<ReadonlyMap<string, Event>> {
    const stored = await findAll(this.#log, applicationId, [...new Set(eventIds)]);
    const read = [...stored.values()].map(({ row }) => unlessDamaged(() => toEvent(row)));
    return new Map(read.flatMap((event) => (event === undefined ? [] : [[event.id, event]])));
  }

  /** Lists what became of things by the events between two ids, oldest first. Reads a few bytes of each event. */
  async listOutcomes(
    applicationId: string,
    {
      after,
      before,
      limit,
    }: { readonly after: string; readonly before: string; readonly limit: number },
  ): Promise<readonly LoggedOutcome[]> {
    const range = { from: `${after} `, before, limit, columns: OUTCOME_COLUMNS };
    const rows = await this.#log.list({ partitionKey: applicationId, ...range });
    return rows.map(({ row }) => ({
      id: row.rowKey,
      outcome: unlessDamaged(() => outcomeRow.decode(row)),
    }));
  }

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
