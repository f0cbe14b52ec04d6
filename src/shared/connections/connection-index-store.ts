import type { NetworkName } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import { rowCodec, text } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import { ShardedCounter, type Counted } from "../runtime/storage/sharded-counter.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { networkNamed } from "./connection-row.ts";
import { grantIdOf, type Connection, type ConnectionRef } from "./connection.ts";

/** When more profiles than this have one authorisation, they are not read one by one. */
const HOLDERS_MAX = 50;

const ofPlatform = ({ applicationId, profileId, network }: Connection) =>
  `${applicationId}|${profileId}|${network}`;
const countOf = (platformId: string): Counted => ({ partitionKey: platformId, prefix: "CN|" });
const GRANTS = "account|";
const grantPartition = (network: NetworkName, grantId: string) =>
  `${GRANTS}${network}|${sha256Hex(grantId)}`;

/** Where a connection of a platform is. Its application, profile and network are in the row key, too. */
export const connectionIndexRow = rowCodec("connection index", {
  profileId: text(),
  network: text(),
});

type OwnerOfRows = Pick<Connection, "platformId" | "applicationId" | "profileId">;

interface RemovedPage {
  readonly removed: number;
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

/** A page of the connections of a platform. */
export interface RefsPage {
  readonly refs: readonly ConnectionRef[];
  /** The row key after which the next page begins; undefined at the end. */
  readonly last: string | undefined;
}

/**
 * Finds connections by their platform and by their authorisation. Index rows are written before the connection and
 * removed after it, so that none is missing; a crash may leave one without a connection, until the profile is erased. A platform's count changes in
 * the transaction that writes or removes the row.
 */
export class ConnectionIndexStore {
  readonly #table: Table;
  readonly #counter: ShardedCounter;

  constructor(table: Table) {
    this.#table = table;
    this.#counter = new ShardedCounter(table);
  }

  /** Adds the rows of a connection. May be repeated. */
  async add(connection: Connection): Promise<void> {
    await Promise.all([this.#addToPlatform(connection), this.addGrant(connection)]);
  }

  /** Adds the row that leads from an authorisation to the profile. May be repeated. */
  async addGrant(connection: Connection): Promise<void> {
    const { network, profileId } = connection;
    await this.#table.put(grantPartition(network, grantIdOf(connection)), { rowKey: profileId });
  }

  async #addToPlatform(connection: Connection): Promise<void> {
    const { platformId, profileId, network } = connection;
    const rowKey = ofPlatform(connection);
    await this.#counter.commit(
      countOf(platformId),
      {
        by: 1,
        writes: [
          { kind: "create", row: { rowKey, ...connectionIndexRow.encode({ profileId, network }) } },
        ],
      },
      async () =>
        (await this.#table.find(platformId, rowKey)) === undefined ? undefined : "there",
    );
  }

  /** Removes the rows of a connection. May be repeated. */
  async remove(connection: Connection): Promise<void> {
    await Promise.all([
      this.#removeRef(connection.platformId, ofPlatform(connection)),
      this.removeGrant(connection),
    ]);
  }

  async #removeRef(platformId: string, rowKey: string): Promise<void> {
    await this.#counter.commit(
      countOf(platformId),
      { by: -1, writes: [{ kind: "delete", rowKey }] },
      async () => ((await this.#table.find(platformId, rowKey)) === undefined ? "gone" : undefined),
    );
  }

  /** Removes the row that leads from an authorisation to the profile, which has another authorisation now. */
  async removeGrant(connection: Connection): Promise<void> {
    const { network, profileId } = connection;
    await this.#table.delete(grantPartition(network, grantIdOf(connection)), profileId);
  }

  /**
   * Removes a page of the rows that lead to a profile without connections: a process that linked an account may have
   * ended after the index and before the connection. What such an account was is not known, so that the rows of all
   * authorisations are searched. May be repeated.
   */
  async removeOfProfile(
    { platformId, applicationId, profileId }: OwnerOfRows,
    after: string | undefined,
  ): Promise<RemovedPage> {
    const prefix = `${applicationId}|${profileId}|`;
    const range = { partitionKey: platformId, from: prefix, before: afterPrefix(prefix) };
    const limit = NETWORK_NAMES.length;
    const refs = after === undefined ? await this.#table.list({ ...range, limit }) : [];
    for (const { row } of refs) await this.#removeRef(platformId, row.rowKey);
    const partitions = { from: GRANTS, before: afterPrefix(GRANTS) };
    const selection = { partitions, property: "RowKey", values: [profileId] };
    const { removed, next } = await this.#table.removeSelected(selection, after);
    return { removed: refs.length + removed, next };
  }

  /** Lists the connections of a platform after the given row key; "" for the first page. Leaves out damaged rows. */
  async listRefs(platformId: string, after: string, limit: number): Promise<RefsPage> {
    const prefix = "app_";
    const rows = await this.#table.list({
      partitionKey: platformId,
      from: after === "" ? prefix : `${after} `,
      before: afterPrefix(prefix),
      limit,
    });
    const refs = rows.flatMap(({ row }) => {
      const found = unlessDamaged(() => connectionIndexRow.decode(row));
      const network = networkNamed(found?.network);
      // The row is damaged, or of a network that this build does not have.
      if (found === undefined || network === undefined) return [];
      return [{ profileId: found.profileId, network }];
    });
    return { refs, last: rows.length < limit ? undefined : rows.at(-1)?.row.rowKey };
  }

  /** Counts the linked accounts of the platform. */
  count(platformId: string): Promise<number> {
    return this.#counter.sum(countOf(platformId));
  }

  /** Returns at most `limit` profiles that may have the authorisation, in the order of their ids, after the given one. */
  async holdersAfter(
    network: NetworkName,
    grantId: string,
    after: string,
    limit: number,
  ): Promise<readonly string[]> {
    const partitionKey = grantPartition(network, grantId);
    const from = after === "" ? {} : { from: `${after} ` };
    const rows = await this.#table.list({ partitionKey, ...from, limit });
    return rows.map(({ row }) => row.rowKey);
  }

  /** Returns the profiles that may have the authorisation, or "many". */
  async holders(network: NetworkName, grantId: string): Promise<readonly string[] | "many"> {
    const partitionKey = grantPartition(network, grantId);
    const rows = await this.#table.list({ partitionKey, limit: HOLDERS_MAX + 1 });
    return rows.length > HOLDERS_MAX ? "many" : rows.map(({ row }) => row.rowKey);
  }
}
