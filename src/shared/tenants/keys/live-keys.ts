/** Maximum number of an application's keys in use. */
export const LIVE_KEYS_MAX = 1_000;
/** Maximum number of an application's keys that expire, including recent ones: their times have to fit into one row. */
export const EXPIRING_KEYS_MAX = 10_000;
/** The clocks of instances differ. Only a key that has expired for all of them is dropped from the list of times. */
const DROPPED_AFTER_MS = 60 * 60 * 1000;

/**
 * How many keys of an application are in use. The times at which keys expire are enough to answer this for any moment
 * without reading the keys.
 */
export interface LiveKeys {
  readonly lastingKeys: number;
  /** When the other keys expire, in milliseconds since the epoch. */
  readonly expiringKeys: readonly number[];
}

/** Adds a key and drops those that expired long ago. Undefined when the application has too many keys. */
export function withKey(
  { lastingKeys, expiringKeys }: LiveKeys,
  expiresAt: string | null,
  now: Date,
): LiveKeys | undefined {
  const kept = expiringKeys.filter((time) => time > now.getTime() - DROPPED_AFTER_MS);
  if (countLive({ lastingKeys, expiringKeys: kept }, now) >= LIVE_KEYS_MAX) return undefined;
  if (expiresAt === null) return { lastingKeys: lastingKeys + 1, expiringKeys: kept };
  if (kept.length >= EXPIRING_KEYS_MAX) return undefined;
  return { lastingKeys, expiringKeys: [...kept, Date.parse(expiresAt)] };
}

/** Removes a key. An expired one may have been dropped before. */
export function withoutKey(
  { lastingKeys, expiringKeys }: LiveKeys,
  expiresAt: string | null,
): LiveKeys {
  if (expiresAt === null) return { lastingKeys: lastingKeys - 1, expiringKeys };
  const index = expiringKeys.indexOf(Date.parse(expiresAt));
  const left = index === -1 ? expiringKeys : expiringKeys.toSpliced(index, 1);
  return { lastingKeys, expiringKeys: left };
}

export function countLive({ lastingKeys, expiringKeys }: LiveKeys, now: Date): number {
  return lastingKeys + expiringKeys.filter((time) => time > now.getTime()).length;
}
