import { isWellFormed, type Credential } from "../callers/credential.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import { RecentMap } from "./recent-map.ts";
import { hasRoom, minuteOf, secondsUntilRoom, weightedCount } from "./sliding-window.ts";

const ADDRESSES_MAX = 10_000;
const CREDENTIALS_MAX = 10_000;
/** Of an address that has reached the limit, so many times that are looked at nevertheless, each of them once. */
const FIRST_LOOKS_PER_LIMIT = 4;

interface Window {
  readonly minute: number;
  readonly current: number;
  readonly previous: number;
  /** First looks of this minute. */
  readonly looks: number;
}

const EMPTY: Window = { minute: 0, current: 0, previous: 0, looks: 0 };

function rolled(window: Window, minute: number): Window {
  if (minute <= window.minute) return window;
  const previous = minute === window.minute + 1 ? window.current : 0;
  return { minute, current: 0, previous, looks: 0 };
}

/**
 * Counts wrong credentials by address, in this process: whoever guesses is refused before storage is asked. Nobody is
 * locked out by a neighbour behind the same address: a credential that was right lately is looked at all the same, and
 * one of the right form that this process does not know once a minute, up to a number for the address. Whether it is
 * right is decided anew each time.
 */
export class BadCredentials {
  readonly #limit: number;
  readonly #addresses = new RecentMap<Window>(ADDRESSES_MAX);
  readonly #right = new RecentMap<true>(CREDENTIALS_MAX);
  /** The minute of the last first look. */
  readonly #lookedAt = new RecentMap<number>(CREDENTIALS_MAX);

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns the seconds until the credential may be tried; undefined when that is now. */
  secondsUntilTry(address: string, credential: Credential, now: number): number | undefined {
    const window = this.#addresses.get(address);
    if (window === undefined) return undefined;
    const usage = rolled(window, minuteOf(now));
    if (hasRoom(weightedCount(usage, now), this.#limit)) return undefined;
    if (this.#right.get(sha256Hex(credential.text)) === true) return undefined;
    if (this.#mayHaveFirstLook(address, usage, credential)) return undefined;
    return secondsUntilRoom(usage, this.#limit, now);
  }

  #mayHaveFirstLook(address: string, window: Window, credential: Credential): boolean {
    const { minute, looks } = window;
    if (looks >= FIRST_LOOKS_PER_LIMIT * this.#limit || !isWellFormed(credential)) return false;
    const id = sha256Hex(credential.text);
    if (this.#lookedAt.get(id) === minute) return false;
    this.#lookedAt.set(id, minute);
    this.#addresses.set(address, { ...window, looks: looks + 1 });
    return true;
  }

  /** Remembers a credential that was right. */
  noteRight(credential: string): void {
    this.#right.set(sha256Hex(credential), true);
  }

  /** Counts a credential that was wrong. */
  noteWrong(address: string, credential: string, now: number): void {
    const id = sha256Hex(credential);
    const minute = minuteOf(now);
    this.#right.delete(id);
    this.#lookedAt.set(id, minute);
    const window = rolled(this.#addresses.get(address) ?? EMPTY, minute);
    this.#addresses.set(address, { ...window, current: window.current + 1 });
  }
}
