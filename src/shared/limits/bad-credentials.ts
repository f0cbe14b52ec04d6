import { sha256Hex } from "../secrets.ts";
import { RecentMap } from "./recent-map.ts";
import { hasRoom, minuteOf, secondsUntilRoom, weightedCount } from "./sliding-window.ts";

const ADDRESSES_MAX = 10_000;
const CREDENTIALS_MAX = 10_000;

interface Window {
  readonly minute: number;
  readonly current: number;
  readonly previous: number;
}

const EMPTY: Window = { minute: 0, current: 0, previous: 0 };

function rolled(window: Window, minute: number): Window {
  if (minute <= window.minute) return window;
  const previous = minute === window.minute + 1 ? window.current : 0;
  return { minute, current: 0, previous };
}

/**
 * Wrong credentials by address, counted in this process: whoever guesses is refused before storage is asked. A
 * credential that was right lately is looked at all the same, so that nobody is locked out by a neighbour behind the
 * same address; whether it still is right is decided anew each time.
 */
export class BadCredentials {
  readonly #limit: number;
  readonly #addresses = new RecentMap<Window>(ADDRESSES_MAX);
  readonly #right = new RecentMap<true>(CREDENTIALS_MAX);

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Seconds until the credential may be tried, or undefined when that is now. */
  secondsUntilTry(address: string, credential: string, now: number): number | undefined {
    const window = this.#addresses.get(address);
    if (window === undefined) return undefined;
    const usage = rolled(window, minuteOf(now));
    if (hasRoom(weightedCount(usage, now), this.#limit)) return undefined;
    if (this.#right.get(sha256Hex(credential)) === true) return undefined;
    return secondsUntilRoom(usage, this.#limit, now);
  }

  noteRight(credential: string): void {
    this.#right.set(sha256Hex(credential), true);
  }

  noteWrong(address: string, credential: string, now: number): void {
    this.#right.delete(sha256Hex(credential));
    const window = rolled(this.#addresses.get(address) ?? EMPTY, minuteOf(now));
    this.#addresses.set(address, { ...window, current: window.current + 1 });
  }
}
