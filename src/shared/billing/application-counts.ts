import { integer, rowCodec } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";

/**
 * How much an application has of what is counted. A count changes in the transaction that adds or removes what it
 * counts, so it is exact after any crash.
 */
export const countsRow = rowCodec("counts of an application", {
  profiles: integer(),
  connections: integer(),
});

type Counts = ReturnType<typeof countsRow.decode>;

/** The platform's partition, as far as counts are read from it. */
interface Rows {
  find(partitionKey: string, rowKey: string): Promise<StoredRow | undefined>;
  list(range: {
    readonly partitionKey: string;
    readonly from: string;
    readonly before: string;
    readonly limit: number;
  }): Promise<readonly StoredRow[]>;
}

const PREFIX = "N|";
const AFTER = "N}";
const APPLICATIONS_MAX = 100_000;
/** The counts of an application that has had nothing yet. */
const NOTHING: Counts = { profiles: 0, connections: 0 };

/** Returns the key of the row that a change of an application's counts reads. */
export const countsKey = (applicationId: string) => PREFIX + applicationId;

const toCounts = (stored: StoredRow | undefined) =>
  stored === undefined ? NOTHING : countsRow.decode(stored.row);

/** Returns the write that adds to a count of an application. @throws DamagedRow */
export function countWrite(
  applicationId: string,
  stored: StoredRow | undefined,
  counted: keyof Counts,
  by: 1 | -1,
): RowWrite {
  const before = toCounts(stored);
  const counts = { ...before, [counted]: before[counted] + by };
  const row = { ...countsRow.encode(counts), rowKey: countsKey(applicationId) };
  return stored === undefined ? { kind: "create", row } : { kind: "merge", row, etag: stored.etag };
}

/**
 * Reads a count of one application, or adds up those of all: one request, however much is counted. A sum leaves out a
 * damaged row.
 * @throws DamagedRow when the row of the named application is damaged
 */
export async function readCount(
  core: Rows,
  platformId: string,
  applicationId: string | null,
  counted: keyof Counts,
): Promise<number> {
  if (applicationId !== null)
    return toCounts(await core.find(platformId, countsKey(applicationId)))[counted];
  const range = { partitionKey: platformId, from: PREFIX, before: AFTER };
  const rows = await core.list({ ...range, limit: APPLICATIONS_MAX });
  const counts = rows.map((stored) => unlessDamaged(() => toCounts(stored)) ?? NOTHING);
  return counts.reduce((sum, one) => sum + one[counted], 0);
}
