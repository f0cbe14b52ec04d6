import type { Table } from "../runtime/storage/table.ts";
import { networkNamed } from "./connection-row.ts";
import type { ConnectionRef } from "./connection.ts";
import {
  HAS_PENDING,
  pendingEventColumns,
  pendingEventsOf,
  type PendingEvent,
} from "./pending-event.ts";

const PAGE_ROWS = 100;

/**
 * Stores events of connections that are not emitted yet, in the connection's own row (table `connections`), written
 * with the change that they report, so that neither exists without the other.
 */
export class PendingEventStore {
  readonly #connections: Table;

  constructor(connections: Table) {
    this.#connections = connections;
  }

  /** Returns the pending events of a connection, oldest first. @throws DamagedRow */
  async list(ref: ConnectionRef): Promise<PendingEvent[]> {
    const stored = await this.#connections.find(ref.profileId, ref.network);
    return stored === undefined ? [] : pendingEventsOf(ref, stored.row);
  }

  async remove(ref: ConnectionRef, ids: readonly string[]): Promise<void> {
    await this.#change(ref, (events) => events.filter(({ id }) => !ids.includes(id)));
  }

  /** Gives pending events other ids. Returns all that are pending then. */
  rename(ref: ConnectionRef, ids: ReadonlyMap<string, string>): Promise<PendingEvent[]> {
    return this.#change(ref, (events) =>
      events.map((event) => ({ ...event, id: ids.get(event.id) ?? event.id })),
    );
  }

  /** Lists a page of the connections with pending events, in no order. Reads the whole table. */
  async findRefs(
    after: string | undefined,
  ): Promise<{ readonly refs: readonly ConnectionRef[]; readonly next: string | undefined }> {
    const { rows, next } = await this.#connections.select(
      { ...HAS_PENDING, pageRows: PAGE_ROWS },
      after,
    );
    const refs = rows.flatMap(({ partitionKey, row }) => {
      const network = networkNamed(row.rowKey);
      // Of a network that this build does not have.
      return network === undefined ? [] : [{ profileId: partitionKey, network }];
    });
    return { refs, next };
  }

  async #change(
    ref: ConnectionRef,
    change: (events: readonly PendingEvent[]) => readonly PendingEvent[],
  ): Promise<PendingEvent[]> {
    const row = await this.#connections.update(ref.profileId, ref.network, (before) => {
      const events = pendingEventsOf(ref, before);
      const changed = change(events);
      const isSame =
        changed.length === events.length &&
        changed.every(({ id }, index) => id === events[index]?.id);
      return isSame ? undefined : pendingEventColumns(changed, before);
    });
    return row === undefined ? [] : pendingEventsOf(ref, row);
  }
}
