import type { NetworkData } from "../networks/contract/network.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { reseal, seal, sealingKey, sha256Hex, unseal, type DataKeys } from "../runtime/secrets.ts";
import { fromChunks, replacedChunks, textOf, toChunks, type Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { networkData, networkName } from "./connection-row.ts";

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
    return text === undefined ? undefined : networkData().parse(JSON.parse(text));
  }

  async save(network: NetworkName, host: string, data: NetworkData): Promise<void> {
    const sealed = seal(JSON.stringify(data), placeOf(network, host), this.#dataKeys);
    const row = { rowKey: ROW_KEY, network, host, ...toChunks("data", sealed) };
    await this.#table.put(partitionOf(network, host), row);
  }

  /**
   * Seals a page of the facts about all hosts with the first data key. Answers the key of each after that, and where the
   * next page begins. Looks through the whole table.
   */
  async resealPage(after: string | undefined): Promise<{
    readonly keys: readonly string[];
    readonly next: string | undefined;
  }> {
    const selection = { property: "RowKey", values: [ROW_KEY] };
    const { rows, next } = await this.#table.select(selection, after);
    const keys: string[] = [];
    for (const { row, partitionKey } of rows) {
      const change = (before: Row) => this.#resealed(before);
      const isOld = change(row) !== undefined;
      const now = isOld ? await this.#table.update(partitionKey, ROW_KEY, change) : row;
      if (now !== undefined) keys.push(sealingKey(fromChunks("data", now)));
    }
    return { keys, next };
  }

  #resealed(row: Row): Record<string, string> | undefined {
    const network = networkName().safeParse(row["network"]).data;
    if (network === undefined) return undefined;
    const place = placeOf(network, textOf(row, "host"));
    const sealed = reseal(fromChunks("data", row), place, this.#dataKeys);
    return sealed === undefined ? undefined : replacedChunks("data", sealed, row);
  }

  async forget(network: NetworkName, host: string): Promise<void> {
    await this.#table.delete(partitionOf(network, host), ROW_KEY);
  }
}
