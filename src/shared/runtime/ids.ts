import { randomBytes } from "node:crypto";
import { decodeTime, encodeTime, monotonicFactory } from "ulid";

const PREFIXES = {
  platform: "plt_",
  user: "usr_",
  invitation: "inv_",
  application: "app_",
  key: "key_",
  profile: "prf_",
  connection: "con_",
  connectSession: "cns_",
  post: "pst_",
  ledgerEntry: "led_",
  endpoint: "whk_",
  event: "evt_",
  delivery: "dlv_",
  auditEvent: "aud_",
  request: "req_",
  file: "med_",
} as const;
export type IdKind = keyof typeof PREFIXES;

/** If the clock goes back by more than this, it was wrong before. */
const SET_BACK_MS = 60_000;
/** Number of random characters among the 26 of a ULID. Each uses a byte of its own. */
const RANDOM_CHARACTERS = 16;
let drawn = randomBytes(0);
let used = 0;

/** Returns a random number below 1. The bytes are drawn together, since single draws would take most of the time. */
function random(): number {
  if (used === drawn.length) {
    drawn = randomBytes(RANDOM_CHARACTERS);
    used = 0;
  }
  const byte = drawn[used] ?? 0;
  used += 1;
  return byte / 256;
}

let nextUlid = monotonicFactory(random);
let latest = 0;
/** Number of time characters among the 26 of a ULID. */
const TIME_CHARACTERS = 10;

/**
 * Makes a prefixed ULID. Ids are unique and sort by the time at which they were made, even within a millisecond. When a
 * clock that was ahead is corrected, new ids have the right time again.
 */
export function newId(kind: IdKind, now: Date): string {
  const time = now.getTime();
  const isSetBack = time < latest - SET_BACK_MS;
  // A factory never goes back behind the latest time that it was given.
  if (isSetBack) nextUlid = monotonicFactory(random);
  latest = isSetBack ? time : Math.max(latest, time);
  return PREFIXES[kind] + nextUlid(time);
}

// 26 characters have 130 bits. With a first character above 7, no decoder accepts the time.
const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";
const WHOLE_ULID = new RegExp(`^${ULID}$`);

/** Reports whether the text has the form of an id of this kind. Storage is not read. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = PREFIXES[kind];
  return text.startsWith(prefix) && WHOLE_ULID.test(text.slice(prefix.length));
}

export function idPattern(kind: IdKind): RegExp {
  return new RegExp(`^${PREFIXES[kind]}${ULID}$`);
}

/** Returns an unused id for examples. The same kind and number always give the same id. */
export function exampleId(kind: IdKind, number = 1): string {
  return `${PREFIXES[kind]}01M7W9E67FZ0MY7YCJ6NF25H${String(number).padStart(2, "0")}`;
}

/** Returns a bound that sorts before every id of this kind made at or after the time, and after all earlier ones. */
export function idBefore(kind: IdKind, time: number): string {
  return PREFIXES[kind] + encodeTime(time, TIME_CHARACTERS);
}

/** Returns the time at which an id was made, in milliseconds since the epoch. */
export function timeOfId(kind: IdKind, id: string): number {
  return decodeTime(id.slice(PREFIXES[kind].length));
}

const INVERTED_MAX = 9_999_999_999_999_999n;

/** Returns sixteen digits that sort in reverse order. Tables sort ascending, so this lists the newest first. */
export function inverted(value: number): string {
  return (INVERTED_MAX - BigInt(value)).toString().padStart(16, "0");
}
