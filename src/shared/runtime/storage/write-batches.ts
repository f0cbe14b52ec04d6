import { serviceUnavailable } from "../errors.ts";
import { retryHarmless } from "./failure.ts";
import { InvalidTransaction, type RowPut, type RowWrite, type TransactionResult } from "./row.ts";

/** The service's limit. */
const TRANSACTION_ROWS_MAX = 100;

type Write = RowWrite | RowPut;

interface Transacting {
  transact(partitionKey: string, writes: readonly Write[]): Promise<TransactionResult>;
}

interface How<Item> {
  readonly write: (item: Item) => Write;
  readonly alone: (item: Item) => Promise<void>;
  readonly applied?: (item: Item) => void;
  /** Whether repeating the transaction changes nothing. */
  readonly isHarmless?: boolean;
}

/** Sends a transaction and repeats it while its outcome is unknown. */
async function transactHarmless(
  table: Transacting,
  partitionKey: string,
  writes: readonly Write[],
): Promise<TransactionResult> {
  try {
    return await retryHarmless(async () => {
      const result = await table.transact(partitionKey, writes);
      if (result.kind === "in_doubt") throw result.cause;
      return result;
    });
  } catch (error) {
    if (error instanceof InvalidTransaction) throw error;
    return { kind: "in_doubt", cause: error };
  }
}

async function writeBatch<Item>(
  table: Transacting,
  partitionKey: string,
  batch: readonly Item[],
  how: How<Item>,
): Promise<TransactionResult["kind"]> {
  if (batch.length === 1) return "refused";
  const writes = batch.map(how.write);
  const { kind } =
    how.isHarmless === true
      ? await transactHarmless(table, partitionKey, writes)
      : await table.transact(partitionKey, writes);
  return kind;
}

/**
 * Writes items in transactions of 100. When a transaction is refused, each of its items is written alone.
 * @throws AppError `service_unavailable` when an outcome is unknown; repeating the call is safe
 */
export async function writeInBatches<Item>(
  table: Transacting,
  partitionKey: string,
  items: readonly Item[],
  how: How<Item>,
): Promise<void> {
  for (let start = 0; start < items.length; start += TRANSACTION_ROWS_MAX) {
    const batch = items.slice(start, start + TRANSACTION_ROWS_MAX);
    const kind = await writeBatch(table, partitionKey, batch, how);
    if (kind === "in_doubt") throw serviceUnavailable();
    if (kind === "refused") await Promise.all(batch.map(how.alone));
    else for (const item of batch) how.applied?.(item);
  }
}
