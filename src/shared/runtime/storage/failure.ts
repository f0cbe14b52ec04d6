import type { TableEntityResult, TransactionAction } from "@azure/data-tables";
import type { RowPut, RowValue, RowWrite, StoredRow } from "./row.ts";

/** Properties that the service adds, and the partition key, which callers know. */
const NOT_OURS: ReadonlySet<string> = new Set([
  "etag",
  "timestamp",
  "partitionKey",
  "odata.metadata",
]);

/** Returns a row as it was read from the service. */
export function toStored(entity: TableEntityResult<Record<string, unknown>>): StoredRow {
  const row: Record<string, RowValue> & { rowKey: string } = { rowKey: entity.rowKey ?? "" };
  for (const name of Object.keys(entity)) {
    const value = entity[name];
    if (NOT_OURS.has(name)) continue;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      row[name] = value;
  }
  return { row, etag: entity.etag };
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

/** Status and code of a storage call's error, which the SDK puts in different places. */
export interface Failure {
  readonly status: number | undefined;
  readonly code: string | undefined;
  /** The index of the write that a transaction failed for: its message begins with it ("3:The entity …"). */
  readonly failedWrite?: number | undefined;
}

function indexIn(error: object): number | undefined {
  const found = error instanceof Error ? /^(\d{1,3}):/.exec(error.message) : null;
  return found === null ? undefined : Number(found[1]);
}

export function failureOf(error: unknown): Failure {
  if (typeof error !== "object" || error === null) return { status: undefined, code: undefined };
  const { statusCode, code, details } = error as {
    statusCode?: unknown;
    code?: unknown;
    details?: { errorCode?: unknown; odataError?: { code?: unknown } };
  };
  const named = details?.odataError?.code ?? details?.errorCode ?? code;
  return {
    status: typeof statusCode === "number" ? statusCode : undefined,
    code: typeof named === "string" ? named : undefined,
    failedWrite: indexIn(error),
  };
}

/** Returns whether the service refused the call; after any other error it may still take effect. */
export function isDefinite(error: unknown): boolean {
  const { status } = failureOf(error);
  return status !== undefined && status >= 400 && status < 500 && status !== 408;
}

export function isMissingContainer(error: unknown): boolean {
  const { code } = failureOf(error);
  return code === "TableNotFound" || code === "QueueNotFound";
}

const TRIES = 3;

/**
 * Repeats a failed call up to twice, with full jitter: a read, or a write that asks nothing of what is there. Two such
 * writes leave what one does, and one that lands late is no worse than a slow one. A conditional write is never repeated:
 * it would lose the race against itself.
 */
export async function retryHarmless<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (isDefinite(error) || attempt === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 50 * 2 ** attempt));
    }
  }
}
