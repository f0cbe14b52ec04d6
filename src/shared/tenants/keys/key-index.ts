import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import {
  absentIs,
  integer,
  longJson,
  longText,
  oneOf,
  rowCodec,
  text,
  textOrNull,
} from "../../runtime/storage/codec.ts";

/** The most keys that a key can descend from. */
export const LINEAGE_MAX = 500;
/** The most keys of an application that are in use. An application of 0.2.0 may have more, and makes no further ones. */
export const LIVE_KEYS_MAX = 1_000;
/** The most keys of an application that will expire or did so lately: their times have to fit into one row. */
export const EXPIRING_KEYS_MAX = 10_000;
/** The clocks of instances differ, so only a key that has expired for all of them is dropped from the list of times. */
const DROPPED_AFTER_MS = 60 * 60 * 1000;

/** An entry of a platform's key index; the row key has the id of the API key. */
export const keyIndexRow = rowCodec("key index entry", {
  applicationId: text(),
  status: oneOf(["active", "revoked"]),
  expiresAt: textOrNull(),
  // Absent: a person made the key, or version 0.2.0, which did not store what a key descends from. A column of its own,
  // so that descendants can be selected by it.
  origin: absentIs("", text()),
  lineage: absentIs("", longText()),
});

/** The keys of an application that are in use; its row changes together with the entries of the index. */
export const liveKeysRow = rowCodec("live keys", {
  lasting: integer(),
  expiring: longJson<readonly number[]>(shape(() => z.array(z.number()))),
});

/** The keys that a key descends from, the first one first; empty for a key that a person made. */
export type Lineage = readonly string[];

/**
 * Returns the columns of a lineage. Every entry has its whole lineage, so deleting a key in between breaks no chain.
 */
export function lineageColumns(lineage: Lineage): {
  readonly origin: string;
  readonly lineage: string;
} {
  return { origin: lineage[0] ?? "", lineage: lineage.join(" ") };
}

/** Parses the lineage that an entry of the index stores. */
export function parseLineage(lineage: string): Lineage {
  return lineage.split(" ").filter(Boolean);
}

/**
 * How many keys of an application are in use. The times at which keys expire are enough to answer that for any moment
 * without reading the keys.
 */
export interface LiveKeys {
  readonly lasting: number;
  /** When the others expire, in milliseconds. */
  readonly expiring: readonly number[];
}

/** What is stored for an application that has had no key yet. */
export const NO_LIVE_KEYS: LiveKeys = { lasting: 0, expiring: [] };

/** Adds a key, and drops those that expired long ago. Undefined when the application has as many keys as it may have. */
export function withKey(
  { lasting, expiring }: LiveKeys,
  expiresAt: string | null,
  now: Date,
): LiveKeys | undefined {
  const kept = expiring.filter((time) => time > now.getTime() - DROPPED_AFTER_MS);
  if (countLive({ lasting, expiring: kept }, now) >= LIVE_KEYS_MAX) return undefined;
  if (expiresAt === null) return { lasting: lasting + 1, expiring: kept };
  if (kept.length >= EXPIRING_KEYS_MAX) return undefined;
  return { lasting, expiring: [...kept, Date.parse(expiresAt)] };
}

/** Removes a key. One that expired may have been dropped before. */
export function withoutKey({ lasting, expiring }: LiveKeys, expiresAt: string | null): LiveKeys {
  if (expiresAt === null) return { lasting: lasting - 1, expiring };
  const index = expiring.indexOf(Date.parse(expiresAt));
  return { lasting, expiring: index === -1 ? expiring : expiring.toSpliced(index, 1) };
}

/** Counts the keys that are in use at a moment. */
export function countLive({ lasting, expiring }: LiveKeys, now: Date): number {
  return lasting + expiring.filter((time) => time > now.getTime()).length;
}
