import type { NetworkData, NetworkName } from "../networks/network.ts";
import { seal, sha256Hex, unseal, type DataKeys } from "../secrets.ts";
import { fromChunks, toChunks } from "../storage/row.ts";
import type { Table } from "../storage/table.ts";
import { networkData } from "./connection-row.ts";

const ROW_KEY = "H";

const partitionOf = (network: NetworkName, host: string) => `${network}|${sha256Hex(host)}`;
const placeOf = (network: NetworkName, host: string) => `instances|${network}|${host}|data`;

/** Facts that all accounts of one host share, e.g. a client registration; sealed, for they hold client secrets. */
export class HostStore {
  readonly #table: Table;
  readonly #dataKeys: DataKeys;

  constructor(table: Table, dataKeys: DataKeys) {
    this.#table = table;
    this.#dataKeys = dataKeys;
  }

  /** Undefined also when the sealing key is gone: the host is then registered with again. */
  async find(network: NetworkName, host: string): Promise<NetworkData | undefined> {
    const stored = await this.#table.find(partitionOf(network, host), ROW_KEY);
    if (stored === undefined) return undefined;
    const text = unseal(fromChunks("data", stored.row), placeOf(network, host), this.#dataKeys);
    return text === undefined ? undefined : networkData.parse(JSON.parse(text));
  }

  async save(network: NetworkName, host: string, data: NetworkData): Promise<void> {
    const sealed = seal(JSON.stringify(data), placeOf(network, host), this.#dataKeys);
    const row = { rowKey: ROW_KEY, host: sha256Hex(host), ...toChunks("data", sealed) };
    await this.#table.put(partitionOf(network, host), row);
  }

  async forget(network: NetworkName, host: string): Promise<void> {
    await this.#table.delete(partitionOf(network, host), ROW_KEY);
  }
}
