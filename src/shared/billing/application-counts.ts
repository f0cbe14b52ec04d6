import { integer, rowCodec } from "../runtime/storage/codec.ts";
import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";

/**
 * How much an application has of what is counted. A count changes in the transaction that adds or removes what it
 * counts, so it is exact after any crash.
 */
export const countsRow = rowCodec("counts of an application", { connections: integer() });

type Counts = ReturnType<typeof countsRow.decode>;

const PREFIX = "N|";
const AFTER = "N}";
const APPLICATIONS_MAX = 100_000;
const NOTHING: Counts = { connections: 0 };

/** Returns the key of the row that a change of an application's counts reads. */
export const countsKey = (applicationId: string) => PREFIX + applicationId;

/** Returns the write that adds these to the counts of an application. @throws DamagedRow */
export function countWrite(
  applicationId: string,
  stored: StoredRow | undefined,
  added: Partial<Counts>,
): RowWrite {
  const counts = stored === undefined ? NOTHING : countsRow.decode(stored.row);
  const connections = counts.connections + (added.connections ?? 0);
  const row = { ...countsRow.encode({ connections }), rowKey: countsKey(applicationId) };
  return stored === undefined ? { kind: "create", row } : { kind: "merge", row, etag: stored.etag };
}

/** The platform's partition, as far as counts are read from it. */
interface Rows {
  list(range: {
    readonly partitionKey: string;
    readonly from: string;
    readonly before: string;
    readonly limit: number;
  }): Promise<readonly StoredRow[]>;
}

/** Adds up the counts of all applications of a platform. One query, however much is counted. @throws DamagedRow */
export async function readCounts(core: Rows, platformId: string): Promise<Counts> {
  const rows = await core.list({
    partitionKey: platformId,
    from: PREFIX,
    before: AFTER,
    limit: APPLICATIONS_MAX,
  });
  const connections = rows.reduce((sum, { row }) => sum + countsRow.decode(row).connections, 0);
  return { connections };
}
