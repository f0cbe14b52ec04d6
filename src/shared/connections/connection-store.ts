import { setTimeout as wait } from "node:timers/promises";
import { AppError, invariant } from "../runtime/errors.ts";
import { newId } from "../runtime/ids.ts";
import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { NetworkData } from "../networks/contract/network.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { seal, unseal, type DataKeys } from "../runtime/secrets.ts";
import {
  fromChunks,
  textOf,
  type Row,
  type RowChange,
  type StoredRow,
} from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { ConnectionIndexStore } from "./connection-index-store.ts";
import {
  credentialsPlace,
  fromConnectionRow,
  networkData,
  toConnectionRow,
} from "./connection-row.ts";
import { grantIdOf, type Connection } from "./connection.ts";
import { toConnection, toldOfLinking, type Linking } from "./hosted-page/linking.ts";
import { isUntold, untoldNow, withUntold } from "./untold.ts";

const SAVE_TRIES_MAX = 5;
const SAVE_WAIT_MS = 50;
/** `lastUsedAt` is right to the minute: one write per post would be wasted. */
const USE_RECORDED_MS = 60_000;

/** A connection together with its secrets. */
export interface OpenedConnection {
  readonly connection: Connection;
  /** Undefined when they were purged, or when the key they were sealed with is gone. */
  readonly credentials: NetworkData | undefined;
  /** Until when somebody renews the credentials; "" when nobody does. */
  readonly leaseUntil: string;
}

interface Parts {
  readonly table: Table;
  readonly dataKeys: DataKeys;
  readonly clock: { now(): Date };
}

const LEAVE = { kind: "leave" } as const;

/** One row per profile and network: linking again replaces it. Secrets are sealed to their row. */
export class ConnectionStore {
  readonly #table: Table;
  readonly #dataKeys: DataKeys;
  readonly #clock: { now(): Date };
  readonly #index: ConnectionIndexStore;

  constructor({ table, dataKeys, clock }: Parts) {
    this.#table = table;
    this.#dataKeys = dataKeys;
    this.#clock = clock;
    this.#index = new ConnectionIndexStore(table);
  }

  /** Every network's connection, revoked ones too, in the order of the networks. */
  async listOfProfile(profileId: string): Promise<Connection[]> {
    const rows = await this.#table.list({ partitionKey: profileId, limit: NETWORK_NAMES.length });
    return rows
      .map(({ row }) => fromConnectionRow(profileId, row))
      .sort(
        (left, right) => NETWORK_NAMES.indexOf(left.network) - NETWORK_NAMES.indexOf(right.network),
      );
  }

  /** The network's connection whatever its status, without secrets. */
  async find(profileId: string, network: NetworkName): Promise<Connection | undefined> {
    const stored = await this.#table.find(profileId, network);
    return stored === undefined ? undefined : fromConnectionRow(profileId, stored.row);
  }

  async open(profileId: string, network: NetworkName): Promise<OpenedConnection | undefined> {
    const stored = await this.#table.find(profileId, network);
    return stored === undefined ? undefined : this.#opened(profileId, stored.row);
  }

  /** The stored secrets as they are, not renewed; undefined when they are gone or another account took the place. */
  async openCredentials(connection: Connection): Promise<NetworkData | undefined> {
    const opened = await this.open(connection.profileId, connection.network);
    return opened?.connection.id === connection.id ? opened.credentials : undefined;
  }

  /** Linked accounts of the platform, without the revoked ones. */
  count(platformId: string): Promise<number> {
    return this.#index.count(platformId);
  }

  /** Whether a profile, of whatever tenant, lives by this authorisation: some networks give them all one token. */
  async isLinked(network: NetworkName, grantId: string): Promise<boolean> {
    const holders = await this.#index.holders(network, grantId);
    if (holders === "many") return true;
    const connections = await Promise.all(
      holders.map((profileId) => this.find(profileId, network)),
    );
    return connections.some(
      (found) => found !== undefined && grantIdOf(found) === grantId && found.status !== "revoked",
    );
  }

  /** Writes the connection over whatever was linked before. May be repeated. Answers the other account that it replaced, too. */
  async saveLinked(
    linking: Linking,
  ): Promise<{ connection: Connection; replaced: OpenedConnection | undefined }> {
    const { profileId, network } = linking;
    const now = this.#clock.now();
    const ids = { removed: newId("event", now), linked: newId("event", now) };
    let saved: { connection: Connection; before: OpenedConnection | undefined } | undefined;
    await this.#table.change(profileId, network, async (stored) => {
      const before = stored === undefined ? undefined : this.#opened(profileId, stored.row);
      // The last try was answered as lost and was not.
      if (before !== undefined && isUntold(profileId, stored?.row, ids.linked)) {
        saved = { connection: before.connection, before: saved?.before };
        return LEAVE;
      }
      const connection = toConnection(linking, before?.connection, now);
      saved = { connection, before };
      await this.#index.add(connection);
      const sealed = this.#seal(connection, linking.linked.credentials);
      const told = toldOfLinking(connection, before?.connection, now, ids);
      const columns = {
        ...toConnectionRow(connection, sealed, ""),
        ...withUntold(profileId, stored?.row, ...told),
      };
      return { kind: "write", columns };
    });
    invariant(saved !== undefined, "a change was not decided");
    return this.#saved(saved.connection, saved.before);
  }

  async #saved(connection: Connection, before: OpenedConnection | undefined) {
    const isSame = before?.connection.account.id === connection.account.id;
    const replaced = isSame ? undefined : before;
    if (replaced !== undefined && grantIdOf(replaced.connection) !== grantIdOf(connection))
      await this.#index.removeGrant(replaced.connection);
    return { connection, replaced };
  }

  /** Ends a connection and purges its secrets; answers those for a last call to the network. May be repeated. */
  async revoke(
    profileId: string,
    network: NetworkName,
    id: string,
  ): Promise<OpenedConnection | undefined> {
    let opened: OpenedConnection | undefined;
    const now = this.#clock.now();
    const eventId = newId("event", now);
    const connection = await this.#change(profileId, network, (stored) => {
      // An earlier try was answered as lost and was not: it had the secrets.
      if (isUntold(profileId, stored.row, eventId)) return LEAVE;
      opened = this.#opened(profileId, stored.row);
      const before = opened.connection;
      if (before.id !== id || before.status === "revoked") return LEAVE;
      const updatedAt = now.toISOString();
      const generation = before.generation + 1;
      const revoked: Connection = {
        ...before,
        status: "revoked",
        generation,
        expiresAt: null,
        updatedAt,
      };
      const told = untoldNow("connection.removed", revoked, now, eventId);
      const untold = withUntold(profileId, stored.row, told);
      return { kind: "write", columns: { ...toConnectionRow(revoked, "", ""), ...untold } };
    });
    if (opened === undefined || connection?.id !== id) return undefined;
    await this.#index.remove(connection);
    // Linked again in between: its index rows were written before ours were removed.
    const again = await this.find(profileId, network);
    if (again !== undefined && again.status !== "revoked") await this.#index.add(again);
    return { ...opened, connection };
  }

  /** Removes the row of a connection that was revoked, told or not, and what leads to it. May be repeated. */
  async remove(connection: Connection): Promise<void> {
    invariant(connection.status === "revoked", "a connection that is not revoked was removed");
    await this.#table.delete(connection.profileId, connection.network);
    await this.#index.remove(connection);
  }

  /**
   * Whether this call marked it. False when the credentials were changed since the given generation, or when it was
   * marked before: whoever gets true tells the customer, now rather than within the hour.
   */
  async markNeedsReauth(
    profileId: string,
    network: NetworkName,
    generation: number,
    failure: { readonly code: LegErrorCode },
  ): Promise<boolean> {
    let marked = false;
    const now = this.#clock.now();
    const at = now.toISOString();
    const eventId = newId("event", now);
    await this.#change(profileId, network, ({ row }) => {
      const before = fromConnectionRow(profileId, row);
      const isDue = before.generation === generation && before.status === "active";
      // Or by an earlier try that was answered as lost and was not.
      marked = isDue || isUntold(profileId, row, eventId);
      if (!isDue) return LEAVE;
      const lastError = JSON.stringify({ code: failure.code, at });
      const changes = { status: "needs_reauth", lastError, leaseUntil: "", updatedAt: at };
      const after = fromConnectionRow(profileId, { ...row, ...changes });
      const told = untoldNow("connection.needs_reauth", after, now, eventId);
      const untold = withUntold(profileId, row, told);
      return { kind: "merge", columns: { ...changes, ...untold } };
    });
    return marked;
  }

  async recordUse(connection: Connection): Promise<void> {
    const { profileId, network, id } = connection;
    const now = this.#clock.now();
    const isRecent = (at: string) => at !== "" && now.getTime() - Date.parse(at) < USE_RECORDED_MS;
    if (isRecent(connection.lastUsedAt ?? "")) return;
    await this.#change(profileId, network, ({ row }) =>
      textOf(row, "id") !== id || isRecent(textOf(row, "lastUsedAt"))
        ? LEAVE
        : { kind: "merge", columns: { lastUsedAt: now.toISOString() } },
    );
  }

  /**
   * Takes the right to renew the credentials. What it answers is the row as it is under the lease: nobody else renewed
   * in between. Undefined while somebody else holds it.
   */
  async takeLease(connection: Connection, until: Date): Promise<OpenedConnection | undefined> {
    const { profileId, network } = connection;
    const stored = await this.#table.find(profileId, network);
    if (stored === undefined) return undefined;
    const heldUntil = textOf(stored.row, "leaseUntil");
    if (heldUntil !== "" && Date.parse(heldUntil) > this.#clock.now().getTime()) return undefined;
    const leaseUntil = until.toISOString();
    const row = { rowKey: network, leaseUntil };
    const etag = await this.#table.mergeIfUnchanged(profileId, row, stored.etag);
    return etag === undefined ? undefined : { ...this.#opened(profileId, stored.row), leaseUntil };
  }

  async releaseLease({ connection, leaseUntil }: OpenedConnection): Promise<void> {
    const { profileId, network } = connection;
    await this.#change(profileId, network, ({ row }) =>
      textOf(row, "leaseUntil") === leaseUntil
        ? { kind: "merge", columns: { leaseUntil: "" } }
        : LEAVE,
    );
  }

  /**
   * Stores renewed credentials and ends the lease. Undefined when the stored ones were changed since, be it by an
   * earlier try of this call: what counts is then what is stored. Tried again while storage does not answer, for the
   * network may take the old ones no more.
   */
  async saveRefreshed(
    connection: Connection,
    fresh: { readonly credentials: NetworkData; readonly expiresAt: string | null },
  ): Promise<Connection | undefined> {
    const { profileId, network } = connection;
    const generation = connection.generation + 1;
    const sealed = this.#seal(connection, fresh.credentials);
    let isUnchanged = false;
    const save = () =>
      this.#change(profileId, network, ({ row }) => {
        const before = fromConnectionRow(profileId, row);
        isUnchanged = before.generation === connection.generation;
        if (!isUnchanged) return LEAVE;
        const updatedAt = this.#clock.now().toISOString();
        const after = {
          ...before,
          generation,
          expiresAt: fresh.expiresAt,
          lastError: null,
          checkedAt: updatedAt,
          updatedAt,
        };
        const untold = withUntold(profileId, row);
        return { kind: "write", columns: { ...toConnectionRow(after, sealed, ""), ...untold } };
      });
    for (let attempt = 1; ; attempt += 1) {
      try {
        const saved = await save();
        return isUnchanged ? saved : undefined;
      } catch (error) {
        const isOutage = error instanceof AppError && error.code === "service_unavailable";
        if (!isOutage || attempt === SAVE_TRIES_MAX) throw error;
        await wait(SAVE_WAIT_MS * 2 ** attempt);
      }
    }
  }

  /** Answers the connection as it is after; undefined when there is none, which is not decided on. */
  async #change(
    profileId: string,
    network: NetworkName,
    decide: (stored: StoredRow) => RowChange,
  ): Promise<Connection | undefined> {
    const { row } = await this.#table.change(profileId, network, (stored) =>
      stored === undefined ? LEAVE : decide(stored),
    );
    return row === undefined ? undefined : fromConnectionRow(profileId, row);
  }

  #opened(profileId: string, row: Row): OpenedConnection {
    const connection = fromConnectionRow(profileId, row);
    const place = credentialsPlace(profileId, connection.network);
    const text = unseal(fromChunks("credentials", row), place, this.#dataKeys);
    const credentials = text === undefined ? undefined : networkData().parse(JSON.parse(text));
    return { connection, credentials, leaseUntil: textOf(row, "leaseUntil") };
  }

  #seal({ profileId, network }: Connection, credentials: NetworkData): string {
    return seal(JSON.stringify(credentials), credentialsPlace(profileId, network), this.#dataKeys);
  }
}
