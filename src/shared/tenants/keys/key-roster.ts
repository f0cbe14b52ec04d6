import { fromChunks, numberOf, toChunks, type Row } from "../../runtime/storage/row.ts";

/** Keys of an application that are in use, at most. One of an earlier version may have more, and makes no further ones. */
export const LIVE_KEYS_MAX = 1_000;
/** Keys that are to expire or did so lately, at most; their times have to fit into one row. */
export const EXPIRING_KEYS_MAX = 10_000;
/** Clocks of instances differ: only what has expired long ago for all of them is forgotten. */
const FORGOTTEN_AFTER_MS = 60 * 60 * 1000;

/**
 * How many keys of an application are in use. Which of them expire, and when, is all it takes to answer that for any
 * moment, without a look at the keys.
 */
export interface KeyRoster {
  /** Keys that never expire. */
  readonly lasting: number;
  /** When the others do, in milliseconds. */
  readonly expiring: readonly number[];
}

export function toKeyRoster(row: Row | undefined): KeyRoster {
  if (row === undefined) return { lasting: 0, expiring: [] };
  // Safe: written by `keyRosterRow` from a list of numbers.
  const expiring = JSON.parse(fromChunks("expiring", row) || "[]") as number[];
  return { lasting: numberOf(row, "lasting"), expiring };
}

export function keyRosterRow(rowKey: string, { lasting, expiring }: KeyRoster): Row {
  return { rowKey, lasting, ...toChunks("expiring", JSON.stringify(expiring)) };
}

/** Without what expired long ago. Undefined when there are as many as there may be. */
export function withKey(
  { lasting, expiring }: KeyRoster,
  expiresAt: string | null,
  now: Date,
): KeyRoster | undefined {
  const kept = expiring.filter((time) => time > now.getTime() - FORGOTTEN_AFTER_MS);
  if (activeKeys({ lasting, expiring: kept }, now) >= LIVE_KEYS_MAX) return undefined;
  if (expiresAt === null) return { lasting: lasting + 1, expiring: kept };
  if (kept.length >= EXPIRING_KEYS_MAX) return undefined;
  return { lasting, expiring: [...kept, Date.parse(expiresAt)] };
}

/** A key that expired may have been forgotten before. */
export function withoutKey({ lasting, expiring }: KeyRoster, expiresAt: string | null): KeyRoster {
  if (expiresAt === null) return { lasting: lasting - 1, expiring };
  const index = expiring.indexOf(Date.parse(expiresAt));
  return { lasting, expiring: index === -1 ? expiring : expiring.toSpliced(index, 1) };
}

export function activeKeys({ lasting, expiring }: KeyRoster, now: Date): number {
  return lasting + expiring.filter((time) => time > now.getTime()).length;
}
