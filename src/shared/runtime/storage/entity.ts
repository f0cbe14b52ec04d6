import type { TableEntityResult, TransactionAction } from "@azure/data-tables";
import type { RowPut, RowValue, RowWrite, StoredRow } from "./row.ts";

/** What the service adds to a row, or what its place says already. */
const NOT_OURS: ReadonlySet<string> = new Set([
  "etag",
  "timestamp",
  "partitionKey",
  "odata.metadata",
]);

/** Returns a row as it was read from the service. */
export function toStored(entity: TableEntityResult<Record<string, unknown>>): StoredRow {
  const properties: Record<string, RowValue> = {};
  for (const [name, value] of Object.entries(entity)) {
    if (NOT_OURS.has(name)) continue;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      properties[name] = value;
  }
  return { row: { rowKey: entity.rowKey ?? "", ...properties }, etag: entity.etag };
}

/** Returns a write as the service takes it within a transaction. */
export function actionOf(partitionKey: string, write: RowWrite | RowPut): TransactionAction {
  switch (write.kind) {
    case "create":
      return ["create", { partitionKey, ...write.row }];
    case "replace":
      return ["update", { partitionKey, ...write.row }, "Replace", { etag: write.etag }];
    case "merge":
      return ["update", { partitionKey, ...write.row }, "Merge", { etag: write.etag }];
    case "put":
      return ["upsert", { partitionKey, ...write.row }, "Replace"];
    case "delete":
      return ["delete", { partitionKey, rowKey: write.rowKey }];
  }
}
