import type { BoundedValue } from "../networks/contract/bounded.ts";
import type { LeaseColumns, LeasedState } from "../runtime/lease.ts";
import { accessOperation, type Commit, countsKey, countWrite } from "../partition/partition.ts";
import { invariant } from "../runtime/errors.ts";
import type { NetworkData } from "../networks/contract/draft.ts";
import type { LegFailure } from "../networks/contract/outcome.ts";
import type { NetworkName } from "../networks/networks.ts";
import { seal, unseal, type DataKeys } from "../runtime/secrets.ts";
import { fieldsForm, type Reader } from "../runtime/storage/codec.ts";
import { unlessBroken, unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row, RowChange, StoredRow } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { currentOrigin } from "../runtime/telemetry/work-context.ts";
import type { AuthorizationStore } from "./authorization-store.ts";
import { retryOutages } from "./retry-outages.ts";
import {
  byNetwork,
  isUseRecent,
  markWrites,
  renewedAt,
  revokedAt,
  connectionWrite,
  AT_NO_COST,
  type LinkTerms,
} from "./connection-change.ts";
import {
  connectionEvent,
  eventsOfLinking,
  type RemovalReason,
  type Viewer,
} from "./connection-event.ts";
import {
  CONNECTION_INDEXES,
  listingChange,
  toIndexedConnection,
  type ConnectionIndexName,
} from "./connection-index.ts";
import {
  connectionKey,
  connectionRow,
  connectionsOfProfile,
  credentialsBinding,
  fromConnectionRow,
  refOfKey,
  toConnectionRow,
} from "./connection-row.ts";
import {
  MARKS,
  grantIdOf,
  toConnection,
  type Connection,
  type ConnectionRef,
  type LinkingFields,
  type NamedConnection,
  type OpenedConnection,
  type ProfileRef,
} from "./connection.ts";

interface ConnectionStoreParts {
  readonly core: Table;
  readonly authorizations: AuthorizationStore;
  readonly dataKeys: DataKeys;
  readonly clock: { now(): Date };
  readonly commit: Commit;
  readonly viewer: Viewer;
}

/** Which part of an index of connections to read. */
interface IndexedPart {
  readonly index: ConnectionIndexName;
  readonly platformId: string;
  readonly applicationId: string;
  readonly at: string | undefined;
  readonly rows: number;
}

/** A connection with its secrets, and the lease under which they are renewed. */
export interface LeasedConnection extends OpenedConnection, LeasedState<LeaseColumns> {}

/** More than there are networks, because a profile may have rows of networks that this build doesn't have. */
const ROWS_OF_PROFILE_MAX = 100;

const LEAVE = { kind: "leave" } as const;

/**
 * Stores connections in their platform's partition, one row per profile and network, which linking again replaces.
 * Secrets are sealed to their row. A change that matters for posts is one transaction with its event, the count of
 * connections and the access version, and with the rows that list the connection. Renewing credentials writes the row
 * alone, unless that ends a warning.
 */
export class ConnectionStore {
  readonly #parts: ConnectionStoreParts;

  constructor(parts: ConnectionStoreParts) {
    this.#parts = parts;
  }

  /**
   * Lists all connections of the profile, including revoked ones, in the order of the networks. Damaged rows are left
   * out unless `missesNone` is set.
   * @throws DamagedRow with `missesNone`; NewerRow unless people read it
   */
  async listOfProfile(
    { platformId, profileId }: ProfileRef,
    options: { readonly missesNone?: true; readonly reader?: Reader } = {},
  ): Promise<Connection[]> {
    const prefix = connectionsOfProfile(profileId);
    const range = { from: prefix, before: afterPrefix(prefix), limit: ROWS_OF_PROFILE_MAX };
    const rows = await this.#parts.core.list({ partitionKey: platformId, ...range });
    return rows
      .flatMap(({ row }) => {
        const ref = refOfKey(platformId, row.rowKey);
        if (ref === undefined) return [];
        const read = () => fromConnectionRow(ref, row, options.reader).connection;
        return (options.missesNone ? read() : unlessBroken(read)) ?? [];
      })
      .sort(byNetwork);
  }

  /** Lists entries of an index of an application's connections, newest first, in one query. `at`: the first one's key. */
  async listIndexed({ index, platformId, applicationId, at, rows: limit }: IndexedPart) {
    const prefix = CONNECTION_INDEXES[index].prefix(applicationId);
    const range = { from: at ?? prefix, before: afterPrefix(prefix), limit };
    const rows = await this.#parts.core.list({ partitionKey: platformId, ...range });
    return rows.map(({ row }) => {
      const entry = unlessDamaged(() => toIndexedConnection(index, row));
      return { key: row.rowKey, entry };
    });
  }

  /** Finds a connection in any status, without secrets. @throws DamagedRow */
  async find(ref: ConnectionRef, reader?: Reader): Promise<Connection | undefined> {
    const stored = await this.#read(ref);
    return stored && fromConnectionRow(ref, stored.row, reader).connection;
  }

  /** Finds a connection with its secrets. @throws DamagedRow */
  async open(ref: ConnectionRef): Promise<OpenedConnection | undefined> {
    const stored = await this.#read(ref);
    return stored && this.#opened(ref, stored.row);
  }

  #read(ref: ConnectionRef): Promise<StoredRow | undefined> {
    return this.#parts.core.find(ref.platformId, connectionKey(ref));
  }

  /** Returns the stored secrets without renewing them. Undefined when they are gone or another account is linked. */
  async openCredentials(connection: Connection): Promise<NetworkData | undefined> {
    const opened = await this.open(connection);
    return opened?.connection.id === connection.id ? opened.credentials : undefined;
  }

  /** Reports whether a profile of any tenant uses this authorization. Some networks give all of them one token. */
  async isLinked(network: NetworkName, grantId: string): Promise<boolean> {
    const holders = await this.#parts.authorizations.holders(network, grantId);
    if (holders === "many") return true;
    const connections = await Promise.all(
      holders.map((holder) => this.find({ ...holder, network })),
    );
    return connections.some(
      (found) => found !== undefined && grantIdOf(found) === grantId && found.status !== "revoked",
    );
  }

  /**
   * Stores the connection and replaces any earlier one. Also returns the account that it replaced. May be repeated.
   * @throws AppError as `terms` do; then only the row that leads to the profile is written
   */
  async saveLinked(
    linking: LinkingFields,
    terms: LinkTerms = AT_NO_COST,
  ): Promise<{ connection: Connection; replaced: OpenedConnection | undefined }> {
    const { platformId, applicationId, network, linked } = linking;
    const { authorizations, viewer, commit } = this.#parts;
    const view = await viewer({ network, ...linked });
    const origin = currentOrigin();
    const sealed = this.#seal(linking, linked.credentials);
    const [key, counts] = [connectionKey(linking), countsKey(applicationId)];
    await authorizations.add({ ...linking, ...linked });
    const { connection, before } = await commit<
      Pick<OpenedConnection, "connection"> & { before: OpenedConnection | undefined }
    >(
      platformId,
      accessOperation([key, counts, ...terms.rowKeys], (given, tried) => {
        const { row, now } = given;
        const stored = row(key);
        const before = stored && this.#opened(linking, stored.row);
        // The answer was lost: these secrets were sealed for this call.
        if (before && stored && fromConnectionRow(linking, stored.row).sealed === sealed)
          return { answer: { connection: before.connection, before: tried?.answer.before } };
        const isKnown = before?.connection.account.id === linked.account.id;
        const id = isKnown ? before.connection.id : linking.id;
        const agreed = terms.writes(given, { id, isKnown });
        const connection = toConnection({ ...linking, id }, before?.connection, now);
        const isNew = before === undefined || before.connection.status === "revoked";
        const writes = [
          connectionWrite(key, stored, toConnectionRow(connection, sealed)),
          ...listingChange(before?.connection, connection),
          ...(isNew ? [countWrite(applicationId, row(counts), "connections", 1)] : []),
          ...eventsOfLinking(connection, before?.connection, { origin, now, view }),
          ...agreed,
        ];
        return { answer: { connection, before }, writes, raises: true };
      }),
    );
    const replaced = before?.connection.account.id === connection.account.id ? undefined : before;
    if (before !== undefined && grantIdOf(before.connection) !== grantIdOf(connection))
      await authorizations.remove(before.connection);
    return { connection, replaced };
  }

  /**
   * Ends a connection, purges its secrets and returns them for a last call to the network. Returns undefined when the
   * account is not linked. May be repeated.
   */
  async revoke(
    ref: NamedConnection,
    reason?: RemovalReason,
  ): Promise<OpenedConnection | undefined> {
    const { applicationId, id } = ref;
    const { authorizations, viewer, commit } = this.#parts;
    const origin = currentOrigin();
    const [key, counts] = [connectionKey(ref), countsKey(applicationId)];
    const found = await this.find(ref);
    if (found?.id !== id) return undefined;
    const view = await viewer(found);
    const revoked = await commit<OpenedConnection | undefined>(
      ref.platformId,
      accessOperation([key, counts], ({ row, now }, tried) => {
        const stored = row(key);
        const opened = stored && this.#opened(ref, stored.row);
        if (stored === undefined || opened?.connection.id !== id) return { answer: undefined };
        const { connection } = opened;
        if (connection.status === "revoked") {
          // An earlier try was applied although its answer was lost. It has returned the secrets.
          const ended = tried?.answer;
          const isOurs = ended?.connection.generation === connection.generation;
          return { answer: isOurs ? ended : opened };
        }
        const after = revokedAt(connection, now);
        const ended = { ...opened, connection: after };
        const writes = [
          connectionWrite(key, stored, toConnectionRow(after, "")),
          ...listingChange(connection, after),
          countWrite(applicationId, row(counts), "connections", -1),
          connectionEvent("connection.removed", after, { origin, now, view, reason }),
        ];
        return { answer: ended, writes, raises: true };
      }),
    );
    if (revoked === undefined) return undefined;
    await authorizations.remove(revoked.connection);
    // The account was linked again in between, and its row was written before this one was removed.
    const again = await this.find(ref);
    if (again !== undefined && again.status !== "revoked") await authorizations.add(again);
    return revoked;
  }

  /** Removes the row of a revoked connection, what lists it, and the row that leads to it. May be repeated. */
  async remove(connection: Connection): Promise<void> {
    invariant(connection.status === "revoked", "a connection that is not revoked was removed");
    // Last, because this is repeated as long as the row exists.
    await this.#parts.authorizations.remove(connection);
    const key = connectionKey(connection);
    await this.#parts.commit<void>(
      connection.platformId,
      accessOperation([key], ({ row }) => {
        const stored = row(key);
        const found = stored && fromConnectionRow(connection, stored.row).connection;
        // The account may be linked again by now, and is removed once that is revoked.
        if (found?.id !== connection.id || found.status !== "revoked") return { answer: undefined };
        const writes = [
          { kind: "delete", rowKey: key } as const,
          ...listingChange(found, undefined),
        ];
        return { answer: undefined, writes, raises: false };
      }),
    );
  }

  /**
   * Marks the connection as refused, or with null as accepted again, and returns whether this call did. Returns false
   * when the stored credentials are newer than the given connection's, or when it was marked before.
   */
  async mark(ref: Connection, failure: LegFailure | null): Promise<boolean> {
    const origin = currentOrigin();
    const key = connectionKey(ref);
    const view = await this.#parts.viewer(ref);
    const { from } = failure === null ? MARKS.accepted : MARKS.refused;
    const markedAt = await this.#parts.commit<string | null>(
      ref.platformId,
      accessOperation([key], ({ row, now }, tried) => {
        const stored = row(key);
        if (stored === undefined) return { answer: null };
        const { connection: before } = fromConnectionRow(ref, stored.row);
        const isSame = before.generation === ref.generation;
        if (!isSame || before.status !== from) {
          // An earlier try may have marked it although its answer was lost.
          const isOurs = isSame && before.updatedAt === tried?.answer;
          return { answer: isOurs ? before.updatedAt : null };
        }
        const writes = markWrites(stored, before, failure, { origin, now, view });
        return { answer: now.toISOString(), writes, raises: true };
      }),
    );
    return markedAt !== null;
  }

  /** Records that the account was published to, at most once a minute. */
  async recordUse(used: Connection): Promise<void> {
    const now = this.#parts.clock.now();
    if (isUseRecent(used, now)) return;
    await this.#change(used, ({ row }) => {
      const { connection } = fromConnectionRow(used, row);
      if (connection.id !== used.id || isUseRecent(connection, now)) return LEAVE;
      return {
        kind: "merge",
        columns: connectionRow.encodePart({ lastUsedAt: now.toISOString() }),
      };
    });
  }

  /** Reads a connection with its secrets and its lease. @throws DamagedRow */
  async readLease(ref: ConnectionRef): Promise<LeasedConnection | undefined> {
    const stored = await this.#read(ref);
    if (stored === undefined) return undefined;
    const { lease } = fromConnectionRow(ref, stored.row);
    return { ...this.#opened(ref, stored.row), state: lease, etag: stored.etag };
  }

  /** Writes the lease, in the version that was read. */
  async writeLease(
    ref: ConnectionRef,
    lease: Partial<LeaseColumns>,
    etag: string | undefined,
  ): Promise<string | undefined> {
    if (etag === undefined) return undefined;
    const row = { rowKey: connectionKey(ref), ...connectionRow.encodePart(lease) };
    return this.#parts.core.mergeIfUnchanged(ref.platformId, row, etag);
  }

  /**
   * Stores renewed credentials and ends the lease. Returns undefined when the stored ones have changed since, by
   * another process or an earlier try of this call: then the stored ones count. Retries while storage doesn't answer,
   * because the network may no longer accept the old credentials. Writes the row alone, unless the renewal ends a
   * warning that lists the connection.
   */
  async saveRefreshed(
    connection: Connection,
    fresh: { readonly credentials: BoundedValue<NetworkData>; readonly expiresAt: string | null },
  ): Promise<Connection | undefined> {
    const sealed = this.#seal(connection, fresh.credentials);
    const save = async () => {
      let end = "changed" as "changed" | "saved" | "unlists";
      const saved = await this.#change(connection, ({ row }) => {
        const { connection: before } = fromConnectionRow(connection, row);
        end = "changed";
        if (before.generation !== connection.generation) return LEAVE;
        const after = renewedAt(before, fresh.expiresAt, this.#parts.clock.now());
        end = listingChange(before, after).length === 0 ? "saved" : "unlists";
        if (end === "unlists") return LEAVE;
        return { kind: "write", columns: toConnectionRow(after, sealed) };
      });
      if (end === "unlists") return await this.#saveUnlisting(connection, fresh.expiresAt, sealed);
      return end === "saved" ? saved : undefined;
    };
    return await retryOutages(save);
  }

  /** Stores renewed credentials in one transaction with the rows that list the connection. Works like `saveRefreshed`. */
  #saveUnlisting(
    connection: Connection,
    expiresAt: string | null,
    sealed: string,
  ): Promise<Connection | undefined> {
    const key = connectionKey(connection);
    return this.#parts.commit<Connection | undefined>(
      connection.platformId,
      accessOperation([key], ({ row, now }) => {
        const stored = row(key);
        if (stored === undefined) return { answer: undefined };
        const found = fromConnectionRow(connection, stored.row);
        // The answer was lost: these secrets were sealed for this call.
        if (found.sealed === sealed) return { answer: found.connection };
        const before = found.connection;
        if (before.generation !== connection.generation) return { answer: undefined };
        const after = renewedAt(before, expiresAt, now);
        const writes = [
          connectionWrite(key, stored, toConnectionRow(after, sealed)),
          ...listingChange(before, after),
        ];
        return { answer: after, writes, raises: false };
      }),
    );
  }

  async #change(
    ref: ConnectionRef,
    decide: (stored: StoredRow) => RowChange,
  ): Promise<Connection | undefined> {
    const { row } = await this.#parts.core.change(ref.platformId, connectionKey(ref), (stored) =>
      stored === undefined ? LEAVE : decide(stored),
    );
    return row === undefined ? undefined : fromConnectionRow(ref, row).connection;
  }

  #opened(ref: ConnectionRef, row: Row): OpenedConnection {
    const { connection, sealed } = fromConnectionRow(ref, row);
    const text = unseal(sealed, credentialsBinding(ref), this.#parts.dataKeys);
    const credentials = text === undefined ? undefined : fieldsForm().parse(JSON.parse(text));
    return { connection, credentials };
  }

  #seal(ref: ConnectionRef, credentials: BoundedValue<NetworkData>): string {
    return seal(JSON.stringify(credentials), credentialsBinding(ref), this.#parts.dataKeys);
  }
}
