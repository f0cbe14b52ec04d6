import type { NetworkName } from "../networks/networks.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import { rowCodec, text } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { grantIdOf, type Connection, type ConnectionRef, type ProfileRef } from "./connection.ts";

/** If more profiles than this have one authorization, they are not read one by one. */
const HOLDERS_MAX = 50;

/** Leads from an authorization to a profile that may have it. The row key is the profile. */
export const authorizationRow = rowCodec("authorization", { platformId: text() });

/** Fields of a connection that identify its authorization. */
type Holding = ConnectionRef & Pick<Connection, "account" | "grantId">;

const grantPartition = (network: NetworkName, grantId: string) =>
  `${network}|${sha256Hex(grantId)}`;

/**
 * Finds connections of any tenant by their authorization (table `authorizations`). A row is written before its
 * connection and removed after it, so none is missing. After a crash, a row may exist without a connection until the
 * profile is erased.
 */
export class AuthorizationStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async add(connection: Holding): Promise<void> {
    const { network, platformId, profileId } = connection;
    const row = { ...authorizationRow.encode({ platformId }), rowKey: profileId };
    await this.#table.put(grantPartition(network, grantIdOf(connection)), row);
  }

  async remove(connection: Holding): Promise<void> {
    const { network, profileId } = connection;
    await this.#table.delete(grantPartition(network, grantIdOf(connection)), profileId);
  }

  /**
   * Removes a page of the rows that lead to a profile. The profile's accounts are no longer known, so the rows of all
   * authorizations are searched. May be repeated.
   */
  removeOfProfile(profileId: string, after: string | undefined) {
    return this.#table.removeSelected({ property: "RowKey", values: [profileId] }, after);
  }

  /** Lists at most `limit` profiles that may have the authorization, by their ids, after the given one. */
  async holdersAfter(
    network: NetworkName,
    grantId: string,
    after: string,
    limit: number,
  ): Promise<readonly ProfileRef[]> {
    const partitionKey = grantPartition(network, grantId);
    const from = after === "" ? {} : { from: `${after} ` };
    const rows = await this.#table.list({ partitionKey, ...from, limit });
    return rows.map(({ row }) => ({
      // A damaged row still names its profile. Its connection is then not found.
      platformId: unlessDamaged(() => authorizationRow.decode(row))?.platformId ?? "",
      profileId: row.rowKey,
    }));
  }

  /** Lists the profiles that may have the authorization, or returns "many". */
  async holders(network: NetworkName, grantId: string): Promise<readonly ProfileRef[] | "many"> {
    const holders = await this.holdersAfter(network, grantId, "", HOLDERS_MAX + 1);
    return holders.length > HOLDERS_MAX ? "many" : holders;
  }
}
