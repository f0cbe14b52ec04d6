import type { NetworkData } from "../networks/contract/draft.ts";
import { newId } from "../runtime/ids.ts";
import { reseal, sealingKey, type DataKeys } from "../runtime/secrets.ts";
import { replacedChunks, type Columns, type Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { ConnectionIndexStore, type RefsPage } from "./connection-index-store.ts";
import { connectionRow, credentialsBinding, fromConnectionRow } from "./connection-row.ts";
import type { Connection, ConnectionRef } from "./connection.ts";
import { newEvent, withPendingEvents } from "./pending-event.ts";

/**
 * Stores what account checks find in connections. A write names the account that was checked: if another one is linked
 * by now, or none, the write is dropped.
 */
export class AccountCheckStore {
  readonly #connections: Table;
  readonly #dataKeys: DataKeys;
  readonly #index: ConnectionIndexStore;

  constructor(connections: Table, dataKeys: DataKeys) {
    this.#connections = connections;
    this.#dataKeys = dataKeys;
    this.#index = new ConnectionIndexStore(connections);
  }

  /**
   * Lists refs of a platform's connections, in the order of their applications and profiles. May include refs of
   * connections that no longer exist.
   */
  listRefs(platformId: string, after: string, limit: number): Promise<RefsPage> {
    return this.#index.listRefs(platformId, after, limit);
  }

  async recordChecked(connection: Connection, at: Date): Promise<void> {
    await this.#note(connection, () => connectionRow.encodePart({ checkedAt: at.toISOString() }));
  }

  /** Stores the limits that the network has for the account, when they changed. */
  async saveLimits(connection: Connection, limits: NetworkData, at: Date): Promise<void> {
    const text = JSON.stringify(limits);
    await this.#note(connection, (stored, row) =>
      JSON.stringify(stored.limits) === text
        ? undefined
        : {
            ...replacedChunks("limits", text, row),
            ...connectionRow.encodePart({ updatedAt: at.toISOString() }),
          },
    );
  }

  /** Records that the customer was warned of an end, together with the event that warns. Once for every end. */
  async recordWarned(connection: Connection, at: Date): Promise<void> {
    const { expiresAt } = connection;
    if (expiresAt === null) return;
    const eventId = newId("event", at);
    await this.#note(connection, (stored, row) => {
      if (stored.expiresAt !== expiresAt || stored.warnedExpiresAt === expiresAt) return undefined;
      const warned = { warnedExpiresAt: expiresAt };
      const event = newEvent("connection.expiring", { ...stored, ...warned }, at, { id: eventId });
      return { ...connectionRow.encodePart(warned), ...withPendingEvents(stored, row, event) };
    });
  }

  /**
   * Seals the secrets with the first data key. Returns the key that they are sealed with; undefined without secrets.
   */
  async reseal(ref: ConnectionRef): Promise<string | undefined> {
    const row = await this.#connections.update(ref.profileId, ref.network, (before) => {
      const { sealed } = fromConnectionRow(ref, before);
      const again = reseal(sealed, credentialsBinding(ref), this.#dataKeys);
      return again === undefined ? undefined : replacedChunks("credentials", again, before);
    });
    const sealed = row === undefined ? "" : fromConnectionRow(ref, row).sealed;
    return sealed === "" ? undefined : sealingKey(sealed);
  }

  async #note(
    noted: Connection,
    change: (stored: Connection, row: Row) => Columns | undefined,
  ): Promise<void> {
    await this.#connections.update(noted.profileId, noted.network, (row) => {
      const { connection } = fromConnectionRow(noted, row);
      const isSame = connection.id === noted.id && connection.status !== "revoked";
      return isSame ? change(connection, row) : undefined;
    });
  }
}
