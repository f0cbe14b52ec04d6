import * as z from "zod";
import { shape } from "../runtime/shape.ts";
import { integer, longJson, rowCodec } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";

/**
 * Counts of an application. A count changes in the transaction that adds or removes what it counts, so it is exact even
 * after a crash.
 */
export const countsRow = rowCodec("counts of an application", {
  profiles: integer(),
  connections: integer(),
  webhooks: integer(),
  /** Keys in use that don't expire. */
  lastingKeys: integer(),
  /** When the other keys in use and recently expired ones expire, in milliseconds since the epoch. */
  expiringKeys: longJson(shape((): z.ZodType<readonly number[]> => z.array(z.number()))),
});

export type ApplicationCounts = ReturnType<typeof countsRow.decode>;

interface RowLister {
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
/** Counts of an application that never had anything. */
const NOTHING: ApplicationCounts = {
  profiles: 0,
  connections: 0,
  webhooks: 0,
  lastingKeys: 0,
  expiringKeys: [],
};

export const countsKey = (applicationId: string) => PREFIX + applicationId;

export const toCounts = (stored: StoredRow | undefined): ApplicationCounts =>
  stored === undefined ? NOTHING : countsRow.decode(stored.row);

export function countsWrite(
  applicationId: string,
  stored: StoredRow | undefined,
  changed: Partial<ApplicationCounts>,
): RowWrite {
  const columns = countsRow.encode({ ...toCounts(stored), ...changed });
  const row = { ...columns, rowKey: countsKey(applicationId) };
  return stored === undefined ? { kind: "create", row } : { kind: "merge", row, etag: stored.etag };
}

type CountedKind = "profiles" | "connections" | "webhooks";

/** Returns the write that adds to a count of an application. @throws DamagedRow */
export function countWrite(
  applicationId: string,
  stored: StoredRow | undefined,
  counted: CountedKind,
  by: 1 | -1,
): RowWrite {
  return countsWrite(applicationId, stored, { [counted]: toCounts(stored)[counted] + by });
}

/** Adds up counts. Keys are added by the times from which they are counted. */
export const summed = (counts: readonly ApplicationCounts[]): ApplicationCounts => ({
  profiles: counts.reduce((sum, { profiles }) => sum + profiles, 0),
  connections: counts.reduce((sum, { connections }) => sum + connections, 0),
  webhooks: counts.reduce((sum, { webhooks }) => sum + webhooks, 0),
  lastingKeys: counts.reduce((sum, { lastingKeys }) => sum + lastingKeys, 0),
  expiringKeys: counts.flatMap(({ expiringKeys }) => expiringKeys),
});

/** Reads the counts of a platform's applications, by their ids, in one query. A damaged row is left out. */
export async function readCounts(
  core: RowLister,
  platformId: string,
): Promise<ReadonlyMap<string, ApplicationCounts>> {
  const range = { partitionKey: platformId, from: PREFIX, before: AFTER };
  const rows = await core.list({ ...range, limit: APPLICATIONS_MAX });
  return new Map(
    rows.flatMap((stored) => {
      const counts = unlessDamaged(() => toCounts(stored));
      return counts === undefined ? [] : [[stored.row.rowKey.slice(PREFIX.length), counts]];
    }),
  );
}
