import type { NetworkName } from "../networks/lookup.ts";
import { sha256Hex } from "../secrets.ts";
import { textOf } from "../storage/row.ts";
import { afterPrefix, type Table } from "../storage/table.ts";
import { networkName } from "./connection-row.ts";
import { grantIdOf, type Connection } from "./connection.ts";

const COUNT_MAX = 50_000;
/** More profiles than this with one authorisation are not looked at one by one. */
const HOLDERS_MAX = 50;

const ofPlatform = ({ applicationId, profileId, network }: Connection) =>
  `${applicationId}|${profileId}|${network}`;
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
 * removed after it, so that none is missing; one that is left over names a connection that is not there.
 */
export class ConnectionIndexStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async add(connection: Connection): Promise<void> {
    const { platformId, profileId, network } = connection;
    await Promise.all([
      this.#table.put(platformId, { rowKey: ofPlatform(connection), profileId, network }),
      this.#table.put(grantPartition(network, grantIdOf(connection)), { rowKey: profileId }),
    ]);
  }

  async remove(connection: Connection): Promise<void> {
    await Promise.all([
      this.#table.delete(connection.platformId, ofPlatform(connection)),
      this.removeGrant(connection),
    ]);
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
      const network = networkName.safeParse(row["network"]).data;
      // Of a network that this build does not know any more.
      if (network === undefined) return [];
      return [{ profileId: textOf(row, "profileId"), network }];
    });
    return { places, last: rows.length < limit ? undefined : rows.at(-1)?.row.rowKey };
  }

  /** Linked accounts of the platform or of one application; counts at most 50,000. */
  async count(platformId: string, applicationId: string | null): Promise<number> {
    const prefix = applicationId === null ? "app_" : `${applicationId}|`;
    const rows = await this.#table.list({
      partitionKey: platformId,
      from: prefix,
      before: afterPrefix(prefix),
      limit: COUNT_MAX,
    });
    return rows.length;
  }

  /** Profiles that may hold the authorisation, or "many". */
  async holders(network: NetworkName, grantId: string): Promise<readonly string[] | "many"> {
    const partitionKey = grantPartition(network, grantId);
    const rows = await this.#table.list({ partitionKey, limit: HOLDERS_MAX + 1 });
    return rows.length > HOLDERS_MAX ? "many" : rows.map(({ row }) => textOf(row, "rowKey"));
  }
}
