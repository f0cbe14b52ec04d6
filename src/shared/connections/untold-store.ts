import type { Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import type { ConnectionPlace } from "./connection-index-store.ts";
import { networkName } from "./connection-row.ts";
import { HAS_UNTOLD, untoldOf, untoldProperties, type Untold } from "./untold.ts";

const PAGE_ROWS = 100;

/**
 * What became of connections and was not told yet. It stands in the connection's own row (table `connections`), written
 * with the change that it tells of, so that neither is there without the other.
 */
export class UntoldStore {
  readonly #connections: Table;

  constructor(connections: Table) {
    this.#connections = connections;
  }

  /** Oldest first. */
  async list({ profileId, network }: ConnectionPlace): Promise<Untold[]> {
    const stored = await this.#connections.find(profileId, network);
    return stored === undefined ? [] : untoldOf(profileId, stored.row);
  }

  /** These were told. */
  async settle(place: ConnectionPlace, ids: readonly string[]): Promise<void> {
    await this.#change(place, (untold) => untold.filter(({ id }) => !ids.includes(id)));
  }

  /** Gives events that nobody was told of other ids; answers all that is untold then. */
  rename(place: ConnectionPlace, names: ReadonlyMap<string, string>): Promise<Untold[]> {
    return this.#change(place, (untold) =>
      untold.map((entry) => ({ ...entry, id: names.get(entry.id) ?? entry.id })),
    );
  }

  /** A page of the places with something untold, in no order; looks through the whole table. */
  async findPlaces(
    after: string | undefined,
  ): Promise<{ readonly places: readonly ConnectionPlace[]; readonly next: string | undefined }> {
    const { rows, next } = await this.#connections.select(
      { ...HAS_UNTOLD, pageRows: PAGE_ROWS },
      after,
    );
    const places = rows.flatMap(({ partitionKey, row }) => {
      const network = networkName().safeParse(row.rowKey).data;
      // Of a network that this build does not know any more.
      return network === undefined ? [] : [{ profileId: partitionKey, network }];
    });
    return { places, next };
  }

  async #change(
    { profileId, network }: ConnectionPlace,
    change: (untold: readonly Untold[]) => readonly Untold[],
  ): Promise<Untold[]> {
    const row: Row | undefined = await this.#connections.update(profileId, network, (before) => {
      const untold = untoldOf(profileId, before);
      const changed = change(untold);
      const isSame =
        changed.length === untold.length &&
        changed.every(({ id }, index) => id === untold[index]?.id);
      return isSame ? undefined : untoldProperties(changed, before);
    });
    return row === undefined ? [] : untoldOf(profileId, row);
  }
}
