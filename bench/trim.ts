import { TableClient, type TableEntity } from "@azure/data-tables";
import type { WholeRelay } from "./whole-relay.ts";

/** What nobody looks at any more once a post and its webhooks have ended, by the beginning of its key. */
const ENDED: Readonly<Record<string, RegExp>> = {
  core: /^[PLI]\|/,
  events: /^/,
  deliveries: /^D\|/,
  timeline: /^/,
  accounts: /^T\|/,
};
/** Longer than a post takes with all that follows from it. */
const ENDED_MS = 90_000;
const TRANSACTION_ROWS = 100;

/**
 * Removes what ended posts left in the tables: the emulator looks through all rows of a table for each range that it is
 * asked for, which the service does not, so that only its own slowness would be seen in the end.
 */
export async function trimEnded({ storage, prefix }: WholeRelay): Promise<number> {
  const before = new Date(Date.now() - ENDED_MS).toISOString();
  let removed = 0;
  for (const [name, isEnded] of Object.entries(ENDED)) {
    const table = TableClient.fromConnectionString(storage.tables, prefix + name, {
      allowInsecureConnection: true,
    });
    const byPartition = new Map<string, string[]>();
    const queryOptions = {
      filter: `Timestamp lt datetime'${before}'`,
      select: ["PartitionKey", "RowKey"],
    };
    for await (const { partitionKey = "", rowKey = "" } of table.listEntities<TableEntity>({
      queryOptions,
    })) {
      if (!isEnded.test(rowKey)) continue;
      byPartition.set(partitionKey, [...(byPartition.get(partitionKey) ?? []), rowKey]);
    }
    for (const [partitionKey, rowKeys] of byPartition)
      for (let start = 0; start < rowKeys.length; start += TRANSACTION_ROWS) {
        const batch = rowKeys.slice(start, start + TRANSACTION_ROWS);
        await table.submitTransaction(batch.map((rowKey) => ["delete", { partitionKey, rowKey }]));
        removed += batch.length;
      }
  }
  return removed;
}

/** Trims at intervals until it is stopped; the first failure is told then. */
export function keepTrimmed(relay: WholeRelay, everyMs = 30_000): { stop(): Promise<number> } {
  let trimming = Promise.resolve(0);
  const after = async (earlier: Promise<number>) => (await earlier) + (await trimEnded(relay));
  const timer = setInterval(() => {
    trimming = after(trimming);
    // Told by `stop`.
    trimming.catch(() => undefined);
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return trimming;
    },
  };
}
