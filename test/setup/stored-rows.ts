import { TableClient, TableServiceClient } from "@azure/data-tables";
import { TABLE_NAMES } from "../../src/shared/runtime/storage/tables.ts";
import type { Relay } from "./relay.ts";

export interface DumpedRow {
  /** Without the relay's prefix. */
  readonly table: string;
  readonly partitionKey: string;
  readonly rowKey: string;
  /** The whole row as JSON, to be searched. */
  readonly text: string;
}

/** Every row of every table of the relay's deployment, no matter which client wrote it. */
export async function storedRows({
  settings,
  storage,
}: Pick<Relay, "settings" | "storage">): Promise<DumpedRow[]> {
  if (storage !== undefined)
    return [...storage.rows(TABLE_NAMES)].map(({ properties, ...place }) => ({
      ...place,
      text: JSON.stringify({
        ...properties,
        partitionKey: place.partitionKey,
        rowKey: place.rowKey,
      }),
    }));
  const connectionString = settings["AzureWebJobsStorage"] ?? "";
  const prefix = settings["STORAGE_PREFIX"] ?? "";
  const options = { allowInsecureConnection: true };
  const service = TableServiceClient.fromConnectionString(connectionString, options);
  const rows: DumpedRow[] = [];
  for await (const { name } of service.listTables()) {
    if (name === undefined || !name.startsWith(prefix)) continue;
    const client = TableClient.fromConnectionString(connectionString, name, options);
    for await (const entity of client.listEntities()) {
      const { partitionKey = "", rowKey = "" } = entity;
      const table = name.slice(prefix.length);
      rows.push({ table, partitionKey, rowKey, text: JSON.stringify(entity) });
    }
  }
  return rows;
}
