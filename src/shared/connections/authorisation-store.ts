import type { NetworkName } from "../networks/lookup.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import { rowCodec, text } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { grantIdOf, type Connection, type ConnectionRef, type ProfileRef } from "./connection.ts";

/** When more profiles than this have one authorisation, they are not read one by one. */
const HOLDERS_MAX = 50;

/** Points from an authorisation to a profile that may have it; the row key is the profile. */
export const authorisationRow = rowCodec("authorisation", { platformId: text() });

/** What of a connection says whose authorisation it has. */
type Holding = ConnectionRef & Pick<Connection, "account" | "grantId">;

const partitionOf = (network: NetworkName, grantId: string) => `${network}|${sha256Hex(grantId)}`;

/**
 * Finds connections, of any tenant, by their authorisation (table `authorisations`). A row is written before the
 * connection and removed after it, so that none is missing. A crash may leave one without a connection, until the
 * profile is erased.
 */
export class AuthorisationStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Adds the row of a connection. May be repeated. */
  async add(connection: Holding): Promise<void> {
    const { network, platformId, profileId } = connection;
    const row = { ...authorisationRow.encode({ platformId }), rowKey: profileId };
    await this.#table.put(partitionOf(network, grantIdOf(connection)), row);
  }

  /** Removes the row of a connection. May be repeated. */
  async remove(connection: Holding): Promise<void> {
    const { network, profileId } = connection;
    await this.#table.delete(partitionOf(network, grantIdOf(connection)), profileId);
  }

  /**
   * Removes a page of the rows that lead to a profile. What its accounts were is not known any more, so the rows of all
   * authorisations are searched. May be repeated.
   */
  removeOfProfile(profileId: string, after: string | undefined) {
    return this.#table.removeSelected({ property: "RowKey", values: [profileId] }, after);
  }

  /** Returns at most `limit` profiles that may have the authorisation, by their ids, after the given one. */
  async holdersAfter(
    network: NetworkName,
    grantId: string,
    after: string,
    limit: number,
  ): Promise<readonly ProfileRef[]> {
    const partitionKey = partitionOf(network, grantId);
    const from = after === "" ? {} : { from: `${after} ` };
    const rows = await this.#table.list({ partitionKey, ...from, limit });
    return rows.map(({ row }) => ({
      // A damaged row still names its profile, whose connection is then not found.
      platformId: unlessDamaged(() => authorisationRow.decode(row))?.platformId ?? "",
      profileId: row.rowKey,
    }));
  }

  /** Returns the profiles that may have the authorisation, or "many". */
  async holders(network: NetworkName, grantId: string): Promise<readonly ProfileRef[] | "many"> {
    const holders = await this.holdersAfter(network, grantId, "", HOLDERS_MAX + 1);
    return holders.length > HOLDERS_MAX ? "many" : holders;
  }
}
