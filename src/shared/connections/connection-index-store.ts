import type { NetworkName } from "../networks/lookup.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import { textOf } from "../runtime/storage/row.ts";
import { ShardedCounter, type Counted } from "../runtime/storage/sharded-counter.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { networkName } from "./connection-row.ts";
import { grantIdOf, type Connection } from "./connection.ts";

/** More profiles than this with one authorisation are not looked at one by one. */
const HOLDERS_MAX = 50;

const ofPlatform = ({ applicationId, profileId, network }: Connection) =>
  `${applicationId}|${profileId}|${network}`;
const countOf = (platformId: string): Counted => ({ partitionKey: platformId, prefix: "CN|" });
const grantPartition = (network: NetworkName, grantId: string) =>
  `account|${network}|${sha256Hex(grantId)}`;

export interface ConnectionPlace {
  readonly profileId: string;
  readonly network: NetworkName;
}

export interface PlacesPage {
  readonly places: readonly ConnectionPlace[];
  /** What the next page comes after; undefined at the end. */
  readonly last: string | undefined;
}

/**
 * Where connections are found by their platform and by their authorisation. Rows are written before the connection and
 * removed after it, so that none is missing; one that is left over names a connection that is not there. What a platform
 * has of them is counted with the row itself.
 */
export class ConnectionIndexStore {
  readonly #table: Table;
  readonly #counter: ShardedCounter;

  constructor(table: Table) {
    this.#table = table;
    this.#counter = new ShardedCounter(table);
  }

  /** May be repeated. */
  async add(connection: Connection): Promise<void> {
    const { profileId, network } = connection;
    await Promise.all([
      this.#addToPlatform(connection),
      this.#table.put(grantPartition(network, grantIdOf(connection)), { rowKey: profileId }),
    ]);
  }

  async #addToPlatform(connection: Connection): Promise<void> {
    const { platformId, profileId, network } = connection;
    const rowKey = ofPlatform(connection);
    await this.#counter.commit(
      countOf(platformId),
      { by: 1, writes: [{ kind: "create", row: { rowKey, profileId, network } }] },
      async () =>
        (await this.#table.find(platformId, rowKey)) === undefined ? undefined : "there",
    );
  }

  /** May be repeated. */
  async remove(connection: Connection): Promise<void> {
    await Promise.all([this.#removeFromPlatform(connection), this.removeGrant(connection)]);
  }

  async #removeFromPlatform(connection: Connection): Promise<void> {
    const { platformId } = connection;
    const rowKey = ofPlatform(connection);
    await this.#counter.commit(
      countOf(platformId),
      { by: -1, writes: [{ kind: "delete", rowKey }] },
      async () => ((await this.#table.find(platformId, rowKey)) === undefined ? "gone" : undefined),
    );
  }

  /** The profile no longer has this authorisation; another one took its place. */
  async removeGrant(connection: Connection): Promise<void> {
    const { network, profileId } = connection;
    await this.#table.delete(grantPartition(network, grantIdOf(connection)), profileId);
  }

  /** Those of a platform after the given one; "" for the first. */
  async listPlaces(platformId: string, after: string, limit: number): Promise<PlacesPage> {
    const prefix = "app_";
    const rows = await this.#table.list({
      partitionKey: platformId,
      from: after === "" ? prefix : `${after} `,
      before: afterPrefix(prefix),
      limit,
    });
    const places = rows.flatMap(({ row }) => {
      const network = networkName().safeParse(row["network"]).data;
      // Of a network that this build does not know any more.
      if (network === undefined) return [];
      return [{ profileId: textOf(row, "profileId"), network }];
    });
    return { places, last: rows.length < limit ? undefined : rows.at(-1)?.row.rowKey };
  }

  /** Linked accounts of the platform. */
  count(platformId: string): Promise<number> {
    return this.#counter.sum(countOf(platformId));
  }

  /** Profiles that may hold the authorisation, or "many". */
  async holders(network: NetworkName, grantId: string): Promise<readonly string[] | "many"> {
    const partitionKey = grantPartition(network, grantId);
    const rows = await this.#table.list({ partitionKey, limit: HOLDERS_MAX + 1 });
    return rows.length > HOLDERS_MAX ? "many" : rows.map(({ row }) => textOf(row, "rowKey"));
  }
}
