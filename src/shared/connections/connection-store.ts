import { setTimeout as wait } from "node:timers/promises";
import { undoIfRefused } from "../callers/access-check.ts";
import type { RaiseAccess } from "../billing/access-version.ts";
import { AppError, invariant } from "../runtime/errors.ts";
import { newId } from "../runtime/ids.ts";
import type { LegErrorCode } from "../networks/contract/errors.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { seal, unseal, type DataKeys } from "../runtime/secrets.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row, RowChange, StoredRow } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { ConnectionIndexStore } from "./connection-index-store.ts";
import {
  connectionRow,
  credentialsBinding,
  fromConnectionRow,
  networkData,
  networkNamed,
  toConnectionRow,
} from "./connection-row.ts";
import {
  MARKS,
  grantIdOf,
  toConnection,
  type Connection,
  type ConnectionRef,
  type Linking,
} from "./connection.ts";
import {
  eventsOfLinking,
  hasPendingEvent,
  newEvent,
  samePendingEvents,
  withoutEvent,
  type RemovalReason,
  withPendingEvents,
} from "./pending-event.ts";
import { undoLink } from "./undo-link-store.ts";

const SAVE_TRIES_MAX = 5;
const SAVE_WAIT_MS = 50;
/** The precision of `lastUsedAt`, so that not every post writes it. */
const USE_RECORDED_MS = 60_000;

/** A connection with its secrets. */
export interface OpenedConnection {
  readonly connection: Connection;
  /** Undefined when they were purged, or when their data key is gone. */
  readonly credentials: NetworkData | undefined;
  /** Until when a process renews the credentials; "" when none does. */
  readonly leaseUntil: string;
}

interface Parts {
  readonly table: Table;
  readonly dataKeys: DataKeys;
  readonly clock: { now(): Date };
  readonly raiseAccess: RaiseAccess;
}

/** More than there are networks: a profile may have rows of networks that this build does not have. */
const ROWS_OF_PROFILE_MAX = 100;

const LEAVE = { kind: "leave" } as const;

/** Stores connections, one row per profile and network: linking again replaces it. Secrets are sealed to their row. */
export class ConnectionStore {
  readonly #table: Table;
  readonly #dataKeys: DataKeys;
  readonly #clock: { now(): Date };
  readonly #index: ConnectionIndexStore;
  readonly #raiseAccess: RaiseAccess;

  constructor({ table, dataKeys, clock, raiseAccess }: Parts) {
    this.#raiseAccess = raiseAccess;
    this.#table = table;
    this.#dataKeys = dataKeys;
    this.#clock = clock;
    this.#index = new ConnectionIndexStore(table);
  }

  /**
   * Lists every network's connection, revoked ones too, in the order of the networks. Leaves out damaged rows, unless
   * `missesNone` is set.
   * @throws DamagedRow with `missesNone`
   */
  async listOfProfile(
    profileId: string,
    { missesNone = false }: { readonly missesNone?: boolean } = {},
  ): Promise<Connection[]> {
    const rows = await this.#table.list({ partitionKey: profileId, limit: ROWS_OF_PROFILE_MAX });
    return rows
      .flatMap(({ row }) => {
        const network = networkNamed(row.rowKey);
        // Of a network that this build does not have.
        if (network === undefined) return [];
        const read = () => fromConnectionRow({ profileId, network }, row).connection;
        return (missesNone ? read() : unlessDamaged(read)) ?? [];
      })
      .sort(
        (left, right) => NETWORK_NAMES.indexOf(left.network) - NETWORK_NAMES.indexOf(right.network),
      );
  }

  /** Returns the network's connection whatever its status, without secrets. @throws DamagedRow */
  async find(profileId: string, network: NetworkName): Promise<Connection | undefined> {
    const stored = await this.#table.find(profileId, network);
    return stored === undefined
      ? undefined
      : fromConnectionRow({ profileId, network }, stored.row).connection;
  }

  /** Returns the network's connection with its secrets. @throws DamagedRow */
  async open(profileId: string, network: NetworkName): Promise<OpenedConnection | undefined> {
    const stored = await this.#table.find(profileId, network);
    return stored === undefined ? undefined : this.#opened({ profileId, network }, stored.row);
  }

  /** Returns the stored secrets, not renewed; undefined when they are gone or another account is linked now. */
  async openCredentials(connection: Connection): Promise<NetworkData | undefined> {
    const opened = await this.open(connection.profileId, connection.network);
    return opened?.connection.id === connection.id ? opened.credentials : undefined;
  }

  /** Counts the linked accounts of the platform, without the revoked ones. */
  count(platformId: string): Promise<number> {
    return this.#index.count(platformId);
  }

  /** Returns whether a profile, of any tenant, uses this authorisation: some networks give all of them one token. */
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

  /**
   * Stores the connection in place of any earlier one, and raises the access version. May be repeated. Returns the
   * account that it replaced, too. What is written is undone if the access check under which it runs refuses it.
   */
  async saveLinked(
    linking: Linking,
  ): Promise<{ connection: Connection; replaced: OpenedConnection | undefined }> {
    const { profileId, network } = linking;
    const now = this.#clock.now();
    const ids = { removed: newId("event", now), linked: newId("event", now) };
    let saved: { connection: Connection; before: OpenedConnection | undefined } | undefined;
    let rowBefore: Row | undefined;
    const parts = { table: this.#table, index: this.#index, raiseAccess: this.#raiseAccess };
    undoIfRefused(async () => saved && (await undoLink(parts, saved, rowBefore)));
    await this.#table.change(profileId, network, async (stored) => {
      const before = stored === undefined ? undefined : this.#opened(linking, stored.row);
      // The last try was applied although its answer was lost.
      if (before !== undefined && stored && hasPendingEvent(linking, stored.row, ids.linked)) {
        saved = { connection: before.connection, before: saved?.before };
        return LEAVE;
      }
      const connection = toConnection(linking, before?.connection, now);
      saved = { connection, before };
      rowBefore = stored?.row;
      await this.#index.add(connection);
      const sealed = this.#seal(connection, linking.linked.credentials);
      const events = eventsOfLinking(connection, before?.connection, now, ids);
      const columns = {
        ...toConnectionRow(connection, sealed),
        ...withPendingEvents(linking, stored?.row, ...events),
      };
      return { kind: "write", columns };
    });
    invariant(saved !== undefined, "a change was not decided");
    await this.#raiseAccess(linking.platformId);
    const { connection, before } = saved;
    const replaced = before?.connection.account.id === connection.account.id ? undefined : before;
    if (before !== undefined && grantIdOf(before.connection) !== grantIdOf(connection))
      await this.#index.removeGrant(before.connection);
    return { connection, replaced };
  }

  /**
   * Ends a connection, purges its secrets, and raises the access version. Returns the secrets for a last call to the
   * network. May be repeated.
   */
  async revoke(
    profileId: string,
    network: NetworkName,
    id: string,
    reason?: RemovalReason,
  ): Promise<OpenedConnection | undefined> {
    let opened: OpenedConnection | undefined;
    const ref = { profileId, network };
    const now = this.#clock.now();
    const eventId = newId("event", now);
    let before: Row | undefined;
    undoIfRefused(() =>
      this.#change(ref, ({ row }) => withoutEvent(ref, { row, before, eventId })),
    );
    const connection = await this.#change(ref, ({ row }) => {
      // An earlier try was applied although its answer was lost, and had the secrets.
      if (hasPendingEvent(ref, row, eventId)) return LEAVE;
      opened = this.#opened(ref, row);
      const linked = opened.connection;
      if (linked.id !== id || linked.status === "revoked") return LEAVE;
      before = row;
      const changes = { generation: linked.generation + 1, updatedAt: now.toISOString() };
      const revoked: Connection = { ...linked, ...changes, status: "revoked", expiresAt: null };
      const event = newEvent("connection.removed", revoked, now, { id: eventId, reason });
      const events = withPendingEvents(ref, row, event);
      return { kind: "write", columns: { ...toConnectionRow(revoked, ""), ...events } };
    });
    if (opened === undefined || connection?.id !== id) return undefined;
    await this.#raiseAccess(connection.platformId);
    await this.#index.remove(connection);
    // Linked again in between: its index rows were written before these were removed.
    const again = await this.find(profileId, network);
    if (again !== undefined && again.status !== "revoked") await this.#index.add(again);
    return { ...opened, connection };
  }

  /** Removes the row of a revoked connection with its pending events, and its index rows. May be repeated. */
  async remove(connection: Connection): Promise<void> {
    invariant(connection.status === "revoked", "a connection that is not revoked was removed");
    // Last: as long as the row is there, this is repeated.
    await this.#index.remove(connection);
    await this.#table.delete(connection.profileId, connection.network);
  }

  /**
   * Marks the connection as refused, or with null as accepted again, and returns whether this call did. Returns false
   * when the credentials are newer than the given generation, or when it was marked before. The caller that gets true
   * emits the event. Raises the access version then.
   */
  async mark(
    { profileId, network, generation }: ConnectionRef & Pick<Connection, "generation">,
    failure: { readonly code: LegErrorCode } | null,
  ): Promise<boolean> {
    const ref = { profileId, network };
    let marked = false;
    const now = this.#clock.now();
    const at = now.toISOString();
    const eventId = newId("event", now);
    const { from, status, type } = failure === null ? MARKS.accepted : MARKS.refused;
    const after = await this.#change(ref, ({ row }) => {
      const { connection: before } = fromConnectionRow(ref, row);
      const isDue = before.generation === generation && before.status === from;
      // Or an earlier try marked it, although its answer was lost.
      marked = isDue || hasPendingEvent(ref, row, eventId);
      if (!isDue) return LEAVE;
      const lastError = failure === null ? null : { code: failure.code, at };
      const changes = { status, lastError, updatedAt: at };
      const event = newEvent(type, { ...before, ...changes }, now, { id: eventId });
      const columns = connectionRow.encodePart({ ...changes, leaseUntil: "" });
      return { kind: "merge", columns: { ...columns, ...withPendingEvents(ref, row, event) } };
    });
    if (marked && after !== undefined) await this.#raiseAccess(after.platformId);
    return marked;
  }

  /** Records that the account was published to, at most once a minute. */
  async recordUse(used: Connection): Promise<void> {
    const now = this.#clock.now();
    const isRecent = ({ lastUsedAt: at }: Connection) =>
      at !== null && now.getTime() - Date.parse(at) < USE_RECORDED_MS;
    if (isRecent(used)) return;
    await this.#change(used, ({ row }) => {
      const { connection } = fromConnectionRow(used, row);
      if (connection.id !== used.id || isRecent(connection)) return LEAVE;
      const columns = connectionRow.encodePart({ lastUsedAt: now.toISOString() });
      return { kind: "merge", columns };
    });
  }

  /**
   * Takes the lease under which credentials are renewed. Returns the connection as it is under the lease; undefined
   * while another process has it.
   */
  async takeLease(
    { profileId, network }: ConnectionRef,
    until: Date,
  ): Promise<OpenedConnection | undefined> {
    const stored = await this.#table.find(profileId, network);
    if (stored === undefined) return undefined;
    const opened = this.#opened({ profileId, network }, stored.row);
    const isTaken =
      opened.leaseUntil !== "" && Date.parse(opened.leaseUntil) > this.#clock.now().getTime();
    if (isTaken) return undefined;
    const leaseUntil = until.toISOString();
    const row = { rowKey: network, ...connectionRow.encodePart({ leaseUntil }) };
    const etag = await this.#table.mergeIfUnchanged(profileId, row, stored.etag);
    return etag === undefined ? undefined : { ...opened, leaseUntil };
  }

  /** Ends the lease, unless another process has taken it since. */
  async releaseLease({ connection, leaseUntil }: OpenedConnection): Promise<void> {
    await this.#change(connection, ({ row }) =>
      fromConnectionRow(connection, row).leaseUntil === leaseUntil
        ? { kind: "merge", columns: connectionRow.encodePart({ leaseUntil: "" }) }
        : LEAVE,
    );
  }

  /**
   * Stores renewed credentials and ends the lease. Returns undefined when the stored ones were changed since, by
   * another process or an earlier try of this call: the stored ones count then. Retries while storage does not answer,
   * because the network may no longer accept the old ones.
   */
  async saveRefreshed(
    connection: Connection,
    fresh: { readonly credentials: NetworkData; readonly expiresAt: string | null },
  ): Promise<Connection | undefined> {
    const generation = connection.generation + 1;
    const sealed = this.#seal(connection, fresh.credentials);
    let isUnchanged = false;
    const save = () =>
      this.#change(connection, ({ row }) => {
        const { connection: before } = fromConnectionRow(connection, row);
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
        const columns = { ...toConnectionRow(after, sealed), ...samePendingEvents(row) };
        return { kind: "write", columns };
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

  /** Returns the connection after the change; undefined when there is none. */
  async #change(
    ref: ConnectionRef,
    decide: (stored: StoredRow) => RowChange,
  ): Promise<Connection | undefined> {
    const { row } = await this.#table.change(ref.profileId, ref.network, (stored) =>
      stored === undefined ? LEAVE : decide(stored),
    );
    return row === undefined ? undefined : fromConnectionRow(ref, row).connection;
  }

  #opened(ref: ConnectionRef, row: Row): OpenedConnection {
    const { connection, sealed, leaseUntil } = fromConnectionRow(ref, row);
    const text = unseal(sealed, credentialsBinding(ref), this.#dataKeys);
    const credentials = text === undefined ? undefined : networkData().parse(JSON.parse(text));
    return { connection, credentials, leaseUntil };
  }

  #seal(ref: ConnectionRef, credentials: NetworkData): string {
    return seal(JSON.stringify(credentials), credentialsBinding(ref), this.#dataKeys);
  }
}
