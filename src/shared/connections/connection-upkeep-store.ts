import type { NetworkData } from "../networks/contract/network.ts";
import { newId } from "../runtime/ids.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { reseal, sealingKey, type DataKeys } from "../runtime/secrets.ts";
import {
  fromChunks,
  replacedChunks,
  textOf,
  type Row,
  type RowValue,
} from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { ConnectionIndexStore, type PlacesPage } from "./connection-index-store.ts";
import { credentialsPlace, fromConnectionRow } from "./connection-row.ts";
import type { Connection } from "./connection.ts";
import { untoldNow, withUntold } from "./untold.ts";

type Changes = Readonly<Record<string, RowValue>>;

/**
 * What is noted of connections between their posts. Each note is of the account that it was made for: once another one
 * took the place, or the account was unlinked, it is dropped.
 */
export class ConnectionUpkeepStore {
  readonly #connections: Table;
  readonly #dataKeys: DataKeys;
  readonly #index: ConnectionIndexStore;

  constructor(connections: Table, dataKeys: DataKeys) {
    this.#connections = connections;
    this.#dataKeys = dataKeys;
    this.#index = new ConnectionIndexStore(connections);
  }

  /** Where connections of a platform are, in the order of their applications and profiles; those left over, too. */
  listPlaces(platformId: string, after: string, limit: number): Promise<PlacesPage> {
    return this.#index.listPlaces(platformId, after, limit);
  }

  async recordChecked(connection: Connection, at: Date): Promise<void> {
    await this.#note(connection, () => ({ checkedAt: at.toISOString() }));
  }

  async saveLimits(connection: Connection, limits: NetworkData, at: Date): Promise<void> {
    const text = JSON.stringify(limits);
    await this.#note(connection, (row) =>
      fromChunks("limits", row) === text
        ? undefined
        : { ...replacedChunks("limits", text, row), updatedAt: at.toISOString() },
    );
  }

  /** With the event that warns of it; once for every end. */
  async recordWarned(connection: Connection, at: Date): Promise<void> {
    const { profileId, expiresAt } = connection;
    if (expiresAt === null) return;
    const eventId = newId("event", at);
    await this.#note(connection, (row) => {
      if (textOf(row, "expiresAt") !== expiresAt) return undefined;
      if (textOf(row, "warnedExpiresAt") === expiresAt) return undefined;
      const noted = { warnedExpiresAt: expiresAt };
      const now = fromConnectionRow(profileId, { ...row, ...noted });
      const told = untoldNow("connection.expiring", now, at, eventId);
      return { ...noted, ...withUntold(profileId, row, told) };
    });
  }

  /** Seals the secrets with the first data key. Answers the key that they are sealed with then; none when there are none. */
  async reseal(profileId: string, network: NetworkName): Promise<string | undefined> {
    const place = credentialsPlace(profileId, network);
    const row = await this.#connections.update(profileId, network, (before) => {
      const again = reseal(fromChunks("credentials", before), place, this.#dataKeys);
      return again === undefined ? undefined : replacedChunks("credentials", again, before);
    });
    const sealed = row === undefined ? "" : fromChunks("credentials", row);
    return sealed === "" ? undefined : sealingKey(sealed);
  }

  async #note(
    { profileId, network, id }: Connection,
    change: (row: Row) => Changes | undefined,
  ): Promise<void> {
    await this.#connections.update(profileId, network, (row) =>
      textOf(row, "id") === id && textOf(row, "status") !== "revoked" ? change(row) : undefined,
    );
  }
}
