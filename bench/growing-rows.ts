import { TableClient } from "@azure/data-tables";
import type { Entity } from "./bare-storage.ts";
import type { BenchStorage } from "./emulator.ts";

const ROWS_OF_BATCH = 99;
const BATCHES_AT_ONCE = 4;
const IDS_OF_STORAGE: ReadonlySet<string> = new Set(["etag", "timestamp", "partitionKey"]);

/** A table by its whole name, past the product. */
export function openBare(storage: BenchStorage, name: string): TableClient {
  return TableClient.fromConnectionString(storage.tables, name, {
    allowInsecureConnection: true,
    retryOptions: { maxRetries: 0 },
  });
}

/** A partition's rows whose keys begin with the prefix, as they would be written again. */
export async function rowsUnder(
  table: TableClient,
  partitionKey: string,
  prefix = "",
): Promise<Entity[]> {
  const rows: Entity[] = [];
  const queryOptions = { filter: `PartitionKey eq '${partitionKey}'` };
  for await (const found of table.listEntities({ queryOptions })) {
    if (found.rowKey?.startsWith(prefix) !== true) continue;
    const own = Object.entries(found).filter(([name]) => !IDS_OF_STORAGE.has(name));
    // Safe: rows hold nothing but texts, numbers and truth values.
    rows.push(Object.fromEntries(own) as unknown as Entity);
  }
  return rows;
}

/** Many rows that are not there yet, in as few transactions as they take. */
export async function insert(
  table: TableClient,
  partitionKey: string,
  rows: readonly Entity[],
): Promise<void> {
  const batches: Entity[][] = [];
  for (let start = 0; start < rows.length; start += ROWS_OF_BATCH)
    batches.push(rows.slice(start, start + ROWS_OF_BATCH));
  for (let start = 0; start < batches.length; start += BATCHES_AT_ONCE)
    await Promise.all(
      batches
        .slice(start, start + BATCHES_AT_ONCE)
        .map((batch) =>
          table.submitTransaction(batch.map((row) => ["create", { partitionKey, ...row }])),
        ),
    );
}
