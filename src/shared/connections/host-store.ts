import type { NetworkData } from "../networks/contract/draft.ts";
import type { NetworkName } from "../networks/networks.ts";
import type { Clock } from "../runtime/process.ts";
import { reseal, seal, sealingKey, sha256Hex, unseal, type DataKeys } from "../runtime/secrets.ts";
import { fieldsForm, longText, rowCodec, text } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import { replacedChunks, type Columns, type Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";

const ROW_KEY = "H";

const hostPartition = (network: NetworkName, host: string) => `${network}|${sha256Hex(host)}`;
const hostBinding = (network: string, host: string) => `instances|${network}|${host}|data`;

export const hostRow = rowCodec("host", {
  network: text(),
  host: text(),
  savedAt: text(),
  data: longText(),
});

/**
 * Stores data that all accounts of a host share, such as a client registration, sealed because of its secret. They can
 * always be requested again, and visitors of connect pages name any number of hosts, so they are removed after a time.
 */
export class HostStore {
  readonly #table: Table;
  readonly #dataKeys: DataKeys;
  readonly #clock: Clock;

  constructor(table: Table, dataKeys: DataKeys, clock: Clock) {
    this.#table = table;
    this.#dataKeys = dataKeys;
    this.#clock = clock;
  }

  /**
   * Finds the registration at a host. Undefined also when the data key is gone, so that the service registers again.
   * @throws DamagedRow
   */
  async find(network: NetworkName, host: string): Promise<NetworkData | undefined> {
    const stored = await this.#table.find(hostPartition(network, host), ROW_KEY);
    if (stored === undefined) return undefined;
    const { data } = hostRow.decode(stored.row);
    const opened = unseal(data, hostBinding(network, host), this.#dataKeys);
    return opened === undefined ? undefined : fieldsForm().parse(JSON.parse(opened));
  }

  async save(network: NetworkName, host: string, facts: NetworkData): Promise<void> {
    const data = seal(JSON.stringify(facts), hostBinding(network, host), this.#dataKeys);
    const savedAt = this.#clock.now().toISOString();
    const columns = hostRow.encode({ network, host, savedAt, data });
    await this.#table.put(hostPartition(network, host), { rowKey: ROW_KEY, ...columns });
  }

  /** Removes a page of what was saved before a time. */
  async removeBefore(time: Date, after: string | undefined) {
    const olderThan = { property: "savedAt", time: time.toISOString() };
    return await this.#table.removeSelected({ olderThan }, after);
  }

  /**
   * Seals a page of all hosts' data with the first data key. Returns the key of each afterwards, and where the next
   * page begins. Damaged rows are left out. Reads the whole table.
   */
  async resealPage(after: string | undefined): Promise<{
    readonly keys: readonly string[];
    readonly next: string | undefined;
  }> {
    const selection = { property: "RowKey", values: [ROW_KEY] };
    const { rows, next } = await this.#table.select(selection, after);
    const keys: string[] = [];
    for (const { row, partitionKey } of rows) {
      if (unlessDamaged(() => hostRow.decode(row)) === undefined) continue;
      const change = (before: Row) => this.#resealed(before);
      const isOld = change(row) !== undefined;
      const now = isOld ? await this.#table.update(partitionKey, ROW_KEY, change) : row;
      if (now !== undefined) keys.push(sealingKey(hostRow.decode(now).data));
    }
    return { keys, next };
  }

  #resealed(row: Row): Columns | undefined {
    const { network, host, data } = hostRow.decode(row);
    const sealed = reseal(data, hostBinding(network, host), this.#dataKeys);
    return sealed === undefined ? undefined : replacedChunks("data", sealed, row);
  }
}
