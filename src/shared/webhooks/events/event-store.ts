import { idBefore } from "../../runtime/ids.ts";
import { RecentMap } from "../../runtime/recent-map.ts";
import { rowCodec, text } from "../../runtime/storage/codec.ts";
import type { StoredRow } from "../../runtime/storage/row.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { findAll, scan } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import { PENDING_ROWS, toEvent, toEventRow, type Event } from "./event.ts";

/** Right before the pending events, so that one read has both. */
const LEASE_ROW = "E";
/** As long as the events of a process that dies wait for another one; many times what a round of them takes. */
const LEASE_MS = 20_000;
/** A lease with less left is prolonged. */
const LEASE_LEFT_MS = 10_000;
const HOLDERS_KNOWN_MAX = 10_000;

/** The process that has a platform's pending events in hand. */
export const fanOutRow = rowCodec("fan-out lease", { by: text(), until: text() });

/** The right to fan out a platform's pending events, in the version in which it was read. */
export interface FanOutLease {
  readonly by: string;
  readonly until: string;
  readonly etag: string;
}

/** A platform's pending events, oldest first, and who has them in hand. */
export interface PendingEvents {
  readonly pending: readonly Event[];
  readonly lease: FanOutLease | undefined;
}

/** Decodes a lease. A damaged one has run out. */
function toLease({ row, etag }: StoredRow): FanOutLease {
  const { by, until } = unlessDamaged(() => fanOutRow.decode(row)) ?? { by: "", until: "" };
  return { by, until, etag };
}

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
  /** Until when other processes have the events of platforms in hand, as far as was seen here. */
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

  /** Reads the first of the platform's pending events, and who has them in hand. */
  async readPending(platformId: string, limit: number): Promise<PendingEvents> {
    let lease: FanOutLease | undefined;
    const { items: pending } = await scan(this.#core, {
      partitionKey: platformId,
      from: LEASE_ROW,
      before: afterPrefix(PENDING_ROWS),
      limit,
      pick(stored) {
        if (stored.row.rowKey !== LEASE_ROW) return toEvent(stored.row);
        lease = toLease(stored);
        return undefined;
      },
    });
    return { pending, lease };
  }

  /**
   * Takes the platform's pending events in hand, or keeps them for longer. `before` is the lease as it was read, `by` a
   * name of the caller's own. Returns undefined when another process has it, or has asked its holder to look again.
   */
  async takeFanOut(
    platformId: string,
    by: string,
    before: FanOutLease | undefined,
    now: Date,
  ): Promise<FanOutLease | undefined> {
    const at = now.toISOString();
    if (before !== undefined && before.by !== by && before.until > at) {
      this.#heldUntil.set(platformId, before.until);
      return undefined;
    }
    const until = new Date(now.getTime() + LEASE_MS).toISOString();
    const row = { ...fanOutRow.encode({ by, until }), rowKey: LEASE_ROW };
    const etag = await (before === undefined
      ? this.#core.insertIfAbsent(platformId, row)
      : this.#core.mergeIfUnchanged(platformId, row, before.etag));
    return etag === undefined ? undefined : { by, until, etag };
  }

  /** Keeps the lease for longer when little of it is left. Does nothing when its holder was asked to look again. */
  async prolongFanOut(platformId: string, lease: FanOutLease, now: Date): Promise<FanOutLease> {
    if (Date.parse(lease.until) - now.getTime() > LEASE_LEFT_MS) return lease;
    return (await this.takeFanOut(platformId, lease.by, lease, now)) ?? lease;
  }

  /**
   * Asks the process that has the platform's events in hand to look for more before it lets go of them: its lease gets
   * another version, and it gives back only the one that it knows. Returns false when nobody has them.
   */
  async askHolder(platformId: string): Promise<boolean> {
    return (
      (await this.#core.mergeIfUnchanged(platformId, { rowKey: LEASE_ROW }, "*")) !== undefined
    );
  }

  /** Returns whether another process had the platform's events in hand a short time ago, and may have them still. */
  isShared(platformId: string, now: Date): boolean {
    const until = this.#heldUntil.get(platformId);
    return until !== undefined && until > now.toISOString();
  }

  /** Gives the lease back, unless its holder was asked to look again. Returns whether it did. */
  endFanOut(platformId: string, { etag }: FanOutLease): Promise<boolean> {
    return this.#core.delete(platformId, LEASE_ROW, etag);
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
      await this.#log.putAll(
        applicationId,
        own.map((event) => toEventRow(event.id, event)),
      );
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
